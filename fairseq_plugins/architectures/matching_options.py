"""Options of the models that match pairs from scratch, and the architectures as values of them.

An architecture is a matcher with the sizes of its paper, e.g. ``esim``, or small ones
(``esim_tiny``). Presets are `Optional` with default None, as in `bert_options`.
"""

from dataclasses import dataclass
from typing import Any, Optional

from ..nn.infusion import INITS, MERGES
from ..nn.pair_transformer import ENCODINGS, JOINT
from ..option_flags import choice, option
from ..syntax.needs import Needs
from .control_options import FeatureControls, controls_of
from .options import NONE, architecture, preset, read_features, write, written

FAMILY = "esim"  # the registered model whose values all others are
MATCHERS = ESIM, BIMPM, CAFE, TRANSFORMER = ("esim", "bimpm", "cafe", "transformer")

KINDS: dict[str, dict[str, Any]] = {
    "esim": {
        "matcher": ESIM,
        "embedding_size": 300,
        "hidden_size": 300,
        "dropout": 0.5,
    },
    "bimpm": {
        "matcher": BIMPM,
        "embedding_size": 300,
        "character_hidden_size": 50,
        "hidden_size": 100,
        "dropout": 0.1,
    },
    "cafe": {
        "matcher": CAFE,
        "embedding_size": 300,
        "character_hidden_size": 50,
        "hidden_size": 300,
        "dropout": 0.2,
    },
    "pair_transformer": {
        "matcher": TRANSFORMER,
        "embedding_size": 300,
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
        "dropout": 0.1,
    },
}
SMALL: dict[str, dict[str, Any]] = {
    "esim": {"embedding_size": 32, "hidden_size": 32, "dropout": 0.1},
    "bimpm": {
        "embedding_size": 32,
        "character_hidden_size": 8,
        "hidden_size": 16,
    },
    "cafe": {
        "embedding_size": 32,
        "character_hidden_size": 8,
        "hidden_size": 32,
        "dropout": 0.1,
    },
    "pair_transformer": {
        "embedding_size": 32,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    },
}
COMMON: dict[str, Any] = {"features": NONE, "character_hidden_size": 0}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    kind + size: {**COMMON, **values, **(SMALL[kind] if size else {})}
    for kind, values in KINDS.items()
    for size in ("", "_tiny")
}
BEFORE: dict[str, Any] = {}  # see `bert_options.BEFORE`
OPENED = ("word_vectors",)  # options that name files


@dataclass
class MatchingOptions(FeatureControls):
    """Options of models that match the two sentences of a pair."""

    matcher: Optional[choice(MATCHERS)] = preset("kind of model that matches the two sentences")
    embedding_size: Optional[int] = preset("width of the word embeddings", least=1)
    hidden_size: Optional[int] = preset(
        "width of each direction of the LSTMs, or of the transformer", least=1
    )
    character_embedding_size: int = option("width of the character embeddings", 20, least=1)
    character_hidden_size: Optional[int] = preset(
        "width of the vector that an LSTM makes of each word's characters; 0 for none (the "
        "transformer must have none)",
        least=0,
    )
    perspectives: int = option(
        "BiMPM: number of perspectives of each of its matchings", 20, least=1
    )
    factors: int = option("CAFE: number of factors of its factorisation machines", 10, least=1)
    num_hidden_layers: Optional[int] = preset("number of layers of the transformer", least=1)
    num_attention_heads: Optional[int] = preset(
        "number of attention heads in each layer of the transformer", least=1
    )
    intermediate_size: Optional[int] = preset(
        "width of the transformer's feed-forward layers", least=1
    )
    max_position_embeddings: int = option(
        "most tokens of an input; the transformer has as many position embeddings", 512, least=1
    )
    pair_encoding: choice(ENCODINGS) = option(
        "how the transformer reads a pair: as one sequence (joint), or each sentence by itself "
        "(siamese)",
        JOINT,
    )
    dropout: Optional[float] = preset(
        "dropout on embeddings and before every layer (transformer: on embeddings, block "
        "outputs and attention weights)"
    )
    features: Optional[str] = preset(
        "features whose embeddings join the word embedding, e.g. pos,case, or none"
    )
    feature_merge: choice(MERGES) = option(
        "how features join the word embedding: added to it (add), or set beside it and mapped "
        "back to its width by a linear map (affine)",
        "add",
    )
    feature_embed_dim: int = option(
        "width of the feature embeddings with --feature-merge affine", 20
    )
    feature_init: choice(INITS) = option(
        "initial values of the features: N(0, 0.02) (normal), or zero", "normal"
    )
    pretrained: choice([NONE]) = option(
        "only none: these models start from random weights, like BERT with --pretrained none", NONE
    )
    word_vectors: Optional[str] = option(
        "text file of pretrained word vectors to start from (of word2vec, GloVe or fastText; "
        "words that it lacks start at random)",
        None,
    )
    freeze_words: bool = option("do not train the word embeddings", False)
    # Written by the task: what the model was trained for.
    target: Optional[str] = written()
    labels: Optional[str] = written(longest=10_000_000)
    annotator: Optional[str] = written()
    inventories: Optional[str] = written(longest=100_000)  # see `syntax.layers.digests`
    vocabulary: Optional[str] = written()  # see `agreement.vocabulary_digest`
    text_settings: Optional[str] = written()  # see `agreement.settings_text`
    cutting: Optional[str] = written()  # see `data.manifest.Manifest.cutting`


def presets_of(cfg: Any) -> dict[str, Any]:
    """Return the options that the architecture of ``cfg`` presets."""
    return ARCHITECTURES.get(architecture(cfg), ARCHITECTURES[FAMILY])


def resolve(cfg: Any) -> None:
    """Fill every preset option that is None as the architecture of ``cfg`` says, in place."""
    presets = presets_of(cfg)
    write(cfg, **{key: value for key, value in presets.items() if getattr(cfg, key, None) is None})


def needs_of(args: MatchingOptions) -> Needs:
    """Return what a model of resolved options reads.

    Raises:
        InputError: features that do not fit.
    """
    features = read_features(args.features)
    return Needs(features, pairs=True, controls=controls_of(args, features=features))
