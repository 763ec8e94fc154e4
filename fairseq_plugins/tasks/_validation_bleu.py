"""Additions to ``--eval-bleu``: a length limit, progress, and the language's tokenisation.

An untrained model never ends a sentence, so fairseq lets it write 200 subwords for every line of
the validation set, without output. Here a translation has at most twice the subwords of its source
plus 20 (of the longest source of its batch, as in fairseq) unless ``--eval-bleu-args`` gives
``max_len_a`` or ``max_len_b``; the first validation logs its settings; and a long validation logs
its progress every ten seconds if fairseq shows no bar. fairseq tokenises every language like
English; here the target language decides, as in ``fairseq-plugins score``.
"""

import json
import logging
import sys
import time
from collections.abc import Callable
from typing import Any, Optional

from fairseq.distributed import utils as distributed_utils
from torch import Tensor

from ..errors import InputError
from ..evaluation.sentence_counts import metric_of, remark_on

LIMIT = {"max_len_a": 2.0, "max_len_b": 20}
BEAM = 5  # fairseq's default
PAUSE = 10.0  # seconds between two lines
UNKNOWN = "UNKNOWNTOKENINHYP", "UNKNOWNTOKENINREF"  # fairseq's words, which match nothing

logger = logging.getLogger(__name__)


def limited(arguments: Optional[str]) -> str:
    """Return ``--eval-bleu-args`` with a length limit, unless present."""
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InputError(
            f"--eval-bleu-args {arguments}: expected a JSON object, such as "
            '\'{"beam": 4, "lenpen": 0.6}\''
        )
    return json.dumps(given if LIMIT.keys() & given.keys() else {**given, **LIMIT})


def metric_for(lang: str, *, tokenized: bool) -> Any:
    """Return the validation BLEU of a language; every word of ``tokenized`` text is a token."""
    if tokenized:
        return metric_of("bleu", tokenize="none")
    if remark := remark_on(lang):
        logger.warning(remark)
    return metric_of("bleu", lang)


def bleu_of(task: Any, metric: Any, sample: Any, found: Any) -> Any:
    """Return the BLEU of a batch's hypotheses, with its counts."""

    def text(tokens: Tensor, unknown: str) -> str:
        bpe, tokens = task.cfg.eval_bleu_remove_bpe, tokens.int().cpu()
        return task.tokenizer.decode(task.tgt_dict.string(tokens, bpe, unk_string=unknown))

    padding = task.tgt_dict.pad()
    said = [text(nbest[0]["tokens"], UNKNOWN[0]) for nbest in found]
    gold = [text(row[row.ne(padding)], UNKNOWN[1]) for row in sample["target"]]
    if task.cfg.eval_bleu_print_samples:
        logger.info("example hypothesis: %s, reference: %s", said[0], gold[0])
    return metric.corpus_score(said, [gold])


class Progress:
    """Logs the settings and progress of validations.

    Args:
        arguments: of the search, from `limited`.
        has_bar: whether fairseq shows a bar; None if standard error is a terminal.
    """

    def __init__(
        self,
        arguments: str,
        has_bar: Optional[bool] = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._search = json.loads(arguments)
        self._has_bar = sys.stderr.isatty() if has_bar is None else has_bar
        self._clock = clock
        self._said = False
        self._total = self._done = 0
        self._begun = self._shown = clock()

    def begin(self, sentences: int) -> None:
        """Begin a validation; the first one logs its settings."""
        self._total, self._done = sentences, 0
        self._begun = self._shown = self._clock()
        if self._said:
            return
        self._said = True
        longest = " + ".join(
            text
            for name, text in (("max_len_a", "{:g} x source"), ("max_len_b", "{:g}"))
            for text in [text.format(self._search.get(name, 0))]
            if self._search.get(name)
        )
        logger.info(
            "validation translates %d sentences for BLEU: beam %s, at most %s subwords; a model "
            "that has learnt little writes to that limit, so the first ones take longest",
            sentences,
            self._search.get("beam", BEAM),
            longest or "200",
        )

    def step(self, sentences: int) -> None:
        """Count translated sentences; log progress if the last line is old."""
        self._done += sentences
        now = self._clock()
        if self._has_bar or not self._total or now - self._shown < PAUSE:
            return
        self._shown = now
        share = -(-self._total // distributed_utils.get_data_parallel_world_size())
        rate = self._done / (now - self._begun)
        logger.info(
            "validation BLEU: %d of %d sentences, %.1f/s, %.0f s left",
            self._done,
            share,
            rate,
            max(share - self._done, 0) / rate,
        )
