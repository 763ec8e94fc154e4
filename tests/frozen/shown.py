"""What commands show of the experiments in ``results/``, as cells of tables, lines and pictures.

Only names of commands, their words and their files are used here; how a table is laid out (widths,
rules, attributes) is passed over. Numbers of files are taken with six digits, all else as shown.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from cli.commands import Outcome, differences
from frozen.invented import EXPERIMENTS, unpack
from frozen.workshop import HERE, Workshop

NAMES = {  # of a command here -> today's
    "table": "results table",
    "seeds": "results compare",
    "report": "results page",
    "keep": "results keep",
    "page": "results page",
    "compare": "compare",
}
GONE: tuple[str, ...] = ()  # heads of columns that are no longer shown, by their beginnings
RECORDS = HERE / "results"
CASES = """
table papers: papers --output out/t
table examples: papers/rte papers/cola --layout sla2 dabert5 syntax2 --test examples --samples 100
table settings: papers --layout settings composition others --no-paper --output out/t
table shares: shares --output out/t
table questions: questions --output out/t
seeds cola: papers/cola --output out --samples 200
seeds accuracy: papers/sst2 --samples 200 --metric macro_f1 --baseline bert_wla_tiny --output out
seeds tagging: papers/ner --output out
seeds scores: papers/sts --output out --samples 100
seeds shares: shares/wmt14 --output out --baseline baseline --samples 100
seeds questions: questions/squad --output out --systems bertqa_tiny c2q_q2c_tiny --samples 200
keep cola: papers --output out/kept.jsonl --part cola
keep wnut: papers --output out/kept.jsonl --part wnut
keep shares: shares --output out/kept.jsonl
keep questions: questions --output out/kept.jsonl
report papers: papers --output out/page --samples 100
report shares: shares --output out/page --samples 100
report questions: questions --output out/page --samples 100
compare pairs: RTE/bert_plain_tiny/FIRST RTE/dabert_tiny/FIRST
compare translations: WMT/baseline/LOG WMT/pos/LOG
compare answers: ASKED/plain.json ASKED/ours.json --gold ASKED/dev.json
page: ASKED/claims.yaml --output out/page.md
"""  # record: the words of its command, whose name it begins with
CASES = dict(line.split(": ", 1) for line in CASES.strip().splitlines())
PLACES = {
    "RTE": "papers/rte",
    "FIRST": "lr2e-5-epochs3/seed1/predictions.jsonl",
    "WMT": "shares/wmt14",
    "LOG": "lr0.001-updates40/seed1/generate.test.log",
    "ASKED": "questions",
}
AGAIN = ("cola", "shares")  # kept rows that show what their runs show
_TITLE, _PICTURE = re.compile(r"\*\*(.+)\*\*|#+ (.+)"), re.compile(r"!\[.*?\]\(<?(.*?)>?\)")
_COMMANDS = ("fairseq-", "out/", "```")  # begins of lines that name commands or files
_ESCAPED, _TIME = re.compile(r"\\([^A-Za-z0-9\s])"), re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")


def line_of(name: str) -> list[str]:
    """Return the command of a case, word by word."""
    words = re.sub("[A-Z]{3,}", lambda found: PLACES[found[0]], CASES[name]).split()
    return [next(one for start, one in NAMES.items() if name.startswith(start)), *words]


def show(run: Callable[..., Outcome], name: str) -> dict[str, Any]:
    """Run a case in the folder of the experiments; return what is to be on record."""
    done = run(*line_of(name))
    out, found = Path("out"), {"cells": {}, "lines": []}
    texts = {"": done.out} | {path.name: path.read_text() for path in out.glob("*.md")}
    if done.out in {texts[name] for name in texts if name}:
        del texts[""]
    shown = [of_markdown(text) for text in texts.values()]
    for cells, lines in [*shown, *(of_page(path.read_text()) for path in out.glob("*.html"))]:
        found["cells"] |= cells
        found["lines"] += lines
    for path in sorted(out.glob("*.csv")):
        found["cells"][path.name] = of_csv(path)
    for path in sorted(out.glob("*.jsonl")):
        found["cells"][path.name] = [*map(of_row, path.read_text().splitlines())]
    found["pictures"] = sorted(
        str(path) for path in out.rglob("*.*g") if path.suffix in (".png", ".svg")
    )
    return found


def of_markdown(text: str) -> tuple[dict[str, list[list[str]]], list[str]]:
    """Return title -> cells of every table, and the lines of text between."""
    cells: dict[str, list[list[str]]] = {}
    lines, title = [], ""
    for line in _TIME.sub("TIME", _ESCAPED.sub(r"\1", text)).splitlines():
        if line.startswith("|"):
            row = [cell.strip() for cell in line.strip("|").split(" | ")]
            cells.setdefault(title, []).extend([] if set(line) <= {*"|-: "} else [row])
        elif found := _TITLE.fullmatch(line):
            title = found[1] or found[2]
        elif line.strip() and not line.startswith(_COMMANDS):
            lines.append(_PICTURE.sub(r"picture \1", line.strip()))
    return cells, lines


def of_csv(path: Path) -> list[list[str]]:
    """Return the cells of a file, numbers with six digits."""
    return [[*map(rounded, row)] for row in csv.reader(io.StringIO(path.read_text()))]


def rounded(text: str) -> str:
    """Return a number with six digits, and any other text as it is."""
    return f"{float(text):.6g}" if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", text) else text


def of_row(line: str) -> list[str]:
    """Return which run a kept row is, and of what it has counts."""
    row = json.loads(line)
    counts: dict[str, Any] = {}
    for split, own in row.get("counts", {}).items():
        counts = {"metric": own["metric"], "split": split, **own}
    counts.pop("data", None)
    tried = next((split for split in row["metrics"] if split != "valid"), "")
    run = [row["part"], row["system"], row["seed"], row.get("share", 1.0), row.get("choice", {})]
    return [*map(json.dumps, [*run, tried, row["metrics"]["valid"][row["metric"]], counts])]


class _Page(HTMLParser):
    """The tables of a page and its answers, as they would stand in Markdown."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: dict[str, list[list[str]]] = {}
        self.lines: list[str] = []
        self.rows: list[list[str]] = []
        self.inside: dict[str, dict[str, str]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        own = self.inside[tag] = dict(attrs)
        if own.get("role") == "region":
            self.rows = self.cells.setdefault(own["aria-label"], [])
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside.pop(tag, None)

    def handle_data(self, data: str) -> None:
        cell = self.inside.get("td") or self.inside.get("th")
        if cell is not None and data.strip():
            best = "best" in (cell.get("class") or "") and "main" in str(self.inside.get("span"))
            text = f"({data})" if "small" in self.inside else f"**{data}**" if best else data
            self.rows[-1][-1] = f"{self.rows[-1][-1]} {text}".strip()
        elif "answers" in str(self.inside.get("ul")) and "li" in self.inside:
            self.lines.append(data)


def of_page(text: str) -> tuple[dict[str, list[list[str]]], list[str]]:
    """Return title -> cells of every table of a page, and the sentences that it begins with."""
    page = _Page(_TIME.sub("TIME", text))
    return page.cells, page.lines


def left(cells: list[list[str]]) -> list[list[str]]:
    """Return a table without the columns of `GONE`."""
    places = [n for n, head in enumerate(cells[0]) if not (GONE and head.startswith(GONE))]
    return [[row[n] for n in places if n < len(row)] for row in cells]


def cells_of(name: str) -> Path:
    """Return the file of a record."""
    return RECORDS / "cells" / f"{name.replace(' ', '_')}.json"


def read_cells(name: str) -> dict[str, Any]:
    """Return a record."""
    return json.loads(cells_of(name).read_text(encoding="utf-8"))


def make_results(workshop: Workshop, *, replace: bool) -> int:
    """Make experiments and what is shown of them anew; compare with the record, or replace it."""
    made = {RECORDS / f"{name}.json": make() for name, make in EXPERIMENTS.items()}
    for record in made.values():
        unpack(record, workshop.place)
    os.chdir(workshop.place)
    for name in CASES:
        made[cells_of(name)] = show(_run_here, name)
        shutil.rmtree("out", ignore_errors=True)
    found = []
    for path, body in made.items():
        old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        found += [f"{path.stem}{place}" for place in differences(old, json.loads(json.dumps(body)))]
        if replace:
            path.write_text(f"{_spelt(body, 3 if 'cells' in body else 1)}\n", encoding="utf-8")
    print("\n".join(found) or "as on record")
    return int(bool(found) and not replace)


def _run_here(*words: Any) -> Outcome:
    from fairseq_plugins.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main([part for word in words for part in str(word).split()])
    return Outcome(code, out.getvalue(), "")


def _spelt(body: Any, deep: int) -> str:
    """Return JSON, a line for what lies so deep."""
    if not (deep and body and isinstance(body, (dict, list))):
        return json.dumps(body, ensure_ascii=False)
    if isinstance(body, list):
        return "[" + ",".join(f"\n{_spelt(one, deep - 1)}" for one in body) + "]"
    inner = (f"{json.dumps(key)}: {_spelt(one, deep - 1)}" for key, one in body.items())
    return "{" + ",".join(f"\n{one}" for one in inner) + "}"
