"""Tables over datasets: which runs stand where, what is marked, and how it is laid out."""

from __future__ import annotations

import csv
import math
import statistics
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.example_datasets import dataset_of
from lab.filled_tables import OVER_SEEDS, cells, entry_of, fill, format_markdown, parts_of, table_of
from lab.finished_runs import change_rows, finish

from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.lab.results.compare import EXAMPLES, Significance, welch
from fairseq_plugins.lab.results.layouts import labels, layouts
from fairseq_plugins.lab.results.paper_formats import page_table, paper_table
from fairseq_plugins.lab.results.paper_tables import Row, make_tables
from fairseq_plugins.lab.results.tables import to_csv

PLAIN, WLA, SLA = (f"bert_{kind}_minilm" for kind in ("plain", "wla", "sla"))


@pytest.fixture
def cola(tmp_path):
    """SLA is clearly better than BERT, WLA is not."""
    root = tmp_path / "cola"
    fill(
        root,
        "cola",
        "mcc",
        {PLAIN: [0.25, 0.26, 0.27], WLA: [0.26, 0.25, 0.275], SLA: [0.30, 0.31, 0.32]},
    )
    return root


def test_scores_are_means_over_seeds_and_better_ones_are_marked(cola):
    table = table_of([cola])
    assert len(table.blocks) == 1
    sla, wla, plain = (entry_of(table, f"bert_{kind}") for kind in ("sla", "wla", "plain"))
    (score,) = sla
    assert (score.mean, score.deviation) == (pytest.approx(0.31), pytest.approx(0.01))
    assert score.p == welch([0.25, 0.26, 0.27], [0.30, 0.31, 0.32]).p_value < 0.05
    assert (score.marked, wla[0].marked) == (1, 0)
    assert math.isnan(plain[0].p)
    assert [row.label for row in table.rows] == ["BERT", "+ WLA", "+ SLA"]
    assert cells(table) == [
        ["system", "parameters", "CoLA MCC", "n"],
        ["BERT", "–", "26.00 (1.00) [58.7]", "3"],
        ["+ WLA", "–", "26.17 (1.26) [59.6]", "3"],
        ["+ SLA", "–", "31.00 (1.00) ↑ [60.0]", "3"],
    ]


def test_what_is_worse_or_has_one_seed_is_not_marked(tmp_path):
    fill(tmp_path, "cola", "mcc", {PLAIN: [0.3, 0.31, 0.32], WLA: [0.1, 0.11, 0.12], SLA: [0.9]})
    scores = {score.row.kind: score for score in table_of([tmp_path]).entry(None, 0)}
    assert scores["bert_wla"].p < 0.05
    assert math.isnan(scores["bert_sla"].p)
    assert not any(score.marked for score in scores.values())
    assert cells(table_of([tmp_path]))[-1][2:] == ["90.00 [60.0]", "1"]


def test_whose_size_the_papers_figures_are_is_told(tmp_path):
    for sizes, told in (
        (("minilm",), "base size.]"),
        (("base", "large"), "the same size.]"),
        (("minilm", "base"), "base size.]"),
        (("minilm", "large"), "base size; beside large, the same size.]"),
    ):
        root = tmp_path / "-".join(sizes)
        fill(root, "cola", "mcc", {f"bert_sla_{size}": [0.3] for size in sizes})
        assert f"Li et al. (2020), {told}" in format_markdown(table_of([root]), OVER_SEEDS)


def test_nothing_is_tested_without_bert(tmp_path):
    fill(tmp_path, "cola", "mcc", {SLA: [0.3, 0.31], "bert_plain_base": [0.1, 0.11]})
    text = format_markdown(table_of([tmp_path]), OVER_SEEDS)
    assert "↑" not in text
    assert "No arrows" in text
    assert OVER_SEEDS.name not in text


def test_the_choice_is_made_on_validation_and_the_test_set_is_shown(tmp_path):
    names = [f"entity_{name}" for name in ("precision", "recall", "f1")]
    for seed in (1, 2):
        for system, extra in ((PLAIN, 0.0), (SLA, 0.01)):
            tested = dict(zip(names, (0.5 + extra, 0.3 + extra, 0.4 + seed / 100 + extra)))
            own = {"dataset": "conll2003", "options": {"arch": system}, "metric": names[2]}
            choices = {3: (0.7, 0.9), 4: (0.8, 0.0)} if system == SLA else {0: (0.7, 0.0)}
            for made, (valid, better) in choices.items():
                choice = {"choice": {"tree-threshold": made}} if made else {}
                found = {name: value + better for name, value in tested.items()}
                finish(tmp_path, system, 2e-5, seed, valid, evaluation=found, **own, **choice)
    table = table_of([tmp_path])
    entry = entry_of(table, "bert_sla")
    assert entry[0].setting.choice == (("tree-threshold", 4),)  # though 3 is better on the test set
    assert [score.mean for score in entry] == pytest.approx([0.51, 0.31, 0.425])
    assert (table.blocks[0].split, table.blocks[0].is_tested) == ("test", True)
    text = format_markdown(table, OVER_SEEDS)
    assert "split 'test')" in text
    assert "+ SLA lr 2e-05, 3 epochs, tree-threshold 4" in text
    assert "not every run" not in text
    valid = {"valid": {"entity_f1": 0.7}}
    change_rows(tmp_path, lambda row: row | ({"metrics": valid} if row["seed"] == 2 else {}))
    with pytest.raises(ValueError, match="no metric 'entity_precision'"):  # only F1 in validation
        table_of([tmp_path])


def test_validation_is_shown_where_not_every_run_was_tested(tmp_path):
    best = {name: 0.5 for name in NAMES["word_labels"]}
    for system, tested in ((PLAIN, {"entity_f1": 0.9}), (SLA, None)):
        own = {"dataset": "wnut17", "options": {"arch": system}, "metric": "entity_f1"}
        finish(tmp_path, system, 2e-5, 1, 0.5, evaluation=tested, best=best, **own)
    table = table_of([tmp_path], "others")
    assert (table.blocks[0].split, table.blocks[0].is_tested) == ("valid", False)
    assert "not every run was tried on the test set" in format_markdown(table, OVER_SEEDS)
    assert set(table.scores["mean"]) == {0.5}


def full(tmp_path, sizes=("base",)):
    """Write runs of all datasets of Table 1."""
    names = {"cola": "mcc", "sst2": "accuracy", "conll2003": "entity_f1", "fce": "token_f0.5"}
    for place, (dataset, metric) in enumerate(names.items()):
        for size in sizes:
            for extra, kind in enumerate(("plain", "sla")):
                best = {name: 0.5 for name in NAMES["word_labels"]}
                best[metric] = 0.4 + place / 10 + extra / 100
                own = {"dataset": dataset, "options": {"arch": f"bert_{kind}_{size}"}}
                finish(
                    tmp_path / dataset,
                    f"bert_{kind}_{size}",
                    1e-5,
                    1,
                    0.0,
                    metric=metric,
                    best=best,
                    **own,
                )
    return tmp_path


def test_average_is_of_the_last_metrics_and_only_of_whole_tables(tmp_path):
    root = full(tmp_path)
    table = table_of([root])
    assert cells(table)[0][2] == "Avg."
    assert [row[2] for row in cells(table)[1:]] == ["55.0 [74.6]", "56.0 [75.3]"]
    change_rows(root / "fce", lambda row: None if row["system"].startswith("bert_sla") else row)
    assert [row[2] for row in cells(table_of([root]))[1:]] == ["55.0 [74.6]", "–"]
    assert "Avg." not in cells(table_of([root / "cola", root / "sst2"]))[0]


def test_sizes_are_rows_of_their_own_with_figures_of_their_size(tmp_path):
    table = table_of([full(tmp_path, ("base", "large"))])
    column = cells(table)[0].index("CoLA MCC")
    found = [(row[0], row[column]) for row in cells(table)[1:]]
    assert found == [
        ("BERT (base)", "40.00 [58.7]"),
        ("+ SLA (base)", "41.00 [60.0]"),
        ("BERT (large)", "40.00 [63.9]"),
        ("+ SLA (large)", "41.00 [64.5]"),
    ]
    assert "the same size" in format_markdown(table, OVER_SEEDS)


def test_parameters_are_told_as_the_paper_tells_them(tmp_path):
    counts = {
        "bert_plain_base": 109_483_778,
        "bert_lisa_base": 109_483_778,
        "bert_sgnet_base": 130_747_400,
        "bert_sla_base": 109_483_778 + 9_228,
        "bert_wla_base": 109_483_778 + 2_310,
    }
    for system, parameters in counts.items():
        fill(tmp_path, "cola", "mcc", {system: [0.5]}, parameters=parameters)
    found = {row[0]: row[1] for row in cells(table_of([tmp_path]))[1:]}
    assert found == {
        "BERT": "109.5M",
        "LISA": "109.5M",
        "SGNet": "130.7M",
        "+ SLA": "+0.01M",
        "+ WLA": "+0.0023M",
    }
    lines = list(
        csv.DictReader(to_csv(paper_table(table_of([tmp_path]), OVER_SEEDS).scores).splitlines())
    )
    added = {row["system"]: row["added"] for row in lines}
    assert added["+ SLA"] == "9228"
    assert added["BERT"] == ""


def test_layouts_are_found_by_the_datasets_that_are_there(tmp_path, cola):
    fill(tmp_path / "rte", "rte", "accuracy", {PLAIN: [0.5]})
    fill(tmp_path / "odd", "sick", "accuracy", {PLAIN: [0.5]})
    fill(tmp_path / "glue_demo", "cola", "mcc", {PLAIN: [0.5]})
    (tmp_path / "empty").mkdir()
    assert len(parts_of([tmp_path / "glue_demo"])) == 1  # asked for by its name
    tables = make_tables(parts_of([tmp_path]), "", OVER_SEEDS)
    assert [[b.column.dataset for b in t.blocks] for t in tables] == [["cola"], ["rte"], ["sick"]]
    assert [t.layout.title for t in tables[:2]] == [layouts()[n].title for n in ("sla1", "sla2")]
    with pytest.raises(ValueError, match="'sla3': none of these runs .* on cola, rte, sick"):
        make_tables(parts_of([tmp_path]), "sla3", OVER_SEEDS)
    with pytest.raises(ValueError, match="--layout 'x': choices are sla1, .*, others"):
        make_tables(parts_of([tmp_path]), "x", OVER_SEEDS)
    with pytest.raises(FileNotFoundError, match="none: no such file or folder"):
        parts_of([tmp_path / "none"])


def test_a_table_of_certain_systems_does_not_take_the_dataset_of_others(tmp_path):
    """Runs on `tokens` stand in the last table, unless they are combinations of parts."""
    fill(tmp_path, "tokens", "entity_f1", {"bert_plain_tiny": [0.5, 0.6], "bert_sla_tiny": [0.9]})
    (table,) = make_tables(parts_of([tmp_path]), "", OVER_SEEDS)
    assert [column.dataset for column in table.layout.columns][-1] == "tokens"
    assert entry_of(table, "bert_sla", "tiny", -1) is not None


def test_systems_with_names_of_their_own_have_rows_of_their_own(tmp_path):
    fill(tmp_path, "cola", "mcc", {PLAIN: [0.5, 0.51]})
    finish(tmp_path, "far", 2e-5, 1, 0.6, metric="mcc", dataset="cola", options={"arch": WLA})
    table = table_of([tmp_path])
    assert table.rows == [Row("minilm", "bert_plain"), Row("minilm", "bert_wla", "far")]
    assert cells(table)[-1] == ["far", "–", "60.00", "1"]  # the paper has no such system


def test_runs_that_do_not_go_together_are_refused(tmp_path, cola):
    fill(tmp_path / "again", "cola", "mcc", {SLA: [0.5]})
    with pytest.raises(ValueError, match=r"cola and .*again both hold runs of \+ SLA \(minilm\)"):
        table_of([cola, tmp_path / "again"])
    fill(tmp_path / "other", "cola", "mcc", {"bert_lisa_minilm": [0.5]}, data="else")
    with pytest.raises(ValueError, match="cola and .*other differ in their data"):
        table_of([cola, tmp_path / "other"])
    fill(tmp_path / "base", "cola", "mcc", {"bert_sla_base": [0.5]}, data="else")
    assert len(table_of([cola, tmp_path / "base"]).rows) == 4  # another size, another vocabulary


def test_csv_has_a_line_for_every_score_unrounded(cola):
    table = table_of([cola])
    rows = list(csv.DictReader(to_csv(paper_table(table, OVER_SEEDS).scores).splitlines()))
    cited = [row for row in rows if row["n"] == "0"]
    rows = [row for row in rows if row not in cited]
    assert [row["system"] for row in rows] == ["BERT", "+ WLA", "+ SLA"]
    assert {row["system"]: row["paper"] for row in cited}["T5 (Raffel et al. 2019)"] == "71.6"
    last = rows[-1]
    assert float(last["mean"]) == statistics.fmean([0.30, 0.31, 0.32])
    assert float(last["p"]) == welch([0.25, 0.26, 0.27], [0.30, 0.31, 0.32]).p_value
    assert (last["marked"], last["paper"], last["n"], last["split"]) == ("1", "60.0", "3", "valid")
    assert (rows[0]["p"], rows[0]["parameters"]) == ("", "")
    assert last["folder"] == str(cola / SLA / "lr2e-05-epochs3")


def test_examples_can_be_resampled_in_place_of_seeds(tmp_path):
    for system, right in ((PLAIN, 25), (SLA, 45)):
        own = {"dataset": "toy", "options": {"arch": system}}
        finish(tmp_path, system, 2e-5, 1, right / 50, right=right, **own)
    (table,) = make_tables(parts_of([tmp_path]), "", Significance(EXAMPLES, 200, 1))
    (score,) = entry_of(table, "bert_sla")
    assert score.p < 0.05
    assert score.marked  # with a single seed
    next(tmp_path.glob("bert_sla*/*/*/predictions.jsonl")).unlink()
    (table,) = make_tables(parts_of([tmp_path]), "", Significance(EXAMPLES, 200, 1))
    assert not entry_of(table, "bert_sla")[0].marked


def test_an_arrow_is_of_the_seeds_that_were_tested(tmp_path):
    seeds = {(PLAIN, 2): 25, (SLA, 1): 50, (SLA, 2): 5, (SLA, 3): 50}
    for (system, seed), right in seeds.items():
        own = {"dataset": "toy", "options": {"arch": system}}
        finish(tmp_path, system, 2e-5, seed, right / 50, right=right, **own)
    (table,) = make_tables(parts_of([tmp_path]), "", Significance(EXAMPLES, 200, 1))
    (score,) = entry_of(table, "bert_sla")
    assert score.p < 0.05
    assert not score.marked  # the mean is higher, but the seed of both is lower


def test_figures_are_of_the_size_that_the_paper_prints():
    for name, sizes, told in (
        ("sla1", {"base", "large"}, ""),
        ("sla1", {"minilm"}, "base size"),
        ("sla1", {"minilm", "large"}, "base size; beside large, the same size"),
        ("bertqa3", {"base", "large"}, "large size"),
        ("bertqa3", {"large"}, ""),
    ):
        assert layouts()[name].printed_sizes(sizes) == told


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=6),
    st.lists(st.floats(0, 1), min_size=2, max_size=6),
)
def test_welchs_p_value_is_a_probability_or_nothing(one, other):
    found = welch(one, other).p_value
    assert math.isnan(found) or 0 < found <= 1


def test_layouts_name_datasets_and_metrics_that_exist():
    for layout in layouts().values():
        for column in layout.columns:
            dataset = dataset_of(column.dataset)
            metrics = {*column.metrics.values()} - {*column.optional}
            assert metrics <= set(NAMES[dataset.target])
            assert "test" in dataset.splits or not column.tested
            assert column.split in ("", *dataset.splits)
            for size, kind in ((size, k) for size, rows in layout.paper.items() for k in rows):
                assert kind in labels()
                figures = layout.figures(size, kind, column)
                printed = {metric for metric, figure in figures.items() if not math.isnan(figure)}
                assert printed <= metrics
        assert {*layout.own, *layout.only, layout.baseline} <= set(labels())


def test_figures_of_the_paper_agree_with_its_averages():
    printed = {
        "base": {"lisa": 74.8, "sgnet": 74.8, "plain": 74.6, "wla": 75.0, "sla": 75.3},
        "large": {"lisa": 76.2, "sgnet": 76.6, "plain": 76.9, "wla": 76.6, "sla": 77.4},
    }
    for size, rows in printed.items():
        for kind, average in rows.items():
            found = layouts()["sla1"].paper_average(size, f"bert_{kind}")
            assert abs(found - average) < 0.1001
    for layout in layouts().values():  # F lies between precision and recall
        for size, rows in layout.paper.items():
            for kind, column in product(rows, layout.columns):
                figures = list(layout.figures(size, kind, column).values())
                if len(figures) == 3 and not math.isnan(figures[2]):
                    assert min(figures[:2]) <= figures[2] <= max(figures[:2])


def test_cited_systems_stand_below_with_the_figures_of_what_is_shown(cola):
    table = table_of([cola])
    *_, last = [row for row in cells(table, cited=True) if row not in cells(table)]
    assert last[1:] == ["–", "[60.6]", "–"]
    assert [name.split(" (")[0] for name in table.cited] == [
        "ERNIE 2.0",
        "T5",
        "BERT-base",
        "BERT-large",
    ]  # BERT-GED was tried on FCE alone
    page = page_table(table, OVER_SEEDS)
    assert [cell.detail for cell in page.rows[-1]] == ["cited", "paper 60.6", ""]
    (bare,) = make_tables(parts_of([cola]), "sla1", OVER_SEEDS, paper=False)
    assert not bare.cited
    assert len(cells(bare, cited=True)) == len(cells(table))
