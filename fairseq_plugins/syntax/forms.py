"""Forms of sentences: the symbols around the subwords of a side, such as a language token.

A form is text: ``$`` stands for the subwords, and the last symbol ends the sentence, as in ``$
</s>`` (fairseq's own form), ``__en__ $ </s>`` (M2M-100) or ``$ </s> en_XX`` (mBART).
"""

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..messages import quoted

TEXT, END = "$", "</s>"


@dataclass(frozen=True)
class Form:
    """The symbols before the subwords and after these; the last symbol ends a sentence."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = (END,)

    @classmethod
    def read(cls, text: str, name: str = "form") -> "Form":
        """Read a form; empty text is fairseq's own; ``name`` is that of its option."""
        parts = text.split()
        if not parts:
            return cls()
        if parts.count(TEXT) != 1 or parts[-1] == TEXT or parts.count(END) != 1:
            raise InputError(
                f"{name} {quoted(text)}: expected symbols with one {TEXT} for the text, and one "
                f"{END} behind it, e.g. '__en__ {TEXT} {END}'"
            )
        place = parts.index(TEXT)
        if END in parts[:place]:
            raise InputError(f"{name} {quoted(text)}: {END} stands before the text")
        return cls(tuple(parts[:place]), tuple(parts[place + 1 :]))

    @property
    def is_plain(self) -> bool:
        """Whether the form is fairseq's own."""
        return self == PLAIN

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of symbols before and after the subwords."""
        return len(self.before), len(self.after)

    def ids(self, dictionary: Any) -> tuple[list[int], list[int]]:
        """Return the ids of the symbols before and after; refuse symbols a dictionary lacks."""
        for symbol in (*self.before, *self.after):
            if dictionary.index(symbol) == dictionary.unk():
                raise InputError(f"the dictionary lacks {quoted(symbol)}, a symbol of the form")
        before, after = (list(map(dictionary.index, part)) for part in (self.before, self.after))
        return before, after


PLAIN = Form()  # fairseq's own
