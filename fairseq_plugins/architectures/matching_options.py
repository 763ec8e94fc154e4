"""Options of the models that match pairs from scratch, and the architectures as values of options.

An architecture is a matcher with the sizes of its paper, e.g. ``esim``, or small sizes
(``esim_tiny``). Presets are `Optional` with default None, as in `bert_options`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Optional

from ..methods.control_options import FeatureControls
from ..methods.features import Features
from ..methods.method import Method, around, with_methods
from ..methods.options import NONE, Trained, preset
from ..nn.pair_transformer import ENCODINGS, JOINT
from ..option_flags import choice, option
from ..syntax.needs import Needs

FAMILY = "esim"  # the registered model; all architectures are its presets
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
COMMON: dict[str, Any] = {**Features.off, "character_hidden_size": 0}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    kind + size: {**COMMON, **values, **(SMALL[kind] if size else {})}
    for kind, values in KINDS.items()
    for size in ("", "_tiny")
}


@dataclass(frozen=True)
class Matcher(Method):
    """The matcher of the two sentences of a pair."""

    called = "matcher"
    matcher: Optional[choice(MATCHERS)] = preset("kind of model that matches the two sentences")

    @property
    def needs(self) -> Needs:
        """Pairs."""
        return Needs(pairs=True)


@dataclass(frozen=True)
class OneMatcher(Method):
    """Options of a single matcher.

    Attributes:
        name: of the matcher.
    """

    switch = "matcher"
    name: ClassVar[str]
    matcher: str = around()

    @property
    def is_there(self) -> bool:
        """Whether the model has this matcher."""
        return self.matcher == self.name


@dataclass(frozen=True)
class BimpmMatcher(OneMatcher):
    """Options of BiMPM."""

    name, called = BIMPM, "BiMPM"
    perspectives: int = option(
        "BiMPM: number of perspectives of each of its matchings", 20, least=1
    )


@dataclass(frozen=True)
class CafeMatcher(OneMatcher):
    """Options of CAFE."""

    name, called = CAFE, "CAFE"
    factors: int = option("CAFE: number of factors of its factorisation machines", 10, least=1)


@dataclass(frozen=True)
class TransformerMatcher(OneMatcher):
    """Options of the transformer of pairs."""

    name, called = TRANSFORMER, "transformer"
    num_hidden_layers: Optional[int] = preset("number of layers of the transformer", least=1)
    num_attention_heads: Optional[int] = preset(
        "number of attention heads in each layer of the transformer", least=1
    )
    intermediate_size: Optional[int] = preset(
        "width of the transformer's feed-forward layers", least=1
    )
    pair_encoding: choice(ENCODINGS) = option(
        "how the transformer reads a pair: as one sequence (joint), or each sentence by itself "
        "(siamese)",
        JOINT,
    )


METHODS = (Features, Matcher, BimpmMatcher, CafeMatcher, TransformerMatcher)


@dataclass
class PairOptions(FeatureControls, Trained):
    """Options of models that match the two sentences of a pair."""

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
    max_position_embeddings: int = option(
        "most tokens of an input; the transformer has as many position embeddings", 512, least=1
    )
    dropout: Optional[float] = preset(
        "dropout on embeddings and before every layer (transformer: on embeddings, block "
        "outputs and attention weights)"
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


MatchingOptions = with_methods("MatchingOptions", PairOptions, METHODS)
