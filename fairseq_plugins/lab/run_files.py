"""What the files of a run and of an experiment are called, wherever they are written or read."""

from pathlib import Path

USER_DIR = Path(__file__).resolve().parents[1]
# what decides a run, the row of one that ended, why one failed, and what its training said
SETTINGS, RESULT, ERROR, LOG = "settings.json", "result.json", "error.txt", "train.log"
BEST, LAST, PREDICTIONS = "checkpoint_best.pt", "checkpoint_last.pt", "predictions.jsonl"
EVALUATED = "evaluation.jsonl"  # predictions and the metrics of `EVALUATION`
AVERAGE = "checkpoint_average.pt"  # of translation
DESCRIPTION, ROWS = "experiment.json", "rows.jsonl"
AFTER = "after"  # folder of an experiment with what its further steps left
EVALUATION, GENERATED, SCORE = "evaluation.json", "generate.log", "score.json"  # see `of_split`
DONE = "done.json"  # of such a step: its command, and what it was made of


def of_split(name: str, split: str) -> str:
    """Return what a file is called for a split: ``generate.log`` becomes ``generate.test.log``."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{split}.{suffix}"
