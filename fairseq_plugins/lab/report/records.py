"""What a folder of runs holds: experiments, their parts, their runs, finished or not.

An experiment's folder has ``experiment.json`` and ``rows.jsonl``; folders of runs without them are
read as one experiment whose parts are the folders. What cannot be read is told of and passed over,
since a report is also made while runs are writing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..results.outcomes import Setting, share_of
from ..results.split_files import evaluation_of
from ..run_files import DESCRIPTION, LOG, RESULT, ROWS, SETTINGS
from ..safe_files import inner_folders, is_below, is_file, parse_json, read_text, run_folders

FINISHED, FAILED, UNFINISHED = "finished", "failed", "unfinished"
TRANSLATION = "translation"
_INVENTED = ("_demo", "_smoke")  # ends of the folders of invented corpora: in nobody's table

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class RunRecord:
    """A run.

    Args:
        part: it belongs to.
        setting, seed: which run.
        folder: where it lies.
        status: `FINISHED`, `FAILED` or `UNFINISHED`.
        metric: that chooses its checkpoint.
        validation: split that it is computed on.
        updates: in all; 0 if nothing tells.
        best: metrics at its best validation; empty until it is finished.
        evaluated: split that its best checkpoint was tried on; may be empty.
        evaluation: metrics there.
        facts: all that its files say.
    """

    part: str
    setting: Setting
    seed: int
    folder: Path
    status: str
    metric: str
    validation: str
    updates: int
    best: Mapping[str, float]
    evaluated: str
    evaluation: Mapping[str, float]
    facts: Facts

    @property
    def title(self) -> str:
        """What it is called in lists."""
        return " · ".join(self.names)

    @property
    def names(self) -> tuple[str, str]:
        """What it is called: its part and system; its setting and seed."""
        part = f"{self.part} · " if self.part != "." else ""
        return part + self.setting.system, f"{self.setting.values} · seed {self.seed}"

    @property
    def log(self) -> Path:
        """Its training log."""
        return self.folder / LOG

    @property
    def options(self) -> Facts:
        """Of its training."""
        found = self.facts.get("options")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Part:
    """A dataset of an experiment; `folder` is that of its runs."""

    name: str
    folder: Path
    dataset: str = ""


@dataclass(frozen=True)
class Experiment:
    """An experiment with all its runs; `facts` is what its file says."""

    folder: Path
    parts: list[Part]
    records: list[RunRecord]
    facts: Facts = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What it is."""
        return str(self.facts.get("title") or self.facts.get("name") or self.folder.resolve().name)

    @property
    def tables(self) -> list[str]:
        """The layouts that it is to be shown in; empty for all that fit."""
        names = self.facts.get("tables")
        return [str(name) for name in names] if isinstance(names, list) else []

    @property
    def planned(self) -> int:
        """Number of runs of its plan; 0 where nothing tells."""
        runs = self.facts.get("runs")
        return len(runs) if isinstance(runs, list) else 0

    def of(self, part: Part) -> list[RunRecord]:
        """Return the runs of a part."""
        return [record for record in self.records if record.part == part.name]


def read_experiments(root: str | Path, remarks: list[str]) -> list[Experiment]:
    """Read an experiment's folder, or all in a folder.

    Args:
        root: the folder.
        remarks: what could not be read is added, a line each.

    Raises:
        FileNotFoundError: there is no experiment and no run.
    """
    root = Path(root)
    if not root.is_dir():
        raise FileNotFoundError(f"{root}: no such folder")
    if is_file(root / DESCRIPTION):
        return [_described(root, remarks)]
    inner = inner_folders(root, remarks.append)
    described = [path for path in inner if is_file(path / DESCRIPTION)]
    found = [_described(path, remarks) for path in described]
    plain = [path for path in (root, *inner) if path not in described and _has_runs(path)]
    demos = [path for path in plain if is_invented(path) and path != root]
    found += [_plain(path, [path], remarks) for path in demos]
    plain = [path for path in plain if path not in demos]
    found += [_plain(root, plain, remarks)] if plain else []
    if not found:
        raise FileNotFoundError(
            f"{root}: no experiment and no run (no {DESCRIPTION}, no */*/*/{SETTINGS})"
        )
    return found


def is_invented(folder: Path) -> bool:
    """Tell whether the corpora of runs only have the form of the datasets that they name."""
    return folder.resolve().name.endswith(_INVENTED)


def _has_runs(folder: Path) -> bool:
    return bool(run_folders(folder, RESULT, SETTINGS, tell=lambda _: None))


def _described(folder: Path, remarks: list[str]) -> Experiment:
    """Read an experiment by its description; a broken one as a plain folder."""
    facts = _json(folder / DESCRIPTION, remarks)
    parts = [_part(part, folder, remarks) for part in _items(facts.get("parts"))]
    parts = [part for part in parts if part]
    if not parts:
        inner = inner_folders(folder, remarks.append)
        plain = [path for path in (folder, *inner) if _has_runs(path)]
        return _plain(folder, plain, remarks, facts)
    rows = list(_rows(folder / ROWS, remarks))
    records = [record for part in parts for record in _records(folder, part, rows, remarks)]
    return Experiment(folder, parts, _in_order(records, rows, folder), facts)


def _items(value: Any) -> list[Facts]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _part(facts: Facts, root: Path, remarks: list[str]) -> Part | None:
    """Return a part as the description has it; None where its folder is not within."""
    folder = root / str(facts.get("folder", facts.get("name", "")))
    if not is_below(root, folder):
        remarks.append(f"{root / DESCRIPTION}: passed over a part that lies outside: {folder}")
        return None
    return Part(str(facts.get("name") or folder.name), folder, str(facts.get("dataset") or ""))


def _plain(
    root: Path, folders: list[Path], remarks: list[str], facts: Facts | None = None
) -> Experiment:
    """Read folders of runs that nothing describes."""
    parts, records = [], []
    for folder in folders:
        part = Part("." if folder == root else folder.name, folder)
        runs = list(_records(root, part, [], remarks))
        dataset = str(runs[0].facts.get("dataset") or "") if runs else ""
        parts.append(Part(part.name, folder, dataset))
        records += runs
    return Experiment(root, parts, records, facts or {})


def _records(root: Path, part: Part, rows: list[Facts], remarks: list[str]) -> Iterator[RunRecord]:
    """Yield the runs of a part: those in its folder, and those that only a row tells of."""
    told = {root / str(row.get("folder", "")): row for row in rows if row.get("part") == part.name}
    for folder in [folder for folder in told if not is_below(root, folder)]:
        remarks.append(f"{root / ROWS}: passed over a run that lies outside: {folder}")
        del told[folder]
    inside = set(run_folders(part.folder, RESULT, SETTINGS, tell=remarks.append))
    for folder in sorted({*inside, *told}):
        row = told.get(folder, {})
        done = is_file(folder / RESULT)
        facts = _json(folder / (RESULT if done else SETTINGS), remarks) if folder in inside else {}
        tried = evaluation_of(folder, facts)
        if done and not row and is_file(tried):
            tried = _json(tried, remarks)
            facts = {**facts, "evaluated": tried.get("of"), "evaluation": tried.get("metrics")}
        status = str(row.get("status") or (FINISHED if done else UNFINISHED))
        facts = {**facts, **{key: value for key, value in row.items() if value is not None}}
        if not facts:  # its file could not be read, of which there is a remark
            continue
        try:
            yield _record(part.name, folder, status, facts)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            remarks.append(f"{folder}: passed over, its files say nothing of a run ({error!r})")


def _record(part: str, folder: Path, status: str, facts: Facts) -> RunRecord:
    """Make a run of what its files say.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: they say something else.
    """
    options = facts.get("options") or {}
    epochs, updates = int(facts.get("epochs") or 0), int(facts.get("updates") or 0)
    rate, count = facts.get("learning_rate"), int(facts.get("parameters") or 0)
    setting = Setting(
        str(facts["system"]),
        math.nan if rate is None else float(rate),
        epochs,
        tuple((str(name), value) for name, value in (facts.get("choice") or {}).items()),
        share_of(facts.get("fraction")),
        0 if epochs else updates,
    )
    hash(setting)  # fails for a choice of lists
    return RunRecord(
        part,
        setting,
        int(facts["seed"]),
        folder,
        status,
        metric=str(facts.get("metric") or ""),
        validation=str(facts.get("validation") or "valid"),
        updates=int(options.get("max-update") or updates),
        best=_numbers(facts.get("best")),
        evaluated=str(facts.get("evaluated") or ""),
        evaluation=_numbers(facts.get("evaluation")),
        facts={**facts, "parameters": count},
    )


def _numbers(metrics: Any) -> dict[str, float]:
    found = metrics.items() if metrics else ()
    return {str(name): float(v) for name, v in found if isinstance(v, (int, float))}


def _in_order(records: list[RunRecord], rows: list[Facts], root: Path) -> list[RunRecord]:
    """Sort runs as the plan does; those that it does not tell of come last."""
    places = {root / str(row.get("folder", "")): number for number, row in enumerate(rows)}
    return sorted(records, key=lambda record: places.get(record.folder, len(places)))


def _json(path: Path, remarks: list[str]) -> dict[str, Any]:
    """Read an object; an empty one, with a remark, where there is none."""
    try:
        found = parse_json(read_text(path))
        if isinstance(found, dict):
            return found
        remarks.append(f"{path}: passed over, not a JSON object")
    except (OSError, ValueError):
        remarks.append(f"{path}: passed over, it cannot be read as JSON")
    return {}


def _rows(path: Path, remarks: list[str]) -> Iterator[Facts]:
    """Yield the rows of a file; one remark about all that are none."""
    broken = []
    text = read_text(path, errors="replace") if is_file(path) else ""
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            row = parse_json(line) if line.strip() else {}
        except ValueError:
            row = None
        if isinstance(row, dict):
            yield from [row] if row else []
        else:
            broken.append(number)
    if broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        remarks.append(f"{path}, line {broken[0]}{more}: passed over, not a row")
