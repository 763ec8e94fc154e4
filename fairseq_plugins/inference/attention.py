"""Attention of a translation over its source, and which of a text model's attentions is looked at.

The former is the matrix behind Figure 3 of Sundararaman et al. 2019. A layer with dual attention
(Wang et al. 2022, "DABERT") has two, and a gate g_i that says how much of the first each token i
takes:

    affinity     the layer's own attention, as in any BERT
    difference   where queries and keys are far apart
    fused        g_i affinity_i + (1 - g_i) difference_i; their mean where the gate was taken away

Figure 3 of Wang et al. shows BERT's attention and that of DABERT "after dual attention".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import data_utils
from torch import Tensor

from ..data.factored_dictionary import FactoredDictionary
from ..models.syntax_transformer import SyntaxTransformerModel
from ..tasks._unanswered import is_unanswered
from .options import AFFINITY, ATTENTIONS, DIFFERENCE, FUSED


@dataclass(frozen=True)
class Attention:
    """What a model looked at while it translated one sentence.

    Args:
        source: S source subwords, ``</s>`` last.
        target: T target subwords, ``</s>`` last.
        weights: (T, S), rows sum to 1.
        translation: the target as text.
    """

    source: list[str]
    target: list[str]
    weights: np.ndarray
    translation: str


def load(checkpoint: Path, data: str | None = None, spacy_model: str | None = None):
    """Load a checkpoint for translation; see `SyntaxTransformerModel.from_pretrained`."""
    checkpoint = Path(checkpoint)
    model = SyntaxTransformerModel.from_pretrained(
        str(checkpoint.parent), checkpoint.name, data, spacy_model=spacy_model
    )
    return model.eval()


@torch.no_grad()
def attend(
    translator, sentence: str, *, beam: int = 4, layer: int | None = None, head: int | None = None
) -> Attention:
    """Translate a raw sentence and read the decoder's attention over the source.

    Args:
        translator: what `load` returned (its first model is read).
        sentence: raw source text.
        beam: beam size of the translation.
        layer: decoder layer from 0 (default: the last, as in Sundararaman et al. 2019, Figure 3).
        head: one head from 0 (default: the mean over heads).

    Raises:
        ValueError: a sentence that is empty or too long, or no such layer or head.
    """
    task, model = translator.task, translator.models[0]
    check_choice("layer", layer, len(model.decoder.layers))
    check_choice("head", head, model.decoder.layers[-1].encoder_attn.num_heads)
    tokens, lengths = task.get_interactive_tokens_and_lengths([sentence], None)
    if is_unanswered(tokens[0], task.source_dictionary.eos()):
        raise ValueError(
            f"there is nothing to translate in {sentence[:40]!r}: it is empty, or longer than the "
            "model takes"
        )
    found = translator.generate(tokens, beam=beam)[0][0]
    best = found["tokens"].cpu()  # (T,)
    dataset = task.build_dataset_for_inference(tokens, lengths)
    inputs = dataset.collater([dataset[0]])["net_input"]
    if "factors" in found:
        inputs["prev_output_factors"] = model.read_again(found["factors"])
    weights = _weights(translator, inputs, best, layer, head)
    return Attention(
        source=_symbols(tokens[0], task.source_dictionary),
        target=_symbols(best, task.target_dictionary),
        weights=weights.clamp_min(0).cpu().numpy(),
        translation=translator.decode(best),
    )


def _weights(
    translator, inputs: dict, target: Tensor, layer: int | None, head: int | None
) -> Tensor:
    """Return the attention of a translation, (T, S), in one layer, of one head or of their mean."""
    inputs = {k: v.to(translator.device) for k, v in inputs.items() if torch.is_tensor(v)}
    dictionary = translator.task.target_dictionary
    if isinstance(dictionary, FactoredDictionary):
        target = dictionary.plain(target)
    previous = data_utils.collate_tokens(
        [target], dictionary.pad(), dictionary.eos(), False, True
    ).to(translator.device)  # (1, T)

    def mean_of(heads: int | None) -> Tensor:
        extra = translator.models[0](
            inputs["src_tokens"],
            inputs["src_lengths"],
            previous,
            src_factors=inputs.get("src_factors"),
            prev_output_factors=inputs.get("prev_output_factors"),
            alignment_layer=layer,
            alignment_heads=heads,
        )[1]
        return extra["attn"][0][0].double()  # (T, S)

    if head is None:
        return mean_of(None)
    # fairseq averages the first heads only; one head is a difference of two such sums
    return mean_of(head + 1) * (head + 1) - (mean_of(head) * head if head else 0)


def _symbols(ids: Tensor, dictionary) -> list[str]:
    return [dictionary[int(i)] for i in ids]


def check_choice(what: str, value: int | None, count: int) -> None:
    """Refuse a number that is not there.

    Raises:
        ValueError: names the choices.
    """
    if value is not None and not 0 <= value < count:
        raise ValueError(f"there is no {what} {value}: choices are 0 to {count - 1}")


def select_tables(
    extra: Mapping[str, Any], kind: str | None = None, layer: int | None = None
) -> list[Tensor]:
    """Return the attention of a model in the layers that are looked at.

    Args:
        extra: what the model says beside its logits about one sentence or pair, without padding,
            with ``need_weights=True``.
        kind: one of `ATTENTIONS` (default: `FUSED` in layers with dual attention, `AFFINITY` in
            others).
        layer: one layer from 0 (default: all that have this attention; for `FUSED` all layers,
            those without dual attention with their affinity).

    Returns:
        One table (H, T, S) a layer; rows attend to columns.

    Raises:
        ValueError: an unknown kind, no such layer, or a layer without that attention.
    """
    if kind not in (None, *ATTENTIONS):
        raise ValueError(f"unknown attention {kind!r}; choices: {', '.join(ATTENTIONS)}")
    check_choice("layer", layer, len(extra["attention"]))
    if kind in (DIFFERENCE, FUSED):
        _check_dual(sorted(extra.get("difference", ())), kind, layer)
    if layer is not None:
        layers = [layer]
    elif kind == DIFFERENCE:
        layers = sorted(extra["difference"])
    else:
        layers = range(len(extra["attention"]))
    return [_table(extra, kind, number) for number in layers]


def _check_dual(dual: list[int], kind: str, layer: int | None) -> None:
    """Refuse what only layers with dual attention have."""
    if not dual:
        raise ValueError(
            f"this model has no {kind} attention, because no layer of it has dual attention; "
            f"choices: {AFFINITY}"
        )
    if layer not in (None, *dual):
        raise ValueError(
            f"layer {layer} has no {kind} attention, because it has no dual attention; choices: "
            f"{AFFINITY} in this layer, or layer {', '.join(map(str, dual))}"
        )


def _table(extra: Mapping[str, Any], kind: str | None, layer: int) -> Tensor:
    """Return one layer's attention, (H, T, S)."""
    affinity = extra["attention"][layer][0].double()
    difference = extra.get("difference", {}).get(layer)
    if kind == AFFINITY or difference is None:
        return affinity
    difference = difference[0].double()
    if kind == DIFFERENCE:
        return difference
    gates = extra.get("fusion", {}).get(layer)  # (T, 2)
    share = 0.5 if gates is None else gates[:, :1].double()  # (T, 1)
    return torch.lerp(difference, affinity, torch.as_tensor(share).to(affinity))
