"""The layouts of the papers: whose rows and columns they have, and the papers' figures."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from statistics import fmean

import pytest
from lab.example_datasets import dataset_of
from lab.filled_tables import cells, column, fill, named, table_of, tables_of
from lab.finished_runs import finish

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.lab.plan.grid import variant
from fairseq_plugins.lab.results.layouts import labels, layouts
from fairseq_plugins.nn.fusion import ABLATIONS

PLAIN, SLA, DABERT = "bert_plain_base", "bert_sla_base", "dabert_base"
GLUE = {"mrpc": 0.8, "qqp": 0.7, "qnli": 0.9, "rte": 0.6}
TAKEN = ("affinity", "difference", "guide", "fusion-gate", "filter-gate", "regulation")
KINDS = layouts()["composition"].own
PARTS = ("pos", "sla", "dual", "coattention")


def ablated(root, part, values, arch=DABERT, system="", dataset="rte"):
    """Write runs of DABERT without a part."""
    own = {"dataset": dataset, "options": {"arch": arch, "ablate": part}}
    for seed, value in enumerate(values, start=1):
        finish(root, system or variant(arch, "ablate", part), 2e-5, seed, value, **own)


def whole_glue(root, system, tested="valid_mismatched"):
    """Write a run of a system on every dataset of DABERT's Table 1."""
    for dataset, value in GLUE.items():
        fill(root / dataset, dataset, "accuracy", {system: [value]})
    own = {"options": {"arch": system}}
    mismatched = {"evaluation": {"accuracy": 0.75}, "tested": tested} if tested else {}
    finish(root / "mnli", system, 2e-5, 1, 0.74, dataset="mnli", **own, **mismatched)
    own |= {"best": {"pearson": 0.82, "spearman": 0.81}, "metric": "pearson"}
    finish(root / "sts_b", system, 2e-5, 1, 0.82, dataset="sts_b", **own)


def titles(root):
    return [table.title for table in tables_of([root])]


def title(*names):
    return [layouts()[name].title for name in names]


def average(name, size, kind):
    figures = layouts()[name].figures(size, kind)
    return fmean(figures[one.places[-1]] for one in layouts()[name].columns)


def test_layouts_name_datasets_and_metrics_that_exist():
    pairs = ((layout, one) for layout in layouts().values() for one in layout.columns)
    for layout, one in pairs:
        dataset = dataset_of(one.dataset)
        metrics = {name for name in one.metrics.values() if not name.startswith("tuned_")}
        assert metrics <= set(NAMES[dataset.target.name])
        assert "test" in dataset.splits or not one.tested
        assert one.split in ("", *dataset.splits)
        for size, kind in ((size, k) for size, rows in layout.paper.items() for k in rows):
            figures = [layout.figures(size, kind)[place] for place in one.places]
            if len(figures) == 3 and not math.isnan(figures[2]):  # F: between precision and recall
                assert min(figures[:2]) <= figures[2] <= max(figures[:2])


@pytest.mark.parametrize(
    ("name", "size", "averages", "rounding"),
    [
        ("sla1", "base", "lisa 74.8 sgnet 74.8 plain 74.6 wla 75.0 sla 75.3", 0.1001),
        ("sla1", "large", "lisa 76.2 sgnet 76.6 plain 76.9 wla 76.6 sla 77.4", 0.1001),
        ("syntax2", "base", "plain 79.6 pos 79.7", 0.0501),  # MNLI counts twice
        ("dabert1", "base", "sembert 84.90 uer 84.19 plain 83.83 syntax_masks 85.20", 0.011),
        ("dabert1", "large", "plain 85.80 syntax_masks 87.26", 0.011),
    ],
)
def test_figures_of_the_papers_agree_with_their_averages(name, size, averages, rounding):
    words = averages.split()
    for kind, printed in zip(words[::2], words[1::2]):
        assert abs(average(name, size, f"bert_{kind}") - float(printed)) < rounding


def test_the_two_mnli_columns_and_both_correlations_stand_with_their_own_figures(tmp_path):
    whole_glue(tmp_path, DABERT)
    row = dict(zip(*cells(table_of([tmp_path], "dabert1"))))
    mean = sum([*GLUE.values(), 0.81, 0.74, 0.75]) / 7
    assert row["average"] == f"{100 * mean:.2f} (paper 85.6)"
    assert row["STS-B (PCC)"] == "82.00 (1 seed)"
    assert row["STS-B (SCC)"] == "81.00 (1 seed · paper 88.2)"
    assert row["MNLI-m (Acc)"] == "74.00 (1 seed · paper 84.9)"
    assert row["MNLI-mm (Acc)"] == "75.00 (1 seed · paper 84.7)"


@pytest.mark.parametrize("tested", ["", "test"])
def test_mismatched_genres_stand_there_only_where_they_were_evaluated(tmp_path, tested):
    whole_glue(tmp_path, DABERT, tested)
    head = cells(table_of([tmp_path], "dabert1"))[0]
    assert "MNLI-m (Acc)" in head
    assert not {"MNLI-mm (Acc)", "average"} & {*head}


def test_ablations_have_the_papers_names_and_are_compared_with_the_whole(tmp_path):
    scores = {DABERT: [0.80, 0.81, 0.82], PLAIN: [0.5, 0.51, 0.52]}
    fill(tmp_path, "qqp", "accuracy", scores)
    for k, part in enumerate(TAKEN):
        ablated(tmp_path, part, [0.70 + k / 50 + n / 100 for n in range(3)], dataset="qqp")
    table = table_of([tmp_path], "dabert5")
    found = column(table, "QQP (Acc)")
    assert list(found)[::6] == ["DABERT", "w/o Regulation"]
    told = "71.00 ± 1.00 ↓ (3 seeds · -10.00 · p < 0.001 · paper 90.1)"
    assert found["w/o Affi-attention"] == told
    assert found["w/o Regulation"] == "81.00 ± 1.00 (3 seeds · +0.00 · p 1.000 · paper 89.9)"
    assert "gained over DABERT of the same size" in table.caption


def test_every_papers_systems_stand_in_its_own_tables(tmp_path):
    others = {SLA: [0.6], "bert_pos_base": [0.6], "bert_syntax_masks_base": [0.6]}
    fill(tmp_path, "rte", "accuracy", {PLAIN: [0.5], DABERT: [0.7], **others})
    ablated(tmp_path, "guide", [0.55])
    assert titles(tmp_path) == title("sla2", "syntax2", "dabert1", "dabert5")
    for name, shown in {
        "sla2": ["BERT", "+ SLA", "+ POS", "SyntaxBERT"],
        "syntax2": ["BERT", "+ POS"],
        "dabert1": ["BERT", "+ POS", "SyntaxBERT", "DABERT"],
        "dabert5": ["DABERT", "w/o Guide-attention"],
    }.items():
        assert named(table_of([tmp_path], name)) == shown
    fill(tmp_path / "paws", "paws_wiki", "accuracy", {PLAIN: [0.5], SLA: [0.6], DABERT: [0.7]})
    assert named(table_of([tmp_path / "paws"], "others")) == ["BERT", "+ SLA", "DABERT"]


def test_rows_are_told_by_what_was_taken_out_however_it_was_said(tmp_path):
    ablated(tmp_path, "guide", [0.5], system=DABERT)  # --options ablate=guide
    ablated(tmp_path, "affinity", [0.5], system="mine")
    ablated(tmp_path, "guide", [0.5], arch="dabert_literal_base")
    ablated(tmp_path, "none", [0.5], arch="dabert_large", system="dabert_large")
    rows = ["w/o Guide-attention (base)", "mine (base)", "DABERT (large)"]
    assert sorted(named(table_of([tmp_path], "dabert5"))) == sorted(rows)
    rows = ["dabert_literal_base-ablate-guide (base)", "DABERT (large)"]
    assert named(table_of([tmp_path], "dabert1")) == rows


def test_every_part_that_can_be_taken_out_has_its_row():
    assert {*ABLATIONS} - {"none"} == {*TAKEN}
    assert {variant("dabert", "ablate", part) for part in TAKEN} <= set(labels())
    script = (Path(__file__).parents[2] / "examples" / "dabert" / "run.sh").read_text()
    assert f"parts={','.join(TAKEN)}\n" in script


def test_systems_from_scratch_have_no_size_and_stand_first(tmp_path):
    for system in ("esim", "pair_transformer", "esim_tiny", "bert_sembert_base", PLAIN):
        whole_glue(tmp_path, system)
    found = column(table_of([tmp_path], "dabert1"), "STS-B (SCC)")
    rows = ["ESIM", "Transformer", "ESIM (tiny)", "BERT (base)", "SemBERT (base)"]
    assert list(found) == rows
    assert [found[one].count("paper 73.6") for one in rows] == [0, 1, 0, 0, 0]


def composed(root, **scores):
    """Write runs of systems called after their parts."""
    for (name, values), seed in product(scores.items(), (1, 2)):
        own = {"dataset": "rte", "options": {"arch": "bert_plain_minilm"}}
        own |= {"parameters": 10**7 + 1000 * name.count("_")}
        finish(root, f"{name}_minilm", 5e-5, seed, values[seed - 1], metric="accuracy", **own)


def test_every_combination_has_its_row_and_is_compared_with_the_plain_one(tmp_path):
    scores = {name: (0.5, 0.51) for name in KINDS if "coattention" not in name}
    composed(tmp_path, **{**scores, "pos_sla_dual": (0.7, 0.71)})
    assert titles(tmp_path) == title("composition")
    table = table_of([tmp_path], "composition")
    found = column(table, "RTE (Acc)")
    assert [label for label, cell in found.items() if "↑" in cell] == ["+ POS, SLA, dual attention"]
    assert len(found) == 8
    added = column(table, "parameters")["+ POS, SLA, dual attention"]
    assert added == "10.00M (+0.002M)"


def test_names_of_combinations_are_all_subsets_and_take_no_other_kinds_name():
    assert len(KINDS) == 2 ** len(PARTS)
    assert not {kind for one in layouts().values() if one.own != KINDS for kind in one.own} & {
        *KINDS
    }
    for kind in KINDS[1:]:
        assert labels()[kind].count(",") == kind.count("_")


def test_runs_on_a_share_of_the_data_stand_in_no_papers_table(tmp_path):
    fill(tmp_path, "rte", "accuracy", {PLAIN: [0.5]})
    own = {"dataset": "rte", "share": 0.1, "options": {"arch": "bert_pos_base"}}
    finish(tmp_path, "bert_pos_base", 5e-5, 1, 0.9, **own)
    assert named(table_of([tmp_path], "syntax2")) == ["BERT"]


def test_a_dataset_whose_runs_have_none_of_its_metrics_is_not_lost_without_a_word(tmp_path):
    fill(tmp_path / "mrpc", "mrpc", "accuracy", {PLAIN: [0.8], DABERT: [0.9]})
    fill(tmp_path / "rte", "rte", "mcc", {PLAIN: [0.5], DABERT: [0.6]})
    with pytest.raises(InputError, match=r"rte.*: no metric 'accuracy'; choices: loss, mcc"):
        tables_of([tmp_path], "dabert1")


def test_a_metric_that_one_run_lacks_is_named_below_the_table(tmp_path):
    fill(tmp_path / "sts_b", "sts_b", "pearson", {PLAIN: [0.8], DABERT: [0.9]})
    (table,) = tables_of([tmp_path], "dabert1")
    assert any("not every run has spearman" in note for note in table.notes)
