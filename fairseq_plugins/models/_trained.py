"""Start a training from a trained translation model (``--pretrained``).

Sizes, norms, activation, positions and shared embeddings are the trained model's. Its weights are
loaded strictly; only features, gates and target factors may be new, or be left out. New features
start at zero and are added to the words, so that the first update begins at the translations of the
trained model.
"""

import logging
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import compress
from typing import Any

from fairseq.models import ARCH_MODEL_NAME_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq.models.bart import BARTModel
from fairseq.models.transformer import TransformerModel
from torch import Tensor

from ..architectures.agreement import check_inventories, check_words
from ..door.records import close
from ..errors import InputError
from ..messages import named, quoted
from ..methods.options import NONE, write
from ..option_flags import flag_of
from ..pretrained.translation_models import TranslationModel, read_model
from ..syntax.layers import Layer, columns_of
from . import _config
from ._plan import resolve_features

logger = logging.getLogger(__name__)

OWN = "syntax_transformer"
POSITIONS = ("max_source_positions", "max_target_positions")
# fairseq's options that change no trained function
FREE = {
    *_config._RATES,
    *("adaptive_softmax_dropout", "relu_dropout", *POSITIONS),
    *("checkpoint_activations", "offload_activations", "min_params_to_wrap", "export", "_name"),
    *("quant_noise_pq", "quant_noise_pq_block_size", "quant_noise_scalar"),
    *(f"{side}_{name}" for side in ("encoder", "decoder")
      for name in ("embed_path", "layerdrop", "layers_to_keep")),
}  # fmt: skip
SHAPE = [one.name for one in fields(_config.FlatTransformerConfig) if one.name not in FREE]
OF_FEATURES = ("merge", "combine", "embed_dim", "embed_dims", "scale")
PARTS = {  # what a model may have that another lacks -> part of the names of its weights
    "source features": ".factors.tables.",
    "gates of local attention": ".self_attn.gate.",
    "target factors": "decoder.target_factors.",
}
TABLE, WORDS = "encoder.embed_tokens.weight", "encoder.embed_tokens.words.weight"
# sinusoids in files of old releases
POSED = (".embed_positions._float_tensor", ".embed_positions.weights")


@dataclass(frozen=True)
class Start:
    """A trained model from which a training starts."""

    model: TranslationModel
    options: dict[str, Any]  # closed and complete

    @classmethod
    def of(cls, place: str) -> "Start":
        """Read a checkpoint of fairseq's transformer or of ours, or a folder with one."""
        model = read_model(place)
        arch = model.options["_name"]
        arch = arch if isinstance(arch, str) else None
        own = ARCH_MODEL_NAME_REGISTRY.get(arch) == OWN
        if not own and ARCH_MODEL_REGISTRY.get(arch) not in (TransformerModel, BARTModel):
            raise InputError(
                f"{model.path} holds model {quoted(arch)}; --pretrained reads fairseq's "
                f"transformer and BART, and {OWN}"
            )
        kind, before = _config.SyntaxTransformerConfig, _config.EncoderAttention.before
        held = {k: v for k, v in model.options.items() if own or k in (*SHAPE, *POSITIONS)}
        closed = close(held, kind, model.path, before=before if own else {})
        cfg = Namespace(**closed, _name=arch if own else OWN)
        _config.resolve(cfg)
        whole = {one.name: getattr(cfg, one.name, one.default) for one in fields(kind)}
        return cls(model, whole)

    def take_over(self, cfg: Any, layers: Sequence[Layer]) -> None:
        """Write the trained model's shape into options; refuse options that contradict it.

        Args:
            layers: of the data folder.
        """
        names = resolve_features(getattr(cfg, "features", None), [*columns_of(layers)])
        trained = self.options["features"] not in (None, NONE)
        taken = [*SHAPE, *(f"feature_{one}" for one in OF_FEATURES if trained and names)]
        learnt = (self.options[f"{side}_learned_pos"] for side in ("encoder", "decoder"))
        taken += compress(POSITIONS, learnt)
        values = {name: self.options[name] for name in taken}
        defaults = {one.name: one.default for one in fields(_config.SyntaxTransformerConfig)}
        other = [
            f"{flag_of(name)} {given} (there {value})"
            for name, value in values.items()
            for given in [getattr(cfg, name, None)]
            if not any(_same(given, one) for one in (None, defaults[name], value))
        ]
        if other:
            raise InputError(f"--pretrained {self.model.path} contradicts {named(other)}")
        merge = str(values.get("feature_merge", getattr(cfg, "feature_merge", None)))
        if names and not trained and merge != "add":
            raise InputError(
                f"--feature-merge {merge} takes dimensions of the words that --pretrained "
                f"{self.model.path} uses: give --feature-merge add"
            )
        if names and getattr(cfg, "feature_init", None) is None:
            values["feature_init"] = "zero"
        write(cfg, **values)

    def check_folder(self, task: Any) -> None:
        """Refuse other subwords in a task's folder, or other values of learnt layers.

        Sentences of another form are only warned of: the user may mean it.
        """
        told, folder, manifest = Namespace(**self.options), task.folders[0], task.manifest
        check_inventories(told, task.source_layers, folder)
        if self.options["words"]:
            check_words(told, task.words, folder, start=True)
            return
        languages = (manifest.source_lang, manifest.target_lang)
        for language, held in zip(languages, (task.src_dict, task.tgt_dict), strict=True):
            path, theirs = self.model.dictionary(language)
            check_symbols(theirs, held.symbols, path, f"{folder}/dict.{language}.txt")
        wanted = self.model.forms(languages)
        forms = [manifest.segmentation[side].get("form", "") for side in ("source", "target")]
        if wanted != forms:
            logger.warning(
                "%s: the model read sentences of the forms %s, those of %s have %s: prepare them "
                "with --like-model, unless this is meant",
                *(self.model.path, wanted, folder, forms),
            )

    def fitted(self, model: Any) -> dict[str, Tensor]:
        """Return the weights for a new model, perhaps without memory; log which parts are new."""
        own, there = model.state_dict(), dict(self.model.read_weights())
        for old, new in ((TABLE, WORDS), (WORDS, TABLE)):
            if new in own and old in there:
                there[new] = there.pop(old)
        there = {name: value for name, value in there.items() if not name.endswith(POSED)}
        new = [part for part, mark in PARTS.items() if _lacks(mark, there, own)]
        left = [part for part, mark in PARTS.items() if _lacks(mark, own, there)]
        kept = {name: value for name, value in there.items() if name in own or not _is_part(name)}
        for name, value in own.items():
            if _is_part(name) or name.endswith(".version"):
                kept.setdefault(name, value)
        model.upgrade_state_dict(kept)
        check_shapes(kept, own, self.model.path)
        logger.info(
            "starts from %s; new: %s; left out: %s", self.model.path, *map(named, (new, left))
        )
        return {name: value for name, value in kept.items() if not value.is_meta}


def _same(given: Any, value: Any) -> bool:
    """Tell whether values of an option agree, perhaps as a choice and its text, or 4 and 4.0."""
    return given == value or str(given) == str(value)


def _is_part(name: str) -> bool:
    return any(mark in name for mark in PARTS.values())


def _lacks(mark: str, one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    """Tell whether a model lacks weights that another has."""
    return any(mark in name and name not in one for name in other)


def check_symbols(theirs: Sequence[str], ours: Sequence[str], there: object, here: str) -> None:
    """Refuse a dictionary that is not the trained model's; the error names the first difference."""
    for i in range(max(len(theirs), len(ours))):
        pair = [one[i] if i < len(one) else None for one in (theirs, ours)]
        if pair[0] != pair[1]:
            said = ["nothing" if one is None else quoted(one) for one in pair]
            raise InputError(
                f"{here} is not the dictionary of the trained model: subword {i} is {said[1]}, "
                f"{there} has {said[0]}; prepare the text with that dictionary (--srcdict, "
                "--tgtdict) and its subwords"
            )


def check_shapes(there: Mapping[str, Tensor], here: Mapping[str, Tensor], path: object) -> None:
    """Refuse weights of other names or shapes than a model's."""
    for name in {**here, **there}:
        old, new = ([*one[name].shape] if name in one else "none" for one in (there, here))
        if old != new:
            raise InputError(f"{path}: {quoted(name)} has shape {old} there, {new} here")
