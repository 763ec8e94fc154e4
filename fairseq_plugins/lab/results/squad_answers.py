"""Results of question answering: rows and metrics from the official files of `answer`.

Beside ``predictions.jsonl`` lies the folder ``predictions`` with the official files and
``metrics.json``. The official metrics are in percent; here they are fractions, named as in
fairseq's logs. Metrics at the best threshold in hindsight are named ``tuned_...``.
"""

import json
from pathlib import Path

from ...errors import InputError
from ...evaluation.squad_files import read_json, read_predictions
from ...files import write_text
from ...messages import quoted
from ...text_reading import json_lines

TUNED = "tuned_"
ANSWERS, METRICS = "predictions.json", "metrics.json"
_SETS = {"": "", "has_answer_": "HasAns_", "no_answer_": "NoAns_", TUNED: "best_"}
_PERCENT = {
    f"{ours}{metric}": f"{official}{metric}"
    for ours, official in _SETS.items()
    for metric in ("exact", "f1")
}
_THRESHOLD = "best_f1_thresh"


def folder_of(rows: Path) -> Path:
    """Return the folder of the official files behind rows."""
    return rows.with_suffix("")


def write_rows(rows: Path, examples: Path) -> None:
    """Write one line per question: id, answer and gold answers (empty for none).

    Args:
        rows: the output file; the official files lie in `folder_of` it.
    """
    answers = read_predictions(folder_of(rows) / ANSWERS)
    lines = []
    for number, example in json_lines(examples):
        try:
            name, gold = example["id"], example.get("answers")
            texts = None if gold is None else [one["text"] for one in gold]
            row = {"id": name, "answer": answers[name], "gold": texts}
        except (TypeError, KeyError, AttributeError) as error:
            raise InputError(
                f"{examples}, line {number}: no question with an answer ({error!r})"
            ) from None
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    write_text(rows, "".join(lines))


def metrics_of(folder: Path) -> dict[str, float]:
    """Return the metrics of answers by our names, as fractions; the threshold unchanged."""
    found = read_json(folder / METRICS)
    if not isinstance(found, dict):
        raise InputError(f"{folder / METRICS}: not a JSON object")
    for name in (*_PERCENT.values(), _THRESHOLD):
        if not isinstance(found.get(name, 0), float | int):
            raise InputError(
                f"{folder / METRICS}: key {name!r}: {quoted(found[name])} is no number"
            )
    metrics = {ours: found[name] / 100 for ours, name in _PERCENT.items() if name in found}
    if _THRESHOLD in found:
        metrics["tuned_threshold"] = float(found[_THRESHOLD])
    if "f1" not in metrics:
        raise InputError(f"{folder / METRICS}: no metrics of fairseq-plugins answer")
    return metrics


def tuned_metrics(rows: Path) -> dict[str, float]:
    """Return the metrics at the best threshold in hindsight."""
    found = metrics_of(folder_of(rows))
    return {name: value for name, value in found.items() if name.startswith(TUNED)}


def write_evaluation(rows: Path, split: str, output: Path) -> None:
    """Write the metrics of another split in the format of the other tasks."""
    metrics = metrics_of(folder_of(rows))
    write_text(output, json.dumps({"of": split, "metrics": metrics}, indent=2) + "\n")
