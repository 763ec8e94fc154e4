"""Scores of a data-fraction sweep -> the table of Sundararaman et al. 2019, Table 1."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SYSTEMS = ("baseline", "syntax")


def read_scores(folder: Path) -> list[dict[str, Any]]:
    """Read ``<percent>/<system>/score.json`` below a sweep's folder.

    Returns:
        Rows with ``system``, ``fraction`` in (0, 1], ``score`` (BLEU), ``chrf``, ``sentences``,
        ``lines`` (training pairs), by rising fraction.

    Raises:
        FileNotFoundError: the folder holds no finished run.
    """
    rows = []
    for path in Path(folder).glob("*/*/score.json"):
        percent, system = path.parts[-3:-1]
        if system not in SYSTEMS or not percent.replace(".", "", 1).isdigit():
            continue
        report = json.loads(path.read_text(encoding="utf-8"))
        found = report["systems"][0]
        rows.append(
            {
                "system": system,
                "fraction": float(percent) / 100,
                "score": found["figures"]["bleu"],
                "chrf": found["figures"]["chrf"],
                "signature": found["signatures"]["bleu"],
                "sentences": found["sentences"],
                "reference": report["reference"],
                "lines": _lines(path.parents[1] / "data" / "manifest.json"),
            }
        )
    if not rows:
        raise FileNotFoundError(f"{folder} holds no finished run (no */*/score.json)")
    return sorted(rows, key=lambda row: (row["fraction"], row["system"]))


def _lines(manifest: Path) -> int:
    return json.loads(manifest.read_text(encoding="utf-8"))["splits"]["train"]["lines"]


def format_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the rows as a Markdown table, one fraction a line, with the gain of ``syntax``."""
    out = ["| data | pairs | baseline | syntax-infused | gain |", "|---:|---:|---:|---:|---:|"]
    for fraction in sorted({row["fraction"] for row in rows}):
        here = {row["system"]: row for row in rows if row["fraction"] == fraction}
        scores = [here[s]["score"] if s in here else None for s in SYSTEMS]
        shown = [f"{score:.2f}" if score is not None else "–" for score in scores]
        gain = f"{scores[1] - scores[0]:+.2f}" if None not in scores else "–"
        lines = next(iter(here.values()))["lines"]
        out.append(f"| {fraction * 100:g} % | {lines} | {shown[0]} | {shown[1]} | {gain} |")
    signatures = sorted({row["signature"] for row in rows})
    sentences = sorted({row["sentences"] for row in rows})
    references = sorted({row["reference"] for row in rows})
    out.append("")
    out.append(f"references: {', '.join(references)}")
    out.append(f"sacreBLEU {', '.join(signatures)}; {', '.join(map(str, sentences))} sentences")
    return "\n".join(out) + "\n"
