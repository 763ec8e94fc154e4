"""File names of runs and experiments."""

from pathlib import Path

USER_DIR = Path(__file__).resolve().parents[1]
# settings, row, error and training log of a run
SETTINGS, RESULT, ERROR, LOG = "settings.json", "result.json", "error.txt", "train.log"
BEST, LAST, PREDICTIONS = "checkpoint_best.pt", "checkpoint_last.pt", "predictions.jsonl"
EVALUATED = "evaluation.jsonl"  # predictions behind the metrics in `EVALUATION`
AVERAGE = "checkpoint_average.pt"  # of translation
DESCRIPTION, ROWS = "experiment.json", "rows.jsonl"
AFTER = "after"  # folder of an experiment for its steps
EVALUATION, GENERATED, SCORE = "evaluation.json", "generate.log", "score.json"  # see `of_split`
DONE = "done.json"  # of a step: its command and a hash of its inputs


def of_split(name: str, split: str) -> str:
    """Return a file's name for a split: ``generate.log`` becomes ``generate.test.log``."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{split}.{suffix}"
