"""Factors of translations: predicted in a second pass over hypotheses, and added to their ids.

A search keeps the factors that its decoder predicts, but fairseq's search returns only words. The
pass feeds each model the words of a hypothesis step by step, as the search did, so that it predicts
the same factors. In an ensemble each model reads its own factors, and the mean probability decides.
"""

from collections.abc import Sequence
from typing import Any

import torch
from fairseq import utils
from torch import Tensor

from ..data.factored_dictionary import FactoredDictionary
from ..errors import InputError
from ..syntax.labels import SPECIAL_ID

Hypotheses = list[list[dict[str, Any]]]


def check_alike(known: Sequence[str], names: Sequence[str]) -> None:
    """Refuse models of an ensemble that predict different factors."""
    if tuple(known) != tuple(names):
        sides = [",".join(side) or "none" for side in (known, names)]
        raise InputError(
            "models of an ensemble must predict the same target features, not "
            + " and ".join(sides)
        )


@torch.no_grad()
def predict(
    models: Sequence[Any], net_input: dict[str, Any], tokens: Tensor, rows: Tensor
) -> Tensor:
    """Return the factors of given translations.

    Args:
        models: all with the same K predicted factors.
        net_input: a batch of B sentences.
        tokens: words of N translations (N, T), any words after their ends.
        rows: number of the sentence of each, (N,).

    Returns:
        Factors (N, T, K); the last place has ``<special>``.
    """
    states: list[dict[str, Any]] = [{} for _ in models]
    memories = []
    for model in models:
        memory = model.encoder.forward_torchscript(net_input)
        memories.append(model.encoder.reorder_encoder_out(memory, rows))
    end = models[0].decoder.dictionary.eos()
    inputs = torch.cat((tokens.new_full((len(tokens), 1), end), tokens[:, :-1]), dim=1)  # (N, T)
    found = []
    for step in range(1, inputs.size(1) + 1):
        scores = [
            model.decoder(
                inputs[:, :step], encoder_out=memory, incremental_state=state, features_only=True
            )[1]["factors"]
            for model, memory, state in zip(models, memories, states)
        ]
        best = [_likeliest(one) for one in zip(*scores)]  # K of (N, 1)
        found.append(torch.stack(best, dim=-1) + SPECIAL_ID + 1)  # (N, 1, K)
    last = torch.full_like(found[0], SPECIAL_ID)
    return torch.cat((*found[1:], last), dim=1)


def _likeliest(scores: Sequence[Tensor]) -> Tensor:
    """Return the best labels (N, 1) by the scores (N, 1, labels) of all models."""
    if len(scores) == 1:
        return scores[0].argmax(-1)
    return torch.stack([one.float().softmax(-1) for one in scores]).mean(0).argmax(-1)


def add_factors(models: Sequence[Any], sample: dict[str, Any], hypotheses: Hypotheses) -> None:
    """Add ``factors``, (T, K), to every hypothesis."""
    flat = [(row, one) for row, nbest in enumerate(hypotheses) for one in nbest]
    if not flat:
        return
    device = sample["net_input"]["src_tokens"].device
    longest = max(len(one["tokens"]) for _, one in flat)
    end = models[0].decoder.dictionary.eos()
    tokens = torch.full((len(flat), longest), end, dtype=torch.long, device=device)
    for place, (_, one) in enumerate(flat):
        tokens[place, : len(one["tokens"])] = one["tokens"]
    rows = torch.tensor([row for row, _ in flat], device=device)
    found = predict(models, sample["net_input"], tokens, rows)
    for (_, one), factors in zip(flat, found):
        one["factors"] = factors[: len(one["tokens"])]


def restore(hypotheses: Hypotheses, dictionary: FactoredDictionary, column: int) -> None:
    """Mark the ids of hypotheses with the factor at ``column`` that restores their spelling."""
    for one in (one for nbest in hypotheses for one in nbest):
        one["tokens"] = dictionary.marked(one["tokens"], one["factors"][:, column])


def restore_references(sample: dict[str, Any], dictionary: FactoredDictionary, column: int) -> None:
    """Mark the ids of a batch's references; ``column`` is the data folder's."""
    before = sample["net_input"]["prev_output_factors"][..., column]  # (B, T)
    labels = torch.cat((before[:, 1:], before.new_full((len(before), 1), SPECIAL_ID)), dim=1)
    sample["target"] = dictionary.marked(sample["target"], labels)


def take_references(sample: dict[str, Any], hypotheses: Hypotheses, pad: int) -> None:
    """Give reference hypotheses (``--score-reference``) the references' ids."""
    for target, (one, *_) in zip(sample["target"], hypotheses):
        one["tokens"] = utils.strip_pad(target, pad)
