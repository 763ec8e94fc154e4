"""Prepared folders for every part of the example experiments, made by the commands that the
experiments themselves would run, of invented files in the official formats.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cli.commands import ROOT, run
from raw_datasets import write_raw
from small_wordnet import write_small_wordnet
from squad_files import toy_squad, write_toy_bert

from fairseq_plugins.lab.plan.experiment_file import PlannedPart
from fairseq_plugins.lab.plan.prepare import SQUAD, TRANSLATION
from fairseq_plugins.lab.plan.prepared_data import preparation

EXAMPLES = ROOT / "examples"
SAMPLE = EXAMPLES / "sample_en_de"
PAIRS = {"train": 160, "valid": 12, "test": 12}
CHINESE = ("chnsenticorp", "msra_ner", "cged")


class SmokeData:
    """Raw and prepared folders below one folder; each is made once.

    Args:
        root: of all of them.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bert = write_toy_bert(root / "bert")
        self.wordnet = write_small_wordnet(root / "wordnet")

    def link(self, part: PlannedPart, place: Path) -> None:
        """Make a part's prepared folder, and those of other data, appear below a folder."""
        made = self.prepared(part)
        for folder in (made, *made.parent.glob(f"{made.name}_*")):
            there = place / f"{part.folder}{folder.name.removeprefix(made.name)}"
            there.parent.mkdir(parents=True, exist_ok=True)
            there.symlink_to(folder)

    def prepared(self, part: PlannedPart) -> Path:
        own = [f"{key}-{value}".replace(",", "-") for key, value in part.grid.prepare.items()]
        name = part.name if part.grid.dataset == TRANSLATION else part.grid.dataset
        folder = self.root / "bin" / "-".join([name, *own])[:120]
        if folder.exists():
            return folder
        raw = self._raw(part)
        more = ["--workers", "1"]
        if "similarity" in part.grid.prepare.get("annotations", ""):
            more += ["--wordnet", str(self.wordnet)]
        if part.grid.dataset in CHINESE:
            more += ["--tokenize", "characters"]
        bert = "" if part.grid.dataset == TRANSLATION else str(self.bert)
        for command in preparation(replace(part, data=str(folder)), raw, bert, more):
            run(command[3], *command[4:])
        return folder

    def _raw(self, part: PlannedPart) -> Path:
        folder = self.root / "raw" / (part.raw or part.name)
        if folder.exists():
            return folder
        folder.mkdir(parents=True)
        if part.grid.dataset == SQUAD:
            _write_squad(folder)
        elif part.grid.dataset == TRANSLATION:
            _write_sample(folder, part.grid.prepare)
        elif part.grid.dataset == "tokens":
            _write_demo(part.name.removesuffix("_demo"), folder)
        else:
            write_raw(part.grid.dataset, folder, count=8)
        if part.grid.dataset == "cged":
            for name in ("Input", "Truth"):  # of all years, as the example says
                year = folder / f"CGED16_HSK_Test_{name}.txt"
                (folder / f"test_{name.lower()}.txt").write_bytes(year.read_bytes())
        return folder


def _write_demo(name: str, folder: Path) -> None:
    """Write an invented corpus of words, cut short: blocks of lines with an empty one between."""
    subprocess.run([sys.executable, EXAMPLES / "make_demo.py", name, folder], check=True)
    for path in folder.iterdir():
        blocks = path.read_text(encoding="utf-8").split("\n\n")[:8]
        path.write_text("\n\n".join(blocks).rstrip() + "\n\n", encoding="utf-8")


def _write_squad(folder: Path) -> None:
    """Write SQuAD, and two augmented training sets with every question once more."""
    train, _ = toy_squad(folder, paragraphs=3, dev=2)
    for share in (35, 50):
        text = json.loads(train.read_text())
        for article in text["data"]:
            for paragraph in article["paragraphs"]:
                more = [{**asked, "id": f"{asked['id']}-q"} for asked in paragraph["qas"]]
                paragraph["qas"] += more
        (folder / f"train_{share}.json").write_text(json.dumps(text))


def _write_sample(folder: Path, names: Mapping[str, Any]) -> None:
    """Cut the bundled sample short, under the names that a preparation has for its files."""
    for split, count in PAIRS.items():
        for language in ("en", "de"):
            lines = (SAMPLE / f"{split}.{language}").read_text(encoding="utf-8").splitlines()
            stem = names.get(f"{split}pref", split)
            text = "".join(f"{line}\n" for line in lines[:count])
            (folder / f"{stem}.{language}").write_text(text, encoding="utf-8")
