"""The robustness table: order, cells, notes, and the paper's figures."""

from __future__ import annotations

import math

import pytest
from lab.filled_tables import cells

from fairseq_plugins.evaluation.example_answers import Answers
from fairseq_plugins.evaluation.robustness import WHOLE, SystemAnswers
from fairseq_plugins.lab.results.robustness_table import PerturbedSet, printed, robustness_table
from fairseq_plugins.targets.table import TARGETS

COUNT = 50


def answers(right):
    gold = [str(i % 2) for i in range(COUNT)]
    predicted = [g if i < right else str(1 - int(g)) for i, g in enumerate(gold)]
    return Answers("x", TARGETS["classes"], list(map(str, range(COUNT))), gold, predicted)


def system(name, arch, *runs, sets=("SwapAnt", "AddPunc"), whole=True, before=True):
    known = {f"{s}.{WHOLE}": answers(45) for s in sets if before}
    known |= {WHOLE: answers(48)} if whole else {}
    made = [known | {s: answers(n) for s in sets} for n in runs]
    return SystemAnswers(name, arch, [f"runs/{name}"] * len(runs), made)


def columns(dataset="snli", names=("AddPunc", "SwapAnt")):
    return [PerturbedSet(name, COUNT, dataset, "test") for name in names]


def table(*systems, **options):
    return robustness_table(
        TARGETS["classes"], options.pop("columns", columns()), systems, **options
    )


BERT = system("BERT", "bert_plain_minilm", 20)
OURS = system("DABERT", "dabert_minilm", 45, 41)


def test_rows_are_systems_and_columns_stand_as_in_the_paper():
    found = table(BERT, OURS)
    assert cells(found) == [
        ["system", "original (n=50)", "SA (n=50)", "AP (n=50)"],
        [
            "BERT",
            "96.00 (1 seed)",
            "40.00 (1 seed · -50.0 · paper 94.84)",
            "40.00 (1 seed · -50.0)",
        ],
        [
            "DABERT",
            "96.00 ± 0.00 (2 seeds)",
            "86.00 ± 5.66 ↑ (2 seeds · -4.0 · p 0.002 · paper 96.85)",
            "86.00 ± 5.66 ↑ (2 seeds · -4.0 · p 0.002)",
        ],
    ]
    assert found.title == "Robustness on snli (test): accuracy in %"
    assert "better or worse than BERT" in found.caption
    assert found.notes == ("SA SwapAnt, AP AddPunc.",)


def test_what_is_not_known_is_not_shown():
    bare = system("BERT", "bert_plain_tiny", 20, whole=False, before=False)
    found = table(bare, columns=columns(""))
    assert cells(found)[1] == ["BERT", "40.00 (1 seed)", "40.00 (1 seed)"]
    assert found.title == "Robustness: accuracy in %"


def test_a_worse_system_is_marked_downwards_and_untested_ones_are_not():
    assert str(cells(table(OURS, BERT))[2]).count("↓") == 2
    assert "↓" not in str(cells(table(OURS, BERT, samples=0)))


def test_sets_of_one_label_and_examples_that_were_not_changed_are_told():
    one = [
        PerturbedSet("SwapAnt", COUNT, only_label="no", untouched=7),
        PerturbedSet("NumWord", COUNT, only_label="no"),
    ]
    found = system("a", "", 20, sets=("SwapAnt", "NumWord"), whole=False)
    first, second, _ = table(found, columns=one).notes
    assert first.startswith("SA, NW: all gold labels are no, so a system that says nothing else")
    assert second == "SA: 7 of its examples are as they were before."


def test_other_sets_stand_behind_by_name():
    names = ("Zeal", "AdvGLUE-rte", "SwapSyn", "SwapAnt")
    found = table(system("a", "", 20, sets=names, whole=False), columns=columns("rte", names))
    assert [head.text for head in found.headings[1:]] == ["SA", "SW", "AdvGLUE-rte", "Zeal"]


def test_the_papers_figures_are_complete():
    for dataset, part in printed().parts.items():
        assert set(part.columns) <= printed().short.keys()
        assert all(len(row) == len(part.columns) for row in part.paper.values()), dataset
        assert all(0 < figure < 100 for row in part.paper.values() for figure in row)
        place = part.columns.index("SwapAnt")
        assert part.paper["dabert"][place] == max(row[place] for row in part.paper.values())


def test_the_papers_figure_is_that_of_dataset_and_architecture():
    for dataset, split, arch, figure in (
        ("qqp", "valid", "dabert", 60.43),
        ("qqp", "valid", "dabert_base", 60.43),
        ("qqp", "valid", "dabert_literal_base", math.nan),
        ("mnli", "valid", "bert_uer_large", 52.29),
        ("mnli", "valid_mismatched", "bert_uer_large", 53.80),
        ("rte", "valid", "dabert", math.nan),
    ):
        column = PerturbedSet("SwapAnt", COUNT, dataset, split)
        assert printed().figure(arch, column) == pytest.approx(figure, nan_ok=True)
