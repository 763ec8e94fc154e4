"""Attention of a translation over its source (Sundararaman et al. 2019, Figure 3)."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from fairseq.data import data_utils
from torch import Tensor

from ..errors import InputError
from ..models.syntax_transformer import SyntaxTransformerModel
from ..syntax.layers import HEADS, PARSE, RELATIONS, columns_of
from ..syntax.tree import Arc, token_arcs
from ..tasks.unanswered_rows import is_unanswered
from ..text.annotators import reopen_annotator
from ..text.word_layers import known_of
from .attention import check_choice

logger = logging.getLogger(__name__)


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


def read(
    translator, sentence: str, spacy_model: str | None = None
) -> tuple[list[str], dict[str, list[str]], list[Arc], list[str]]:
    """Tell what a model reads of a raw sentence, and how the annotator parses it.

    Returns:
        S source subwords; S labels of each feature that the model reads; arcs between subwords and
        their relations, none without an annotator that parses.
    """
    task = translator.task
    (found,) = task.source_encoder.encode([sentence], None)
    labels = {
        name: [layer.inventory.symbols[i] for i in found.ids(layer)]
        for name, layer in columns_of(task.source_layers).items()
    }
    known = _parse(task, found.words, spacy_model)
    heads = [head - 1 if head else word for word, head in enumerate(known.get(HEADS, ()))]
    told = zip(heads, known.get(RELATIONS, ()))
    relations = [relation for word, (head, relation) in enumerate(told) if head != word]
    return found.tokens, labels, token_arcs(found.word_of, heads), relations


def _parse(task, words: list[str], spacy_model: str | None) -> dict[str, list]:
    """Return layers of words by the folder's annotator, or of English by a bundled one."""
    manifest = task.manifest
    if not (spacy_model or manifest.annotator.get("model") or manifest.source_lang == "en"):
        return {}
    try:
        folder = Path(task.folders[0])
        annotator = reopen_annotator(folder, manifest.annotator, PARSE, spacy_model)
        return known_of(words, *annotator.annotate_words([words]))
    except (InputError, FileNotFoundError) as error:
        logger.warning("no parse to draw: %s", error)
        return {}


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
