"""Additions to fairseq's inference: features beside raw text, and decoded output."""

import logging
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.logging import metrics
from omegaconf import open_dict
from torch import Tensor

from ..errors import InputError
from ..evaluation.sentence_counts import metric_of
from ._checkpoint_options import run_of, training_of

BLEU_ORDER = 4

logger = logging.getLogger(__name__)


class InferenceTokens(list):
    """Source sentences as fairseq expects them (a list of id tensors), with their features.

    Attributes:
        factors: for each sentence its feature ids, (S, F).
        extras: further items of the sentences, see `FactoredPairDataset`.
    """

    def __init__(
        self, tokens: Sequence[Tensor], factors: Sequence[Tensor], **extras: Sequence[Any]
    ) -> None:
        super().__init__(tokens)
        self.factors, self.extras = list(factors), extras


class FactorQueue:
    """Features and extras of current batches, which interactive translation drops.

    Batches keep their order; the tokens are compared, so that a mistake is detected.
    """

    def __init__(self) -> None:
        self._batches: deque[Mapping[str, Any]] = deque()

    def __len__(self) -> int:
        return len(self._batches)

    def clear(self) -> None:
        self._batches.clear()

    def put(self, batch: Mapping[str, Any]) -> None:
        self._batches.append({**batch, "net_input": {**batch["net_input"]}})

    def give(self, sample: dict[str, Any], extras: Iterable[str]) -> None:
        """Give a batch the features, (B, S, F), and extras of the oldest batch here."""
        if not self._batches:
            raise RuntimeError("a batch arrived whose source features were never made")
        batch, net_input = self._batches.popleft(), sample["net_input"]
        tokens, src_tokens = batch["net_input"]["src_tokens"], net_input["src_tokens"]
        if not torch.equal(tokens, src_tokens.to(tokens.device)):
            raise RuntimeError("source features and tokens got out of step")
        if "src_factors" in batch["net_input"]:
            net_input["src_factors"] = batch["net_input"]["src_factors"].to(src_tokens.device)
        sample |= {name: batch[name] for name in extras if name in batch}


@dataclass(frozen=True)
class TargetText:
    """In place of ``--bpe`` or ``--tokenizer``: the data folder's steps for target text.

    fairseq encodes source text too, but the task ignores the result; the encoded target text is
    that of ``--constraints``.
    """

    encode: Callable[[str], str]  # one step from plain text
    decode: Callable[[str], str]  # the inverse step


def score_plain_text(cfg: Any, lang: str) -> None:
    """End the output of ``fairseq-generate`` by plain-text BLEU, unless ``--scoring`` is given."""
    whole = run_of(cfg)
    named = any(word.partition("=")[0] == "--scoring" for word in sys.argv)
    if named or whole is None or not whole.get("scoring") or training_of(cfg) is not None:
        return
    try:
        metric = metric_of("bleu", lang)
    except InputError as error:
        logger.warning("the last line will be BLEU of subwords: %s", error)
        return
    tokenizer = metric._TOKENIZER_MAP.get(metric.trg_lang, metric.TOKENIZER_DEFAULT)
    with open_dict(whole):
        whole.scoring = {"_name": "sacrebleu", "sacrebleu_tokenizer": tokenizer}


def log_bleu(logging_outputs: Sequence[Mapping[str, Any]]) -> None:
    """Log BLEU from the counts of `TranslationTask.valid_step`.

    The counts are logged as plain numbers: fairseq logs NumPy arrays, which would enter checkpoints
    that torch then refuses to load.
    """
    names = ["_bleu_sys_len", "_bleu_ref_len"]
    names += [f"_bleu_{kind}_{i}" for kind in ("counts", "totals") for i in range(BLEU_ORDER)]
    if not any(names[0] in output for output in logging_outputs):
        return
    for name in names:
        metrics.log_scalar_sum(name, int(sum(float(log.get(name, 0)) for log in logging_outputs)))
    metrics.log_derived("bleu", _bleu)


def _bleu(meters: Mapping[str, Any]) -> float:
    from sacrebleu.metrics import BLEU

    def sums(kind: str) -> list[int]:
        return [int(meters[f"_bleu_{kind}_{i}"].sum) for i in range(BLEU_ORDER)]

    score = BLEU.compute_bleu(
        correct=sums("counts"),
        total=sums("totals"),
        sys_len=int(meters["_bleu_sys_len"].sum),
        ref_len=int(meters["_bleu_ref_len"].sum),
        smooth_method="exp",
    )
    return round(float(score.score), 2)
