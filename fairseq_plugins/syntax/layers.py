"""Every kind of annotation as a value: what a text's words, subwords and pairs of words carry.

A layer says what it belongs to, which values it has and where these come from; how it is stored and
how it enters a batch follow from that. Preparation, manifests, datasets, tasks, models and the
encoders of raw text read the table `LAYERS`. To add a layer, add a value to it.

Source of the features: Sundararaman et al. 2019, "Syntax-infused Transformer": part of speech of
the word, case of its first character, and the position B/M/E/O of a subword within its word.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from ..errors import InputError
from ..messages import named
from .casing import CASINGS, MIXED, casing_of, lowered, restored
from .labels import (
    ARCS,
    CASES,
    NO_VALUE,
    SPECIAL_ID,
    SUBWORD_POSITIONS,
    UPOS,
    Inventory,
    arc_labels,
    plain_label,
    relation_label,
    upos_label,
)
from .subwords import case_of, positions
from .tree import COLUMNS, NO_WORD, project_heads

WORD, SUBWORD, WORD_PAIR = "word", "subword", "pair of words"  # what a layer belongs to
COLUMN, TREE, TABLE = "column", "tree", "table"  # how it enters a batch
# where its values come from: an annotator's tags, or its parse, or what follows from that; each
# word as it is written; the words of the subwords; comparing each word of a text with those of
# another; or the user, together with the text
TAGS, PARSE, ARC, SPELLING, ALIGNMENT, COMPARISON, GIVEN = (
    "tags",
    "parse",
    "arc",
    "spelling",
    "alignment",
    "comparison",
    "given",
)
LEMMATIZERS = ("lemmatizer", "trainable_lemmatizer")  # components of spaCy pipelines
LEARNT = "learnt"  # values that are those of a folder's training text
NAME = re.compile(r"\w+(\[\w+\])?")  # behind the dot of a layer's name


@dataclass(frozen=True)
class Tag:
    """Where an annotator's tag of a word stands.

    Args:
        spacy: reads it from a spaCy token.
        set_by: what spaCy calls such annotation, so that it is seen whether a pipeline gives it.
        conllu: reads it from the ten fields of a word's line in CoNLL-U; InputError if it has none.
        components: of a pipeline, which run for such layers alone.
    """

    spacy: Callable[[Any], str]
    set_by: str
    conllu: Callable[[Sequence[str]], str]
    components: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """spaCy's names of what makes the text: tokens that agree in them have the same."""
        name = self.set_by.partition(".")[0]
        return (name, "ENT_TYPE") if name == "ENT_IOB" else (name,)


@dataclass(frozen=True)
class Layer:
    """One kind of knowledge about a text.

    Args:
        name: in options, manifests and file names.
        unit: what has a value: `WORD`, `SUBWORD` or `WORD_PAIR`.
        values: an inventory of labels; `LEARNT`, one that every folder has its own of; a range of
            numbers; or, of a tree (None), the number of each word's head, from 1, and 0 at a root.
        source: where the values come from: `TAGS`, `PARSE`, `ARC`, `SPELLING`, `ALIGNMENT`,
            `COMPARISON`, `GIVEN`.
        about: what a model with the layer reads, for messages.
        label: what makes labels: of a tag (InputError for what is none); of the heads of W words, W
            of them; of a word as it is written; of the word indices of S subwords, S of them.
        tag: where an annotator's tags stand.
        standard: whether every prepared folder of texts holds it, without being asked.
        requires: what annotating needs, for messages; empty for nothing.
        lacking: what is said of a text without the layer.
        reduce: takes out of a target text what the layer says of it, place by place; None where
            nothing is taken out.
        restore: gives a subword of such a text back, by its label.
        lost: the label of subwords that are not given back.
    """

    name: str
    unit: str
    values: Inventory | str | range | None
    source: str
    about: str
    label: Callable[[Any], Any] = str
    tag: Tag | None = None
    standard: bool = False
    requires: str = ""
    lacking: str = "was not annotated"
    reduce: Callable[[str], str] | None = None
    restore: Callable[[str, str], str] | None = None
    lost: str = ""

    @property
    def enters(self) -> str:
        """How the layer enters a batch: `COLUMN` of ``src_factors``, `TREE` or `TABLE`."""
        if self.values is None:
            return TREE
        return TABLE if isinstance(self.values, range) else COLUMN

    @property
    def learnt(self) -> bool:
        """Whether its values are those of a folder's training text."""
        return self.is_open or (isinstance(self.values, Inventory) and self.values.learnt)

    @property
    def is_open(self) -> bool:
        """Whether it has not been said yet which values it has; see `bound`."""
        return self.values == LEARNT

    def bound(self, inventory: Inventory) -> "Layer":
        """Return the layer with a folder's own values."""
        return replace(self, values=inventory)

    @property
    def annotated(self) -> bool:
        """Whether an annotator (a spaCy pipeline, or CoNLL-U) gives the values."""
        return self.source in (TAGS, PARSE, ARC)

    @property
    def given_as(self) -> str:
        """What the user calls the values: the name behind the dot."""
        return self.name.partition(".")[2]

    @property
    def derived(self) -> bool:
        """Whether the values follow from the words of the subwords alone.

        Folders of texts, which store those words, do not store such a layer.
        """
        return self.source == ALIGNMENT

    @property
    def asked_with(self) -> list[str]:
        """What a preparation is asked for, to have it: the standard tags first, if annotated."""
        first = STANDARD_TAGS if self.annotated else ()
        return [*dict.fromkeys((*first, self.name))]

    @property
    def inventory(self) -> Inventory:
        """The inventory of a layer that enters as a column.

        Raises:
            InputError: the layer has none, or none yet.
        """
        if not isinstance(self.values, Inventory):
            raise InputError(f"{self.name!r} has no inventory of labels")
        return self.values

    @property
    def end(self) -> int:
        """What its columns hold at ``</s>`` and other special tokens."""
        return NO_WORD if self.enters == TREE else SPECIAL_ID

    @property
    def columns(self) -> tuple[str, ...]:
        """Suffixes of its streams in a folder of parallel text, which has one value a subword."""
        return COLUMNS if self.enters == TREE else (self.name,)

    def sides(self, sentences: int) -> range:
        """Which texts of an example have a stream of it in a folder of texts.

        Args:
            sentences: how many texts an example has.
        """
        return range(1, 2) if self.unit == WORD_PAIR else range(sentences)

    def id_count(self, words: int) -> int:
        """Return the size of the id space of its stream in a folder of texts.

        Args:
            words: most words of a text.
        """
        return words + 1 if self.values is None else len(self.values)

    def ids(self, values: Sequence[Any]) -> list[Any]:
        """Return the ids of labels; values of trees and of open layers stay as they are."""
        kept = self.enters != COLUMN or self.is_open
        return [*values] if kept else self.inventory.ids(values)

    def carried(self, values: Sequence[Any], tokens: Sequence[int]) -> list[Any]:
        """Give words the values of the annotator's tokens that they belong to.

        Args:
            values: of the tokens.
            tokens: for each of W words the index of its token, in order; -1 for a word of which
                nothing is known, which becomes unknown, or a root.
        """
        if tokens == range(len(values)):
            return [*values]
        if self.source in (TAGS, GIVEN):
            return [values[i] if i >= 0 else self.label("") for i in tokens]
        known = [word for word, token in enumerate(tokens) if token >= 0]
        heads = [0] * len(tokens)
        kept = project_heads(values, [tokens[word] for word in known])
        for word, head in zip(known, kept):
            heads[word] = known[head - 1] + 1 if head else 0
        return heads


@dataclass(frozen=True)
class Annotation:
    """One line's words as the annotator sees them.

    Args:
        words: W words.
        layers: name of a layer -> W values: labels, or numbers of heads.
        spans: W character spans in the line, when the annotator read the line itself.
    """

    words: list[str]
    layers: dict[str, list[Any]]
    spans: list[tuple[int, int]] | None = None


def annotator_line(annotator: Any) -> str:
    """Return the `identity_line` of an annotator; empty for None."""
    return "" if annotator is None else identity_line(annotator.identity())


def identity_line(identity: Mapping[str, str]) -> str:
    """Return ``name version hash``, and ``as-tokenised`` for text shown so, of an identity."""
    known = ("name", "version", "hash", "text")
    return " ".join(identity[key] for key in known if key in identity)


def _column(number: int, set_by: str, name: str, *components: str) -> Tag:
    """Return the tag of a column of CoNLL-U, from 0, and of the attribute ``name`` of spaCy."""
    return Tag(attrgetter(name), set_by, itemgetter(number), components)


def ordered_feats(feats: str) -> str:
    """Return morphological features in the order of UD, which is not spaCy's."""
    pairs = (pair.partition("=") for pair in feats.split("|"))
    named_values = ((name, equals, _ordered(values)) for name, equals, values in pairs)
    return "|".join(map("".join, sorted(named_values, key=lambda pair: pair[0].casefold())))


def _ordered(values: str) -> str:
    return ",".join(sorted(values.split(",")))


def _spacy_feats(token: Any) -> str:
    return ordered_feats(str(token.morph))


def _feats(fields: Sequence[str]) -> str:
    return ordered_feats(fields[5])


def _spacy_feature(name: str, token: Any) -> str:
    return ",".join(sorted(token.morph.get(name)))


def _feature(name: str, fields: Sequence[str]) -> str:
    pairs = (pair.partition("=") for pair in fields[5].split("|"))
    return next((_ordered(value) for key, _, value in pairs if key == name), NO_VALUE)


def _spacy_entity(token: Any) -> str:
    return f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O"


def misc_value(key: str, fields: Sequence[str]) -> str:
    """Return the value of a key of CoNLL-U's MISC column; InputError names the keys there are."""
    pairs = [pair.partition("=") for pair in fields[9].split("|")]
    for found, _, value in pairs:
        if found == key:
            return value
    held = named(found for found, equals, _ in pairs if equals)
    raise InputError(f"{fields[1]!r} has no key {key} in MISC (its keys: {held or 'none'})")


def _learnt(name: str, about: str, tag: Tag, label: Callable[[Any], Any] = plain_label) -> Layer:
    """Make a layer of an annotator's tags whose values are learnt."""
    return Layer(name, WORD, LEARNT, TAGS, about, label, tag)


def _morphology(name: str) -> Layer:
    """Make the layer of one morphological feature, such as ``Number``."""
    where = partial(_spacy_feature, name), f"MORPH.{name}", partial(_feature, name)
    return _learnt(f"morph.{name}", f"the words' {name}", Tag(*where))


def _given(name: str) -> Layer:
    """Make the layer of values that the user has."""
    return Layer(
        f"given.{name}",
        WORD,
        LEARNT,
        GIVEN,
        f"the values {name} that a text comes with",
        plain_label,
        requires=f"CoNLL-U with {name} in MISC, a column or a file of values",
        lacking=f"came without the values {name}",
    )


LAYERS: dict[str, Layer] = {
    layer.name: layer
    for layer in (
        Layer(
            "pos",
            WORD,
            Inventory("pos", tuple(UPOS)),
            TAGS,
            "part-of-speech features",
            upos_label,
            _column(3, "POS", "pos_"),
        ),
        Layer(
            "case",
            WORD,
            Inventory("case", CASES),
            SPELLING,
            "the case of words",
            case_of,
            standard=True,
        ),
        Layer(
            "subword",
            SUBWORD,
            Inventory("subword", SUBWORD_POSITIONS),
            ALIGNMENT,
            "the places of subwords in their words",
            positions,
        ),
        Layer(
            "heads",
            WORD,
            None,
            PARSE,
            "parse trees",
            requires="an annotator that parses",
            lacking="was not parsed",
        ),
        Layer(
            "similarity",
            WORD_PAIR,
            range(256),
            COMPARISON,
            "the similarity of words",
            requires="WordNet",
            lacking="was not compared",
        ),
        _learnt("dep", "dependency relations", _column(7, "DEP", "dep_", "parser"), relation_label),
        _learnt("tag", "tags of the treebank's own (XPOS)", _column(4, "TAG", "tag_")),
        _learnt("lemma", "lemmas", _column(2, "LEMMA", "lemma_", *LEMMATIZERS)),
        _learnt("morph", "morphological features", Tag(_spacy_feats, "MORPH", _feats)),
        _learnt(
            "ent",
            "named entities",
            Tag(_spacy_entity, "ENT_IOB", partial(misc_value, "NER"), ("ner", "entity_ruler")),
        ),
        Layer(
            "arc",
            WORD,
            Inventory("arc", ARCS),
            ARC,
            "side and distance of heads",
            arc_labels,
            requires="an annotator that parses",
            lacking="was not parsed",
        ),
        Layer(
            "truecase",
            SUBWORD,
            Inventory("truecase", CASINGS),
            SPELLING,
            "the case of target subwords",
            casing_of,
            reduce=lowered,
            restore=restored,
            lost=MIXED,
        ),
    )
}
# layers of which there are many: what stands before the dot of a name -> what makes it of the rest
MADE: Mapping[str, Callable[[str], Layer]] = {
    "morph": _morphology,
    "given": _given,
}
# for messages: layers of any text, and those of target text alone
CHOICES = tuple(name for name, layer in LAYERS.items() if not layer.reduce)
CHOICES += tuple(f"{name}.NAME" for name in MADE)
OF_TARGETS = tuple(name for name, layer in LAYERS.items() if layer.reduce)
STANDARD = tuple(name for name, layer in LAYERS.items() if layer.standard)
OF_PAIRS = tuple(name for name, layer in LAYERS.items() if layer.unit == WORD_PAIR)
STANDARD_TAGS = ("pos",)  # what every annotator and CoNLL-U file must give
TREES = tuple(name for name, layer in LAYERS.items() if layer.enters == TREE)


def layer_of(name: str) -> Layer:
    """Return the layer of a name; InputError names the choices."""
    made, _, rest = name.partition(".")
    if name in LAYERS:
        return LAYERS[name]
    if made in MADE and NAME.fullmatch(rest):
        return MADE[made](rest)
    raise InputError(f"unknown layer {name!r}; choices: {', '.join(CHOICES)}")


def layers_of(names: Iterable[str]) -> list[Layer]:
    """Return the layers of these names; InputError names an unknown one and the choices."""
    return [layer_of(name) for name in names]


def in_order(names: Iterable[str]) -> list[str]:
    """Return names once each, in the order of `LAYERS`, with those that are made by name last."""
    places = {name: place for place, name in enumerate(LAYERS)}
    return sorted({*names}, key=lambda name: (places.get(name, len(places)), name))


def are_known(names: Iterable[str]) -> bool:
    """Whether there are layers of all these names, which a folder of texts may be asked for."""
    try:
        found = layers_of(names)
        return not any(layer.standard or layer.derived or layer.reduce for layer in found)
    except InputError:
        return False


def held_layers(features: Iterable[str], parsed: bool) -> list[str]:
    """Return the layers of a folder of parallel text, in the order of their columns.

    Args:
        features: names of those that are columns, in their order.
        parsed: whether it holds trees; their columns come last.
    """
    return [*features, *(TREES if parsed else ())]


def column_places(layers: Iterable[Layer]) -> dict[str, tuple[int, ...]]:
    """Return which columns of ``src_factors`` the layers of a folder of parallel text have.

    Args:
        layers: in the order of their columns.
    """
    places, done = {}, 0
    for layer in layers:
        places[layer.name] = tuple(range(done, done + len(layer.columns)))
        done += len(layer.columns)
    return places


def annotated_names(names: Iterable[str]) -> list[str]:
    """Return what an annotator is asked for: the tags that it always gives, and for these names."""
    found = layers_of(dict.fromkeys((*STANDARD_TAGS, *names)))
    asked = [layer.name for layer in found if layer.source in (TAGS, PARSE)]
    trees = TREES if any(layer.source == ARC for layer in found) else ()
    return [*dict.fromkeys((*asked, *trees))]


def given_names(names: Iterable[str]) -> list[str]:
    """Return those of these layers whose values the user gives."""
    return [layer.name for layer in layers_of(names) if layer.source == GIVEN]


def split_names(text: str) -> list[str]:
    """Split ``"pos, dep"`` into names; InputError for one that is there twice."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len({*names}) != len(names):
        raise InputError(f"a layer is named twice in {text!r}")
    return names


def parse_targets(text: str) -> tuple[str, ...]:
    """Split names of layers that target subwords can have; see `parse_features`."""
    names = split_names(text)
    for layer in layers_of(names):
        if layer.enters != COLUMN or layer.learnt:
            kept = [one.name for one in LAYERS.values() if one.enters == COLUMN and not one.learnt]
            raise InputError(f"{layer.name!r} is no layer of targets; choices: {', '.join(kept)}")
    return tuple(names)


def refuse_targets(names: Iterable[str]) -> None:
    """Refuse layers that target text alone has; InputError names the first."""
    for name in names:
        if name in OF_TARGETS:
            raise InputError(f"{name!r} is a layer of target text; choices: {', '.join(CHOICES)}")


def parse_features(text: str) -> tuple[str, ...]:
    """Split ``"pos,case"`` into names of layers that are columns, in the order given.

    Empty text gives none.

    Raises:
        InputError: an unknown or repeated name, or a layer of target text.
    """
    names = split_names(text)
    refuse_targets(names)
    for layer in layers_of(names):
        if layer.enters != COLUMN:
            columns = [name for name in CHOICES if name not in LAYERS or is_column(name)]
            raise InputError(f"{layer.name!r} is no feature; choices: {', '.join(columns)}")
    return tuple(names)


def is_column(name: str) -> bool:
    """Whether a layer enters a batch as a column; InputError names the choices."""
    return layer_of(name).enters == COLUMN


def digests(layers: Iterable[Layer]) -> str:
    """Name learnt inventories and what identifies them, for a checkpoint: ``lemma=0123abcd``."""
    return ",".join(f"{one.name}={one.inventory.digest}" for one in layers if one.learnt)
