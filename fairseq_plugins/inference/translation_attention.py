"""Attention of a translation over its source (Sundararaman et al. 2019, Figure 3)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from fairseq.data import data_utils
from torch import Tensor

from ..errors import InputError
from ..models.syntax_transformer import SyntaxTransformerModel
from ..tasks.unanswered_rows import is_unanswered
from .attention import check_choice


@dataclass(frozen=True)
class Attention:
    """A model's attention during the translation of one sentence."""

    source: list[str]  # S source subwords, ``</s>`` last
    target: list[str]  # T target subwords, ``</s>`` last
    weights: np.ndarray  # (T, S), rows sum to 1
    translation: str  # the target as text


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
    """Translate a raw sentence and return the decoder's attention over the source.

    Args:
        translator: from `load`; only its first model counts.
        sentence: raw source text.
        beam: beam size of the translation.
        layer: decoder layer from 0 (default: the last, as in Sundararaman et al. 2019, Figure 3).
        head: one head from 0 (default: the mean over heads).
    """
    task, model = translator.task, translator.models[0]
    check_choice("layer", layer, len(model.decoder.layers))
    check_choice("head", head, model.decoder.layers[-1].encoder_attn.num_heads)
    tokens, lengths = task.get_interactive_tokens_and_lengths([sentence], None)
    if is_unanswered(tokens[0], task.source_dictionary.eos()):
        raise InputError(
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
    """Return the attention of a translation, (T, S), in one layer, of one head or the mean."""
    inputs = {k: v.to(translator.device) for k, v in inputs.items() if torch.is_tensor(v)}
    dictionary = translator.task.target_dictionary
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
    # fairseq averages only the first heads; one head is a difference of two such sums
    return mean_of(head + 1) * (head + 1) - (mean_of(head) * head if head else 0)


def _symbols(ids: Tensor, dictionary) -> list[str]:
    return [dictionary[int(i)] for i in ids]
