"""Columns of labels from outside the text: an annotator's tags, and the user's values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named
from .columns import Column
from .labels import NO_VALUE, ordered_feats, ordered_value
from .layer import PARSED, Known, Row
from .tree import conllu_heads, tops


@dataclass(frozen=True)
class Told(Column):
    """Labels of words that come with the text; ``conllu`` reads them from CoNLL-U.

    Args:
        conllu: returns a value from the ten fields of a word's line.
    """

    conllu: Callable[[Sequence[str]], str] = str

    def of_words(self, words: Sequence[str], known: Known) -> list[Any]:
        return self._told(self.name, words, known)

    def tags(self, rows: Sequence[Row], path: Path) -> list[str]:
        """Return the labels of rows of CoNLL-U."""
        found = []
        for line, fields in rows:
            try:
                found.append(self.label(self.conllu(fields)))
            except InputError as error:
                raise InputError(f"{path}:{line}: {error}") from None
        return found

    def of_conllu(self, rows: Sequence[Row], runs: Sequence[range], path: Path) -> list[Any]:
        places, found = [run.start for run in runs], self.tags(rows, path)
        if self.set_by == PARSED and len(runs) < len(rows):
            places = tops(runs, conllu_heads(rows, path))
        return [found[place] for place in places]


@dataclass(frozen=True)
class Tagged(Told):
    """Tags of an annotator; ``spacy`` reads them from a spaCy token."""

    spacy: Callable[[Any], str] = str

    @property
    def asks(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def _attributes(self) -> tuple[str, ...]:
        """spaCy's names of the attributes that determine the label."""
        name = self.set_by.partition(".")[0]
        return (name, "ENT_TYPE") if name == "ENT_IOB" else (name,)

    def of_doc(self, doc: Any, places: Sequence[int], made: dict[Any, Any]) -> list[Any]:
        columns = [doc.to_array(one)[places].tolist() for one in self._attributes]
        keys = [*zip(*columns)]
        for key, place in zip(keys, places):
            if key not in made:
                made[key] = self.label(self.spacy(doc[place]))
        return [made[key] for key in keys]


@dataclass(frozen=True)
class Given(Told):
    """The user's values, named after the dot."""


def morphology(name: str) -> Tagged:
    """Make the layer of one morphological feature, such as ``Number``."""
    return Tagged(
        f"morph.{name}",
        f"the words' {name}",
        conllu=partial(_feature, name),
        spacy=partial(_spacy_feature, name),
        set_by=f"MORPH.{name}",
    )


def given(name: str) -> Given:
    """Make the layer of the user's values."""
    return Given(
        f"given.{name}",
        f"the values {name} that a text comes with",
        conllu=partial(misc_value, name),
        requires=f"CoNLL-U with {name} in MISC, a column or a file of values",
        lacking=f"came without the values {name}",
    )


def spacy_feats(token: Any) -> str:
    return ordered_feats(str(token.morph))


def feats(fields: Sequence[str]) -> str:
    return ordered_feats(fields[5])


def _spacy_feature(name: str, token: Any) -> str:
    return ",".join(sorted(token.morph.get(name)))


def _feature(name: str, fields: Sequence[str]) -> str:
    pairs = (pair.partition("=") for pair in fields[5].split("|"))
    return next((ordered_value(value) for key, _, value in pairs if key == name), NO_VALUE)


def spacy_entity(token: Any) -> str:
    return f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O"


def misc_value(key: str, fields: Sequence[str]) -> str:
    """Return the value of a key of CoNLL-U's MISC column."""
    pairs = [pair.partition("=") for pair in fields[9].split("|")]
    for found, _, value in pairs:
        if found == key:
            return value
    held = named(found for found, equals, _ in pairs if equals)
    raise InputError(f"{fields[1]!r} has no key {key} in MISC (its keys: {held or 'none'})")
