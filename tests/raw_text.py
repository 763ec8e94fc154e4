"""Small invented data for preparations of examples, a rule in the parser's place, and readers."""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from raw_corpora import RuleAnnotator

from fairseq_plugins.corpora.readers.options import ReadOptions
from fairseq_plugins.prep.recipes.text_options import TextOptions
from fairseq_plugins.pretrained.vocabulary import Vocabulary
from fairseq_plugins.syntax.annotation import Annotation
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.text.pieces import PieceTokenizer

SETTINGS = {"lowercase": True, "strip_accents": True, "chinese_characters": True}
CASED = {"lowercase": False, "strip_accents": False, "chinese_characters": True}
SPECIALS = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "the a dog small The Dog can not cannot sep SEP pad cls rose \u6771 \u4eac \u00e9".split()


class RuleParser(RuleAnnotator):
    """Tags by `raw_corpora.tag`; every word hangs on the next, the last is the root."""

    def annotate_words(self, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
        return [self._parsed(note) for note in super().annotate_words(sentences)]

    def annotate_text(self, lines: Sequence[str]) -> list[Annotation]:
        return [self._parsed(note) for note in super().annotate_text(lines)]

    def _parsed(self, note: Annotation) -> Annotation:
        count = len(note.words)
        heads = [i + 2 if i + 1 < count else 0 for i in range(count)]
        return replace(note, layers=note.layers | {"heads": heads})


def vocabulary() -> Vocabulary:
    """Return a vocabulary that spells any ASCII word."""
    characters = [*string.ascii_letters, *string.digits, *string.punctuation]
    pieces = [*SPECIALS, *WORDS, *characters, *(f"##{c}" for c in characters), "##ose"]
    return Vocabulary("".join(f"{piece}\n" for piece in dict.fromkeys(pieces)).encode())


def word_pieces(settings: dict[str, Any] | None = None) -> PieceTokenizer:
    """Return the wordpieces of `vocabulary`."""
    return PieceTokenizer(vocabulary(), SETTINGS if settings is None else settings)


def write_pretrained(folder: Path, settings: dict[str, Any] | None = None) -> Path:
    """Write what a preparation needs of a pretrained directory: vocabulary and settings."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = SETTINGS if settings is None else settings
    (folder / "vocab.txt").write_bytes(vocabulary().content)
    body = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": settings["lowercase"],
        "strip_accents": settings["strip_accents"],
        "tokenize_chinese_chars": settings["chinese_characters"],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(body))
    return folder


def write_table(path: Path, *rows: Sequence[object]) -> Path:
    """Write a TSV; the first row is the header."""
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


def text_options(folder: Path, destdir: str, **values: Any) -> TextOptions:
    """Options of a preparation of files in ``folder``, in one process.

    Args:
        folder: raw folder; ``bert`` within it is the pretrained directory.
        destdir: name of the folder to write, within ``folder``.
        values: options, those of reading as well; paths may be given as they are.
    """
    reading = {k: values.pop(k) for k in list(values) if k in ReadOptions.__dataclass_fields__}
    values = {k: str(v) if isinstance(v, Path) else v for k, v in values.items()}
    fixed = {"pretrained": str(folder / "bert"), "workers": 1, "raw_dir": str(folder)}
    return TextOptions(
        **{**fixed, "destdir": str(folder / destdir), **values}, read=ReadOptions(**reading)
    )


def rows_of(folder: Path, split: str, stream: str) -> list[list[int]]:
    data = Rows.read(folder / f"{split}.{stream}")
    return [data[i].tolist() for i in range(len(data))]


def examples_of(folder: Path, split: str) -> list[dict[str, Any]]:
    lines = (folder / f"{split}.examples.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]
