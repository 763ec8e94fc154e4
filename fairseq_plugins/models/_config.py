"""Options of ``syntax_transformer``: fairseq's own transformer options, flat, and ours.

fairseq's ``TransformerConfig`` is nested, so its option parser ignores named architectures and
nested options; here its fields are flattened automatically (``encoder_layers`` ...). A field that
an architecture may preset is ``Optional`` with default None, and `resolve` fills it with fairseq's
own architecture functions.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.dataclass.utils import eval_str_list
from fairseq.models.transformer import transformer_legacy as bodies
from fairseq.models.transformer.transformer_config import (
    EncDecBaseConfig,
    QuantNoiseConfig,
    TransformerConfig,
)

from ..errors import InputError
from ..methods.control_options import TreeControls
from ..methods.local_attention import LAYERS_HELP, LOCAL_HELP, LocalRules
from ..methods.method import Method, around, with_methods
from ..methods.options import (
    ALL_LAYERS,
    NONE,
    architecture,
    read_features,
    read_targets,
    write,
    written,
)
from ..nn.factors import COMBINATIONS, INITS, MERGES
from ..option_flags import flag_of, option
from ..syntax.layers import TREES
from ..syntax.needs import Needs

# Architecture -> fairseq's function for the architecture of the same body.
BODIES: dict[str, Callable[[Namespace], None]] = {
    "syntax_transformer": bodies.base_architecture,
    "syntax_transformer_tiny": bodies.tiny_architecture,
    "syntax_transformer_iwslt_en_de": bodies.transformer_iwslt_de_en,
    "syntax_transformer_wmt_en_de": bodies.transformer_wmt_en_de,
    "syntax_transformer_wmt_en_de_big": bodies.transformer_wmt_en_de_big,
}

_SIZES = ("embed_dim", "ffn_embed_dim", "layers", "attention_heads")
_WIDTHS = ("decoder_input_dim", "decoder_output_dim")
_RATES = ("dropout", "attention_dropout", "activation_dropout")
PRESET_FIELDS: dict[str, Any] = {
    **{f"{side}_{name}": Optional[int] for side in ("encoder", "decoder") for name in _SIZES},
    **dict.fromkeys(_WIDTHS, Optional[int]),
    **dict.fromkeys(_RATES, Optional[float]),
}
_NESTED = dict.fromkeys(("encoder", "decoder"), EncDecBaseConfig) | {
    "quant_noise": QuantNoiseConfig
}
# Only fairseq's own code sets it, and evaluates strings in it: not an option here.
_LEFT_OUT = {"_name", "xformers_att_config"}


def _nested_fields() -> Iterator[tuple[str, Any]]:
    for outer in fields(TransformerConfig):
        if outer.name in _NESTED:
            for inner in fields(_NESTED[outer.name]):
                if inner.name not in _LEFT_OUT:
                    yield f"{outer.name}_{inner.name}", inner
        elif outer.name not in _LEFT_OUT:
            yield outer.name, outer


def _flat_fields() -> list[tuple[str, Any, Any]]:
    flat = []
    for name, spec in _nested_fields():
        kind, default = spec.type, spec.default
        if name in PRESET_FIELDS:
            kind, default = PRESET_FIELDS[name], None
        elif name.endswith("_layers_to_keep"):
            kind = Optional[str]  # fairseq's model splits this text
        assert default is not MISSING, name
        flat.append((name, kind, field(default=default, metadata=dict(spec.metadata))))
    for name in _WIDTHS:
        about = option(f"{name.replace('_', ' ')} (default: --decoder-embed-dim)", None)
        flat.append((name, Optional[int], about))
    return flat


FlatTransformerConfig = make_dataclass(
    "FlatTransformerConfig", _flat_fields(), bases=(FairseqDataclass,)
)
FlatTransformerConfig.__module__ = __name__


@dataclass(frozen=True)
class EncoderAttention(LocalRules):
    """Local attention in the encoder of a translation model."""

    switch, where, depth = "encoder_attention", "encoder_attention_layers", "encoder_layers"

    encoder_attention: str = option(f"the encoder's {LOCAL_HELP}", NONE)
    encoder_attention_layers: str = option(LAYERS_HELP, ALL_LAYERS)
    encoder_layers: int = around(0)

    @property
    def needs(self) -> Needs:
        """Heads of words, if a rule reads words or trees."""
        if not any(rule.needs_words for rule in self.rules):
            return Needs()
        asked = f"{flag_of(self.switch)} {self.encoder_attention}"
        return Needs(layers=TREES, words=True, options=dict.fromkeys(TREES, asked))


@dataclass(frozen=True)
class SourceFeatures(Method):
    """Features embedded beside the words of the source; see `nn.factors`.

    There is no switch: a grid over features may include a plain model, which ignores the other
    options.
    """

    features: Optional[str] = option(
        "source features the encoder reads, e.g. pos,case,subword; 'none' for a plain "
        "transformer (default: all that the data folder holds)",
        None,
    )
    feature_combine: ChoiceEnum(COMBINATIONS) = option(
        "how the embeddings of several features are combined: added up (sum) or set side by "
        "side (concat)",
        "sum",
    )
    feature_merge: ChoiceEnum(MERGES) = option(
        "how the features join the word embedding: beside it (concat), in place of the last "
        "dimensions of a full-width one (overlay), or added to it (add)",
        "concat",
    )
    feature_embed_dim: Optional[int] = option(
        "width of the feature embeddings, which are added up (default: 20; with --feature-merge "
        "add the encoder's width)",
        None,
    )
    feature_embed_dims: Optional[str] = option(
        "with --feature-combine concat: width of each feature, in the order of "
        "--features, e.g. 12,4,4",
        None,
    )
    feature_init: Optional[ChoiceEnum(INITS)] = option(
        "initial values of the feature embeddings (default: normal, the feature vector with the "
        "standard deviation of the words; glorot with --param-init glorot)",
        None,
    )
    feature_scale: float = option(
        "additional factor by which the feature vector is multiplied", 1.0
    )

    @property
    def needs(self) -> Needs:
        """The features; the data folder decides the default."""
        return Needs(read_features(self.features))


@dataclass(frozen=True)
class TargetFactors(Method):
    """Factors of target words that the decoder predicts; see `nn.target_factors`."""

    target_features: str = option(
        "factors of target words that the decoder predicts, from the data folder's "
        "--target-layers, e.g. truecase (needs --criterion "
        "label_smoothed_cross_entropy_with_factors), or none",
        NONE,
    )

    @property
    def needs(self) -> Needs:
        return Needs(targets=read_targets(self.target_features))


METHODS = (SourceFeatures, EncoderAttention, TargetFactors)


@dataclass
class TranslationOptions(TreeControls, FlatTransformerConfig):
    """fairseq's transformer options and those of source features and local attention."""

    pretrained: Optional[str] = option(
        "trained translation model to start from: a checkpoint of fairseq's transformer or of "
        "syntax_transformer, or the folder with it and its dictionaries; its sizes are taken, and "
        "new features start at zero (with --feature-merge add)",
        None,
    )
    word_embed_dim: Optional[int] = option(
        "width of the word embedding; if given, it must equal --encoder-embed-dim (with "
        "--feature-merge concat: minus the width of the features)",
        None,
    )
    param_init: ChoiceEnum(["fairseq", "glorot"]) = option(
        "initialisation of all weight matrices: as in fairseq's transformer, or Glorot-uniform "
        "throughout (as in OpenNMT-py, the paper's toolkit)",
        "fairseq",
    )
    # Set by the task: name, version and hash of the training data's annotator.
    annotator: Optional[str] = written()
    inventories: Optional[str] = written(longest=100_000)  # see `syntax.layers.digests`
    # of both languages, see `data.translation_folders.word_digests`
    words: Optional[str] = written()


SyntaxTransformerConfig = with_methods("SyntaxTransformerConfig", TranslationOptions, METHODS)


def resolve(cfg: Any) -> None:
    """Fill every preset field that is None with the value of architecture ``cfg._name``, in place.

    Args:
        cfg: a Namespace (``arch`` names the architecture), DictConfig or dataclass instance.
    """
    name = architecture(cfg)
    given = {key: getattr(cfg, key, None) for key in PRESET_FIELDS}
    body = Namespace(**{key: value for key, value in given.items() if value is not None})
    BODIES.get(name, bodies.base_architecture)(body)
    write(cfg, **{key: getattr(body, key) for key in PRESET_FIELDS})


def preset(args: Any) -> None:
    """Fill the presets of an architecture, unless a trained model decides them."""
    if not getattr(args, "pretrained", None):
        resolve(args)


def as_namespace(options: Any) -> Namespace:
    """Return resolved options for fairseq's transformer, without text that it evaluates."""
    args = Namespace(**{key: v for key, v in vars(options).items() if v is not None})
    cutoff = getattr(args, "adaptive_softmax_cutoff", None)
    if isinstance(cutoff, str):
        args.adaptive_softmax_cutoff = eval_str_list(cutoff, int)
    return args


def check_initialisation(args: Namespace) -> None:
    """Refuse ``--param-init glorot`` with given embeddings, which it would overwrite."""
    for side in ("encoder", "decoder"):
        if args.param_init == "glorot" and getattr(args, f"{side}_embed_path", None):
            raise InputError(
                f"--param-init glorot would overwrite --{side}-embed-path; "
                "use --param-init fairseq with ready-made embeddings"
            )
