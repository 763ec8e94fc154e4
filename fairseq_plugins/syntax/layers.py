"""Every kind of annotation as a value: what a text's words, subwords and pairs of words carry.

A layer says what it belongs to, which values it has and where these come from; how it is stored and
how it enters a batch follow from that. Preparation, manifests, datasets, tasks, models and the
encoders of raw text read the table `LAYERS`. To add a layer, add a value to it.

Source of the features: Sundararaman et al. 2019, "Syntax-infused Transformer": part of speech of
the word, case of its first character, and the position B/M/E/O of a subword within its word.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .labels import CASES, SPECIAL_ID, SUBWORD_POSITIONS, UPOS, Inventory, upos_label
from .subwords import case_of, positions
from .tree import COLUMNS, NO_WORD, project_heads

WORD, SUBWORD, WORD_PAIR = "word", "subword", "pair of words"  # what a layer belongs to
COLUMN, TREE, TABLE = "column", "tree", "table"  # how it enters a batch
# where its values come from: an annotator's tags, or its parse; each word as it is written; the
# words of the subwords; comparing each word of a text with each of another
TAGS, PARSE, SPELLING, ALIGNMENT, COMPARISON = (
    "tags",
    "parse",
    "spelling",
    "alignment",
    "comparison",
)


@dataclass(frozen=True)
class Layer:
    """One kind of knowledge about a text.

    Args:
        name: in options, manifests and file names.
        unit: what has a value: `WORD`, `SUBWORD` or `WORD_PAIR`.
        values: a closed inventory of labels; a range of numbers; or, of a tree (None), the number
            of each word's head, from 1, and 0 at a root.
        source: where the values come from: `TAGS`, `PARSE`, `SPELLING`, `ALIGNMENT`, `COMPARISON`.
        about: what a model with the layer reads, for messages.
        label: what makes labels: of a tag (ValueError for what is none); of a word as it is
            written; of the word indices of S subwords, S of them.
        tag: attribute of a spaCy token, and column of CoNLL-U, from 0, that hold the tags.
        standard: whether every prepared folder of texts holds it, without being asked.
        requires: what annotating needs, for messages; empty for nothing.
        lacking: what is said of a text without the layer.
    """

    name: str
    unit: str
    values: Inventory | range | None
    source: str
    about: str
    label: Callable[[Any], Any] = str
    tag: tuple[str, int] = ("", 0)
    standard: bool = False
    requires: str = ""
    lacking: str = "was not annotated"

    @property
    def enters(self) -> str:
        """How the layer enters a batch: `COLUMN` of ``src_factors``, `TREE` or `TABLE`."""
        if self.values is None:
            return TREE
        return COLUMN if isinstance(self.values, Inventory) else TABLE

    @property
    def annotated(self) -> bool:
        """Whether an annotator (a spaCy pipeline, or CoNLL-U) gives the values."""
        return self.source in (TAGS, PARSE)

    @property
    def derived(self) -> bool:
        """Whether the values follow from the words of the subwords alone.

        Folders of texts, which store those words, do not store such a layer.
        """
        return self.source == ALIGNMENT

    @property
    def asked_with(self) -> list[str]:
        """What a preparation is asked for, to have it: the standard tags first, for a parse."""
        first = STANDARD_TAGS if self.source == PARSE else ()
        return [*first, self.name]

    @property
    def inventory(self) -> Inventory:
        """The closed inventory of a layer that enters as a column.

        Raises:
            ValueError: the layer has none.
        """
        if not isinstance(self.values, Inventory):
            raise ValueError(f"{self.name!r} has no inventory of labels")
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

    def carried(self, values: Sequence[Any], tokens: Sequence[int]) -> list[Any]:
        """Give words the values of the annotator's tokens that they belong to.

        Args:
            values: of the tokens.
            tokens: for each of W words the index of its token, in order; -1 for a word of which
                nothing is known, which becomes unknown, or a root.
        """
        if self.source == TAGS:
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
    """``name version hash`` of an annotator; empty for None."""
    if annotator is None:
        return ""
    identity = annotator.identity()
    return " ".join(identity[key] for key in ("name", "version", "hash"))


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
            ("pos_", 3),
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
            requires="a spaCy pipeline that parses",
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
    )
}
FEATURES = {name: layer for name, layer in LAYERS.items() if layer.enters == COLUMN}
STANDARD = tuple(name for name, layer in LAYERS.items() if layer.standard)
OF_PAIRS = tuple(name for name, layer in LAYERS.items() if layer.unit == WORD_PAIR)
ON_REQUEST = tuple(  # what --annotations of a folder of texts may name
    name for name, layer in LAYERS.items() if not (layer.standard or layer.derived)
)
OF_TEXTS = tuple(name for name in ON_REQUEST if name not in OF_PAIRS)  # those of single texts
STANDARD_TAGS = ("pos",)  # what every annotator and CoNLL-U file must give


def layers_of(names: Iterable[str]) -> list[Layer]:
    """Return the layers of these names; ValueError names an unknown one and the choices."""
    names = list(names)
    for name in names:
        if name not in LAYERS:
            raise ValueError(f"unknown layer {name!r}; choices: {', '.join(LAYERS)}")
    return [LAYERS[name] for name in names]


def held_layers(features: Iterable[str], parsed: bool) -> list[str]:
    """Return the layers of a folder of parallel text, in the order of their columns.

    Args:
        features: names of those that are columns, in their order.
        parsed: whether it holds trees; their columns come last.
    """
    trees = [name for name, layer in LAYERS.items() if layer.enters == TREE]
    return [*features, *(trees if parsed else ())]


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
    """Return the layers that an annotator gives: those that it always must, and of these names."""
    found = layers_of(dict.fromkeys((*STANDARD_TAGS, *names)))
    return [layer.name for layer in found if layer.annotated]


def parse_features(text: str) -> tuple[str, ...]:
    """Split ``"pos,case"`` into names of layers that are columns, in the order given.

    Empty text gives none.

    Raises:
        ValueError: an unknown or repeated name.
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in FEATURES:
            raise ValueError(f"unknown feature {name!r}; choices: {', '.join(FEATURES)}")
    if len(set(names)) != len(names):
        raise ValueError(f"a feature is named twice in {text!r}")
    return names
