"""Text after a sentencepiece model's own table of characters, with the origin of each character.

Sentencepiece takes the longest entry at each place. `tokenizers` takes the shortest entry of a
grapheme of less than 6 bytes, and otherwise entries of single characters, so decomposed text loses
marks.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from tokenizers import Tokenizer, models

from ..pretrained.sentencepiece_model import table_reader
from ..pretrained.tokenizer_models import Body, normalizers
from ..syntax.subwords import Span

NEXT_LINE = "\x85"  # a blank in `tokenizers`, a letter in sentencepiece
LETTER = "\ufdd0"  # in no vocabulary


class Characters:
    """Steps of a normaliser of ``tokenizer.json``: the steps before its table, and the table."""

    def __init__(self, before: Sequence[Body], table: Body) -> None:
        self._table = table_reader(base64.b64decode(table["precompiled_charsmap"]))
        self._before: Tokenizer | None = None
        if before:  # every character is a token with its place
            plain = Tokenizer(models.BPE(vocab={"?": 0}, merges=[], unk_token="?"))
            body = json.loads(plain.to_str()) | {"normalizer": normalizers(*before)}
            self._before = Tokenizer.from_str(json.dumps(body))

    def changed(self, text: str) -> tuple[str, list[int], list[Span]]:
        """Return C changed characters, their origins and spans.

        Returns:
            The changed text; C + 1 places in the text after the steps before the table, the last
            one its end; the spans of that text in ``text``, or none without such steps.
        """
        spans: list[Span] = []
        if self._before is not None:
            spans = self._before.encode(text).offsets
            text = self._before.normalizer.normalize_str(text)
        found, places = self._table.Normalize(text, with_offsets=True)
        return found.replace(NEXT_LINE, LETTER), places, spans
