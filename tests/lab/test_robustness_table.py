"""The robustness table: order, cells, notes, and the paper's figures."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

from fairseq_plugins.evaluation.example_answers import Answers
from fairseq_plugins.evaluation.robustness import WHOLE, SystemAnswers
from fairseq_plugins.lab.results.robustness_table import (
    PerturbedSet,
    format_csv,
    format_json,
    format_markdown,
    make_table,
    printed,
)

COUNT = 50


def answers(right):
    gold = [str(i % 2) for i in range(COUNT)]
    predicted = [g if i < right else str(1 - int(g)) for i, g in enumerate(gold)]
    return Answers("x", "classes", list(map(str, range(COUNT))), gold, predicted)


def system(name, arch, *runs, sets=("SwapAnt", "AddPunc"), whole=True, before=True):
    known = {f"{s}.{WHOLE}": answers(45) for s in sets if before}
    known |= {WHOLE: answers(48)} if whole else {}
    made = [known | {s: answers(n) for s in sets} for n in runs]
    return SystemAnswers(name, arch, [f"runs/{name}"] * len(runs), made)


def columns(dataset="snli", names=("AddPunc", "SwapAnt")):
    return [PerturbedSet(name, COUNT, dataset, "test", f"sets/{name}") for name in names]


def table(*systems, **options):
    return make_table("classes", options.pop("columns", columns()), systems, **options)


BERT = system("BERT", "bert_plain_minilm", 20)
OURS = system("DABERT", "dabert_minilm", 45, 41)


def test_rows_are_systems_and_columns_stand_as_in_the_paper():
    text = format_markdown(table(BERT, OURS))
    lines = text.splitlines()
    assert lines[0] == "**Robustness on snli (test): accuracy × 100**"
    assert lines[2] == "| system | runs | original (n=50) | SA (n=50) | AP (n=50) |"
    assert lines[4] == "| BERT | 1 | 96.00 | 40.00 (-50.0) [94.84] | 40.00 (-50.0) |"
    assert lines[5].startswith("| DABERT | 2 | 96.00 ± 0.00 | 86.00 ± 5.66 (-4.0) ↑ [96.85] |")
    assert "±: standard deviation over runs." in text
    assert "better or worse than BERT" in text
    assert "SA SwapAnt, AP AddPunc." in text


def test_what_is_not_known_is_not_shown():
    bare = system("BERT", "bert_plain_tiny", 20, whole=False, before=False)
    text = format_markdown(table(bare, columns=columns("")))
    assert "| BERT | 1 | 40.00 | 40.00 |" in text
    assert "what they were before is not known" in text
    for absent in ("±", "↑", "[", "original:"):
        assert absent not in text
    assert text.startswith("**Robustness: accuracy")


def test_a_worse_system_is_marked_downwards_and_untested_ones_are_not():
    row = format_markdown(table(OURS, BERT)).splitlines()[5]
    assert row.count("↓") == 2
    assert "↓" not in format_markdown(table(OURS, BERT, samples=0))


def test_sets_of_one_label_are_told():
    one = [
        PerturbedSet("SwapAnt", COUNT, only_label="no"),
        PerturbedSet("NumWord", COUNT, only_label="no"),
    ]
    found = system("a", "", 20, sets=("SwapAnt", "NumWord"), whole=False)
    text = format_markdown(table(found, columns=one))
    assert "SA, NW: all gold labels are no, so a system that says nothing else has 100, " in text
    assert "all gold labels" not in format_markdown(table(BERT))


def test_examples_that_were_not_changed_are_told():
    one = [PerturbedSet("SwapAnt", COUNT, untouched=7), PerturbedSet("AddPunc", COUNT)]
    found = system("a", "", 20, whole=False)
    text = format_markdown(table(found, columns=one))
    assert "SA: 7 of its examples are as they were before." in text
    assert "AP: " not in text


def test_other_sets_stand_behind_by_name():
    names = ("Zeal", "AdvGLUE-rte", "SwapSyn", "SwapAnt")
    one = system("a", "", 20, sets=names, whole=False)
    head = format_markdown(table(one, columns=columns("rte", names))).splitlines()[2]
    heads = [cell.split(" (")[0].strip() for cell in head.strip("|").split("|")[2:]]
    assert heads == ["SA", "SW", "AdvGLUE-rte", "Zeal"]


def test_csv_and_json_hold_every_cell_unrounded():
    found = table(BERT, OURS)
    rows = list(csv.DictReader(io.StringIO(format_csv(found))))
    body = json.loads(format_json(found))
    assert len(rows) == len(body["cells"]) == 2 * 3
    ours = next(row for row in rows if (row["system"], row["set"]) == ("DABERT", "SwapAnt"))
    assert float(ours["score"]) == pytest.approx(0.86)
    assert float(ours["change"]) == pytest.approx(-0.04)
    assert float(ours["paper"]) == 96.85
    assert ours["source"] == "sets/SwapAnt"
    first = next(row for row in rows if (row["system"], row["set"]) == ("BERT", "AddPunc"))
    assert first["deviation"] == first["difference"] == first["p"] == first["paper"] == ""
    assert body["systems"][1]["checkpoints"] == ["runs/DABERT"] * 2
    assert body["metric"] == "accuracy"


def test_the_papers_figures_are_complete():
    for part in printed().parts:
        dataset, names, rows = part.dataset, part.columns, part.paper
        assert set(names) <= printed().short.keys()
        assert all(len(row) == len(names) for row in rows.values()), dataset
        best = rows["dabert"]
        assert all(0 < figure < 100 for row in rows.values() for figure in row)
        assert best[names.index("SwapAnt")] == max(
            row[names.index("SwapAnt")] for row in rows.values()
        )


@pytest.mark.parametrize(
    ("dataset", "split", "arch", "figure"),
    [
        ("qqp", "valid", "dabert", 60.43),
        ("qqp", "valid", "dabert_base", 60.43),
        ("qqp", "valid", "dabert_literal_base", math.nan),
        ("mnli", "valid", "bert_uer_large", 52.29),
        ("mnli", "valid_mismatched", "bert_uer_large", 53.80),
        ("rte", "valid", "dabert", math.nan),
        ("qqp", "valid", "", math.nan),
    ],
)
def test_the_papers_figure_is_that_of_dataset_and_architecture(dataset, split, arch, figure):
    column = PerturbedSet("SwapAnt", COUNT, dataset, split)
    assert printed().figure(arch, column) == pytest.approx(figure, nan_ok=True)
