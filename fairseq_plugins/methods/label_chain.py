"""CRF: the labels of a sentence's words are scored together.

Lample et al. 2016, "Neural Architectures for Named Entity Recognition", section 2.2; see
`nn.label_chain`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..errors import InputError
from ..messages import named
from ..nn.label_chain import LabelChain as Chain
from ..option_flags import choice, option
from ..syntax.entity_labels import allowed_steps
from ..syntax.needs import Needs
from ..targets.target import Target
from .method import Method, flag_and_value
from .options import NONE

FREE, SCHEME = "free", "scheme"


@dataclass(frozen=True)
class LabelChain(Method):
    """Steps between the labels of neighbouring words."""

    switch = "crf"
    parts = {"steps between labels (--crf)": "chain."}

    crf: choice([NONE, FREE, SCHEME]) = option(
        "score the labels of a sentence's words together by a conditional random field, and "
        "predict any labels (free), or only those that their scheme allows: I-PER only behind "
        "B-PER or I-PER (scheme)",
        NONE,
        choices=(NONE, FREE, SCHEME),
    )

    @property
    def needs(self) -> Needs:
        """Gold labels that the scheme allows."""
        return Needs(scheme=self.crf == SCHEME)

    def check_target(self, target: Target) -> None:
        """Refuse targets other than labels of words."""
        if self.is_there and not target.chains:
            raise InputError(
                f"{flag_and_value(self, 'crf')}: it is for labels of words, but the task is one of "
                f"{target.said}"
            )

    def chain(self, labels: Sequence[str]) -> Chain | None:
        """Return the steps between labels."""
        if not self.is_there:
            return None
        allowed = allowed_steps(labels)
        if self.crf == SCHEME and not any(a and b[-1] for a, b in zip(allowed[-1], allowed[:-1])):
            raise InputError(
                f"{flag_and_value(self, 'crf')}: of {named(labels)} none can be the label of a "
                "sentence of one word: take --crf free"
            )
        steps = torch.tensor(allowed)
        return Chain(steps if self.crf == SCHEME else torch.ones_like(steps))
