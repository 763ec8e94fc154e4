"""``esim`` and variants: models that match the two sentences of a pair, from scratch.

Every architecture is a value of one model. They read words (``prepare text --words-from``) or any
other vocabulary of a prepared folder. `nn` has the mathematics; see `architectures`.
"""

import logging
from typing import Any

import torch
from fairseq.models import register_model, register_model_architecture
from torch import nn

from ..architectures.matching_model import PairModel
from ..architectures.text_kinds import MATCHING
from ..methods.plan import Plan
from ..nn.factors import clear_padding
from ..pretrained.vocabulary import Vocabulary
from ..pretrained.word_vectors import read_word_vectors
from ._matching_config import MatchingConfig
from ._texts import TextModelOfKind

logger = logging.getLogger(__name__)


@register_model(MATCHING.family, dataclass=MatchingConfig)
class MatchingModel(PairModel, TextModelOfKind):
    """A `PairModel` for fairseq; see `TextModelOfKind`."""

    kind = MATCHING
    opened, before, resolve = kind.opened, kind.before, staticmethod(kind.resolve)

    @classmethod
    def of_plan(cls, plan: Plan, task: Any) -> "MatchingModel":
        """Build the model, with given word vectors."""
        vocabulary = task.source_dictionary.vocabulary
        model = cls(plan, vocabulary, task.layers)
        if plan.args.word_vectors:
            model.load_vectors(plan.args.word_vectors, vocabulary)
        model.word_table.weight.requires_grad = not plan.args.freeze_words
        model.log_parameters()
        return model

    def begin_at(self, score: float) -> None:
        """Make predictions start around a score.

        From zero a model first learns the mean, with vectors whose tanh saturates at 1 for every
        pair.
        """
        nn.init.constant_(self.head.out.bias, score)

    def load_vectors(self, path: str, vocabulary: Vocabulary) -> None:
        """Replace word embeddings by given vectors; see `read_word_vectors`.

        A missing word gets the vector of its lower case, or a random one with the same spread.
        """
        table, special = self.word_table, {*vars(vocabulary.family.specials).values()}
        pieces = {word: i for i, word in enumerate(vocabulary.pieces) if word not in special}
        wanted = {*pieces, *map(str.lower, pieces)}
        found = read_word_vectors(path, wanted, table.embedding_dim)
        places = {word: row for row, word in enumerate(found.words)}
        known = {i: places.get(word, places.get(word.lower())) for word, i in pieces.items()}
        known = {i: row for i, row in known.items() if row is not None}
        with torch.no_grad():
            nn.init.normal_(table.weight, std=float(found.vectors.std(correction=0)))
            clear_padding(table)
            table.weight[[*known]] = found.vectors[[*known.values()]].to(table.weight)
        logger.info("%s has %d of the %d words", path, len(known), len(pieces))


for _arch in MATCHING.architectures:
    if _arch != MATCHING.family:  # registered with the model
        register_model_architecture(MATCHING.family, _arch)(MATCHING.resolve)
