"""A dictionary that joins subwords by the data folder's own model, not by patterns.

fairseq's own ``--remove-bpe`` removes marks by a pattern, which leaves sentencepiece's bytes.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any

from fairseq.data import Dictionary
from torch import Tensor

from ..syntax.forms import PLAIN, Form

TOKENS = 1 << 30  # more than any id of a subword; fairseq prints ids of 32 bits


class Joined(str):
    """Text with joined subwords."""


class TextDictionary(Dictionary):
    """A fairseq dictionary of subwords, with a function that joins space-separated subwords.

    Text never shows the symbols of the ``form`` of sentences, such as tokens of languages. Ids from
    `TOKENS` on are tokens of finished sentences, each in the place of a subword.
    """

    def __init__(
        self, dictionary: Dictionary, join: Callable[[str], str], form: Form = PLAIN
    ) -> None:
        vars(self).update(vars(dictionary))
        around = chain.from_iterable(form.ids(dictionary))
        self.join, self.silent = join, {*around} - {self.eos()}
        self._tokens: list[tuple[int, str]] = []  # each with its subword
        self._ids: dict[tuple[int, str], int] = {}

    def id_of(self, subword: int, token: str) -> int:
        """Return the id of a token in the place of a subword."""
        if (subword, token) not in self._ids:
            self._ids[subword, token] = TOKENS + len(self._tokens)
            self._tokens.append((subword, token))
        return self._ids[subword, token]

    def plain(self, ids: Tensor) -> Tensor:
        """Return ids of subwords, for models."""
        if not self._tokens:
            return ids
        subwords = ids.new_tensor([subword for subword, _ in self._tokens])
        of_tokens = subwords[(ids - TOKENS).clamp_min(0)]
        return ids.where(ids < TOKENS, of_tokens)

    def __getitem__(self, idx: Any) -> str:
        """Return the subword or token of an id."""
        if int(idx) < TOKENS:
            return super().__getitem__(idx)
        return self._tokens[int(idx) - TOKENS][1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out `join`, which processes that make batches do not need."""
        return {key: value for key, value in vars(self).items() if key != "join"}

    def string(self, tensor: Any, bpe_symbol: str | None = None, *args: Any, **kwargs: Any) -> str:
        """Return the text of ids (T,) or (B, T), joined if ``bpe_symbol`` is any but ``none``."""
        if len(args) < 2:
            kwargs["extra_symbols_to_ignore"] = self.silent.union(
                kwargs.get("extra_symbols_to_ignore") or ()
            )
        text = super().string(tensor, None, *args, **kwargs)
        if bpe_symbol in (None, "none"):
            return text
        return Joined("\n".join(map(self.join, text.split("\n"))))
