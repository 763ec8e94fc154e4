"""The table of layers: every kind of annotation as a value, and the meaning of layers' names.

Preparation, manifests, datasets, tasks, models and the encoders of raw text read the table
`LAYERS`. A new layer is a new value in the table; its class defines everything else (`layer`).
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from ..errors import InputError
from .casing import CASINGS
from .columns import Casing, Column, OfTree, Placed, Spelt
from .labels import (
    ARCS,
    CASES,
    SUBWORD_POSITIONS,
    UPOS,
    Inventory,
    arc_labels,
    relation_label,
    upos_label,
)
from .layer import PARSED, Layer
from .subwords import case_of
from .tables import Table
from .tags import Given, Tagged, feats, given, misc_value, morphology, spacy_entity, spacy_feats
from .trees import Tree

# layers for drawing and writing a parse: parts of speech, the tree, and its relations
PARSE = POS, HEADS, RELATIONS = "pos", "heads", "dep"
ENTITIES = "ent"
NAME = re.compile(r"\w+(\[\w+\])?")  # after the dot of a layer's name


def _tagged(name: str, about: str, column: int, set_by: str, spacy: str, **how: Any) -> Tagged:
    """Make the layer of a column of CoNLL-U, from 0, and of an attribute of spaCy's tokens."""
    read = {"conllu": itemgetter(column), "spacy": attrgetter(spacy)}
    return Tagged(name, about, set_by=set_by, **read, **how)


LAYERS: dict[str, Layer] = {
    layer.name: layer
    for layer in (
        _tagged(
            *(POS, "part-of-speech features", 3, "POS", "pos_"),
            values=Inventory(POS, tuple(UPOS)),
            label=upos_label,
        ),
        Spelt("case", "the case of words", Inventory("case", CASES), case_of, standard=True),
        Placed(
            "subword",
            "the places of subwords in their words",
            Inventory("subword", SUBWORD_POSITIONS),
            standard=True,
        ),
        Tree(HEADS, "parse trees"),
        Table(
            "similarity",
            "the similarity of words",
            requires="WordNet",
            lacking="was not compared",
        ),
        _tagged(
            *(RELATIONS, "dependency relations", 7, PARSED, "dep_"),
            label=relation_label,
            components=("parser",),
        ),
        _tagged("tag", "tags of the treebank's own (XPOS)", 4, "TAG", "tag_"),
        _tagged(
            *("lemma", "lemmas", 2, "LEMMA", "lemma_"),
            components=("lemmatizer", "trainable_lemmatizer"),
        ),
        Tagged("morph", "morphological features", conllu=feats, spacy=spacy_feats, set_by="MORPH"),
        Tagged(
            ENTITIES,
            "named entities",
            conllu=partial(misc_value, "NER"),
            spacy=spacy_entity,
            set_by="ENT_IOB",
            components=("ner", "entity_ruler"),
        ),
        OfTree(
            "arc",
            "side and distance of heads",
            Inventory("arc", ARCS),
            arc_labels,
            HEADS,
            requires="an annotator that parses",
            lacking="was not parsed",
        ),
        Casing("truecase", "the case of target subwords", Inventory("truecase", CASINGS)),
    )
}
# families of layers: the name before the dot -> maker from the rest of the name
MADE: Mapping[str, Callable[[str], Layer]] = {"morph": morphology, "given": given}
OF_TARGETS = tuple(name for name, layer in LAYERS.items() if isinstance(layer, Casing))
# for messages: layers of any text
CHOICES = tuple(name for name in LAYERS if name not in OF_TARGETS)
CHOICES += tuple(f"{name}.NAME" for name in MADE)
STANDARD = tuple(name for name, layer in LAYERS.items() if layer.standard)
TREES = tuple(name for name, layer in LAYERS.items() if isinstance(layer, Tree))
OF_PAIRS = tuple(name for name, layer in LAYERS.items() if isinstance(layer, Table))
STANDARD_TAGS = (POS,)  # every annotator and CoNLL-U file must give these


def layer_of(name: str) -> Layer:
    """Return the layer of a name; an unknown name is an error."""
    made, _, rest = name.partition(".")
    if name in LAYERS:
        return LAYERS[name]
    if made in MADE and NAME.fullmatch(rest):
        return MADE[made](rest)
    raise InputError(f"unknown layer {name!r}; choices: {', '.join(CHOICES)}")


def layers_of(names: Iterable[str]) -> list[Layer]:
    """Return the layers of these names; an unknown name is an error."""
    return [layer_of(name) for name in names]


def columns_of(layers: Iterable[Layer]) -> dict[str, Column]:
    """Return the layers that models read as features, by their names."""
    return {layer.name: layer for layer in layers if isinstance(layer, Column)}


def in_order(names: Iterable[str]) -> list[str]:
    """Return names once each, in the order of `LAYERS`, families' layers last."""
    places = {name: place for place, name in enumerate(LAYERS)}
    return sorted({*names}, key=lambda name: (places.get(name, len(places)), name))


def are_known(names: Iterable[str]) -> bool:
    """Whether all names are layers that a folder of texts can have."""
    try:
        found = layers_of(names)
        return not any(layer.standard or layer.name in OF_TARGETS for layer in found)
    except InputError:
        return False


def held_layers(features: Iterable[str], parsed: bool) -> list[str]:
    """Return the layers of a folder of parallel text, in the order of their columns.

    Args:
        features: names of the columns, in order.
        parsed: whether the folder holds trees, whose columns come last.
    """
    return [*features, *(TREES if parsed else ())]


def column_places(layers: Iterable[Layer]) -> dict[str, tuple[int, ...]]:
    """Return the columns of each layer in ``src_factors``, for a folder of parallel text."""
    places, done = {}, 0
    for layer in layers:
        places[layer.name] = tuple(range(done, done + layer.width))
        done += layer.width
    return places


def annotated_names(names: Iterable[str]) -> list[str]:
    """Return the layers to ask of an annotator: the tags that all give, and others by name."""
    asked = (name for layer in layers_of(names) for name in layer.asks)
    return [*dict.fromkeys((*STANDARD_TAGS, *asked))]


def asked_with(layer: Layer) -> list[str]:
    """Return the layers to request from a preparation for a layer; every annotator's come first."""
    return [*dict.fromkeys((*(STANDARD_TAGS if layer.annotated else ()), layer.name))]


def given_names(names: Iterable[str]) -> list[str]:
    """Return the layers with values from the user."""
    return [layer.name for layer in layers_of(names) if isinstance(layer, Given)]


def split_names(text: str) -> list[str]:
    """Split ``"pos, dep"`` into names; a repeated name is an error."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len({*names}) != len(names):
        raise InputError(f"a layer is named twice in {text!r}")
    return names


def parse_targets(text: str) -> tuple[str, ...]:
    """Split names of layers for target subwords; see `parse_features`."""
    closed = [name for name, layer in columns_of(LAYERS.values()).items() if not layer.learnt]
    return _chosen(text, "layer of targets", closed)


def parse_features(text: str) -> tuple[str, ...]:
    """Split ``"pos,case"`` into names of layers that are columns, in the given order.

    Empty text gives none.
    """
    columns = [name for name in CHOICES if name not in LAYERS or is_column(name)]
    return _chosen(text, "feature", columns)


def _chosen(text: str, what: str, choices: Collection[str]) -> tuple[str, ...]:
    names = split_names(text)
    for layer in layers_of(names):
        name = layer.name
        if (name if name in LAYERS else f"{name.partition('.')[0]}.NAME") not in choices:
            raise InputError(f"{name!r} is no {what}; choices: {', '.join(choices)}")
    return tuple(names)


def refuse_targets(names: Iterable[str]) -> None:
    """Refuse layers for target text only."""
    for name in names:
        if name in OF_TARGETS:
            raise InputError(f"{name!r} is a layer of target text; choices: {', '.join(CHOICES)}")


def is_column(name: str) -> bool:
    """Whether models read a layer as a feature."""
    return isinstance(layer_of(name), Column)


def digests(layers: Iterable[Layer]) -> str:
    """Return the digests of learnt inventories, for a checkpoint: ``lemma=0123abcd``."""
    return ",".join(f"{one.name}={one.inventory.digest}" for one in layers if one.learnt)
