"""The three preparations as values, each with small raw files, so that one test can try all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raw_corpora import invented_pairs, make_options, write_pairs
from raw_datasets import write_raw
from raw_text import text_options, write_pretrained
from squad_files import toy_squad, write_toy_bert
from stops import Stopped

from fairseq_plugins.prep.recipes import (
    question_chunks,
    questions,
    translation,
    translation_chunks,
)
from fairseq_plugins.prep.recipes import text as text_recipe
from fairseq_plugins.prep.recipes.question_options import QuestionOptions


@dataclass(frozen=True)
class Kind:
    """One of the three preparations.

    Args:
        module: where it is.
        write: writes the raw files into a folder.
        options: makes its options, given that folder, a destination and further ones.
        other: an option that makes it another preparation, and how the refusal names it.
        work: what its workers call for every chunk: module and name.
        last: the last of its raw files, and a change in it.
    """

    module: Any
    write: Callable[[Path], object]
    options: Callable[..., Any]
    other: tuple[dict[str, Any], str]
    work: tuple[Any, str]
    last: tuple[str, str, str]

    def prepare(self, raw: Path, destdir: Path, **values):
        return self.module.prepare(self.options(raw, destdir, **values))

    def shards(self, raw: Path, destdir: Path, of: int, **values) -> None:
        for number in range(1, of + 1):
            self.prepare(raw, destdir, shard=f"{number}/{of}", **values)


def write_corpus(folder: Path) -> None:
    """Nine chunks of training text (with a line to be dropped) and two of test text; codes."""
    pairs = invented_pairs(60)
    pairs[5] = ("", "leer")
    write_pairs(folder / "train", pairs)
    write_pairs(folder / "test", invented_pairs(9, seed=1))
    (folder / "codes").write_text("#version: 0.2\nt h\nth e</w>\n")


def corpus_options(raw: Path, destdir: Path, **values):
    return make_options(destdir, trainpref=raw / "train", testpref=raw / "test", **values)


def cut_options(raw: Path, destdir: Path, **values):
    """The same with ready codes, so that shards cut as well."""
    return corpus_options(raw, destdir, bpe_codes=raw / "codes", **values)


def write_examples(folder: Path) -> None:
    write_pretrained(folder / "bert")
    write_raw("rte", folder / "rte", count=13)


def example_options(raw: Path, destdir: Path, **values):
    return text_options(raw, destdir.absolute(), dataset="rte", raw_dir=raw / "rte", **values)


def write_questions(folder: Path) -> None:
    write_toy_bert(folder / "bert")
    toy_squad(folder, paragraphs=7, dev=3)


def question_options(raw: Path, destdir: Path, **values) -> QuestionOptions:
    fixed = {"pretrained": str(raw / "bert"), "workers": 1, "raw_dir": str(raw)}
    return QuestionOptions(str(destdir), **{**fixed, **values})


KINDS = {
    "translation": Kind(
        translation,
        write_corpus,
        corpus_options,
        ({"max_words": 9}, "options.max_words"),
        (translation_chunks, "annotate_lines"),
        ("test.de", "LIGHTHOUSE", "HOUSELIGHT"),
    ),
    "translation cut at once": Kind(
        translation,
        write_corpus,
        cut_options,
        ({"features": "case"}, "options.features"),
        (translation_chunks, "annotate_lines"),
        ("test.de", "LIGHTHOUSE", "HOUSELIGHT"),
    ),
    "text": Kind(
        text_recipe,
        write_examples,
        example_options,
        ({"annotations": "pos"}, "options.annotations"),
        (text_recipe.TextEncoder, "encode"),
        ("rte/RTE/test.tsv", "The", "Her"),
    ),
    "questions": Kind(
        questions,
        write_questions,
        question_options,
        ({"doc_stride": 50}, "options.doc_stride"),
        (question_chunks, "encode_paragraphs"),
        ("dev-v2.0.json", "built", "found"),
    ),
}


def count_work(kind: Kind, monkeypatch, most: int | None = None) -> list[int]:
    """Count the chunks that are made; stop before there are more than ``most``."""
    made, (place, name) = [], kind.work
    original = getattr(place, name)

    def counting(*args, **kwargs):
        if most is not None and len(made) == most:
            raise Stopped
        made.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(place, name, counting)
    return made
