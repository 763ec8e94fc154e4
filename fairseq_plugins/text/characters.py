"""Text as a sentencepiece model's own table of characters changes it, and where it comes from.

`tokenizers` looks the table up for whole graphemes of less than 6 bytes, by their shortest entry,
and for single characters otherwise. Text in decomposed form loses marks by that (the Vietnamese
e with two marks has one left), and Hangul and kana are not composed. Sentencepiece, by which the
models were trained, takes the longest entry at each place.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from tokenizers import Tokenizer, models

from ..pretrained.sentencepiece_model import table_reader
from ..pretrained.tokenizer_models import Body, normalizers
from ..syntax.subwords import Span

NEXT_LINE = "\x85"  # a blank to `tokenizers`, and a letter to sentencepiece
LETTER = "\ufdd0"  # that no vocabulary has


class Characters:
    """Steps of a normaliser up to its table of characters.

    Args:
        before: the steps before the table.
        table: what stands for it in ``tokenizer.json``.
    """

    def __init__(self, before: Sequence[Body], table: Body) -> None:
        self._table = table_reader(base64.b64decode(table["precompiled_charsmap"]))
        self._before: Tokenizer | None = None
        if before:  # every character is a token, which knows its place
            plain = Tokenizer(models.BPE(vocab={"?": 0}, merges=[], unk_token="?"))
            body = json.loads(plain.to_str()) | {"normalizer": normalizers(*before)}
            self._before = Tokenizer.from_str(json.dumps(body))

    def changed(self, text: str) -> tuple[str, list[int], list[Span]]:
        """Return the changed text; C + 1 places of its C characters, the last one its end, among
        the characters after the steps before; and of these the spans in ``text``, or none where
        they are those of ``text``.
        """
        spans: list[Span] = []
        if self._before is not None:
            spans = self._before.encode(text).offsets
            text = self._before.normalizer.normalize_str(text)
        found, places = self._table.Normalize(text, with_offsets=True)
        return found.replace(NEXT_LINE, LETTER), places, spans
