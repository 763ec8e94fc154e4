"""The folder of a treebank, as downloaded: its splits, licence, and sentences as spaCy's documents.

A multiword token that its words do not spell (``zum``) is one word, as in `corpora.conllu`: spaCy
cannot split a word into words of another spelling.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...corpora.conllu import Line, checked_rows, read_blocks, surface_words
from ...errors import InputError
from ...syntax.layers import HEADS, LAYERS, RELATIONS
from ...syntax.subwords import locate_words
from ...text_reading import numbered_lines, read_lines

TEXT = "# text = "
ROOT = "ROOT"  # spaCy's name of the relation of a root
_RELATION: Any = LAYERS[RELATIONS]
# argument of spaCy's documents -> its layer; relations keep their subtypes here
COLUMNS: dict[str, Any] = {
    "pos": LAYERS["pos"],
    "tags": LAYERS["tag"],
    "morphs": LAYERS["morph"],
    "lemmas": LAYERS["lemma"],
    "deps": replace(_RELATION, label=str),
}


def read_docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the sentences of a CoNLL-U file, each a document with all annotations."""
    for block in read_blocks(numbered_lines(path)):
        rows, tokens = checked_rows(block, path)
        if not rows:
            continue
        words, runs = surface_words(rows, tokens)
        said = {name: layer.of_conllu(rows, runs, path) for name, layer in COLUMNS.items()}
        for name in ("tags", "morphs", "lemmas"):
            said[name] = [
                "" if value == "_" != word else value for value, word in zip(said[name], words)
            ]
        heads = LAYERS[HEADS].of_conllu(rows, runs, path)
        said["deps"] = [dep if head else ROOT for dep, head in zip(said["deps"], heads)]
        yield Doc(
            vocab,
            words=words,
            spaces=_spaces(block, words, path),
            heads=[head - 1 if head else place for place, head in enumerate(heads)],
            **{name: values if any(values) else None for name, values in said.items()},
        )


def _spaces(block: list[Line], words: list[str], path: Path) -> list[bool]:
    """Return whether white space follows each word of a sentence."""
    text = [line.removeprefix(TEXT) for _, line in block if line.startswith(TEXT)][-1:]
    spans = locate_words("".join(text), words)
    if spans is None:
        place = f"{path}:{block[-1][0]}"
        raise InputError(f"{place}: the tokens do not spell the text {''.join(text)!r}")
    return [end < start for (_, end), (start, _) in zip(spans, spans[1:])] + [True]


def split_file(directory: Path, split: str) -> Path:
    """Return the file of a split of a treebank folder.

    Args:
        directory: holds ``<split>.conllu`` or ``<anything>-ud-<split>.conllu``.
    """
    plain = directory / f"{split}.conllu"
    found = [plain] if plain.is_file() else sorted(directory.glob(f"*-ud-{split}.conllu"))
    if len(found) != 1:
        raise FileNotFoundError(
            f"{directory}: expected {split}.conllu or one *-ud-{split}.conllu, found {len(found)}"
        )
    return found[0]


def language_of(directory: Path) -> str:
    """Return the language code in a treebank folder's file names; empty if unclear."""
    names = {path.name.partition("_")[0] for path in directory.glob("*_*-ud-*.conllu")}
    return names.pop() if len(names) == 1 else ""


def licence_of(directory: Path) -> str:
    """Return the licence in a treebank's README; empty without one."""
    for path in sorted(directory.glob("README*")):
        for line in read_lines(path):
            if line.startswith("License:"):
                return line.removeprefix("License:").strip()
    return ""
