"""Papers' tables: which runs stand where, what is marked, what their cells and files say."""

from __future__ import annotations

import pytest
from lab.filled_tables import cells, column, fill, named, parts_of, table_of, tables_of
from lab.finished_runs import change_rows, finish

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.lab.results.compare import EXAMPLES, Significance
from fairseq_plugins.lab.results.layouts import layouts

PLAIN, WLA, SLA = (f"bert_{kind}_minilm" for kind in ("plain", "wla", "sla"))


@pytest.fixture
def cola(tmp_path):
    """SLA is clearly better than BERT, WLA is not."""
    scores = {PLAIN: [0.25, 0.26, 0.27], WLA: [0.26, 0.25, 0.275], SLA: [0.30, 0.31, 0.32]}
    fill(tmp_path / "cola", "cola", "mcc", scores)
    return tmp_path / "cola"


def test_scores_are_means_over_seeds_and_others_than_the_baselines_are_marked(cola):
    fill(cola, "cola", "mcc", {"bert_lisa_minilm": [0.1, 0.11, 0.12], "bert_sgnet_minilm": [0.9]})
    assert cells(table_of([cola])) == [
        ["system", "parameters", "CoLA (MCC)"],
        ["LISA", "–", "11.00 ± 1.00 ↓ (3 seeds · -15.00 · p < 0.001 · paper 59.8)"],
        ["SGNet", "–", "90.00 (1 seed · +64.00 · paper 59.2)"],
        ["BERT", "–", "26.00 ± 1.00 (3 seeds · paper 58.7)"],
        ["+ WLA", "–", "26.17 ± 1.26 (3 seeds · +0.17 · p 0.867 · paper 59.6)"],
        ["+ SLA", "–", "31.00 ± 1.00 ↑ (3 seeds · +5.00 · p 0.004 · paper 60.0)"],
    ]
    best = [row[0].text for row in table_of([cola]).rows if row[2].is_best]
    assert best == ["SGNet"]


def test_nothing_is_tested_without_bert_of_the_same_size(tmp_path):
    fill(tmp_path, "cola", "mcc", {SLA: [0.3, 0.31], "bert_plain_base": [0.1, 0.11]})
    assert not [cell for row in table_of([tmp_path]).rows for cell in row if cell.mark]


def test_the_choice_is_made_on_validation_and_the_test_set_is_shown(tmp_path):
    names = [f"entity_{name}" for name in ("precision", "recall", "f1")]
    for seed in (1, 2):
        for made, (valid, tested) in {3: (0.7, 0.9), 4: (0.8, 0.4)}.items():
            found = {name: tested + seed / 100 for name in names}
            own = {"dataset": "conll2003", "options": {"arch": SLA}, "metric": names[2]}
            own |= {"choice": {"tree-threshold": made}, "evaluation": found}
            finish(tmp_path, SLA, 2e-5, seed, valid, **own)
    table = table_of([tmp_path])
    assert [one[:5] for one in cells(table)[1][2:]] == ["41.50"] * 3  # though 3 is better on test
    assert "split 'test')" in table.notes[-1]
    assert "+ SLA lr 2e-05, 3 epochs, tree-threshold 4" in table.notes[-1]
    valid = {"valid": {"entity_f1": 0.7}}
    change_rows(tmp_path, lambda row: row | ({"metrics": valid} if row["seed"] == 2 else {}))
    (head, _), table = cells(table_of([tmp_path])), table_of([tmp_path])
    assert head[2:] == ["CoNLL-2003 (F1)"]  # the one metric that validation has
    assert "split 'valid', since not every run was tried on the test set" in table.notes[-1]


def whole(tmp_path, sizes=("base",)):
    names = {"cola": "mcc", "sst2": "accuracy", "conll2003": "entity_f1", "fce": "token_f0.5"}
    for place, (dataset, metric) in enumerate(names.items()):
        for size in sizes:
            for extra, kind in enumerate(("plain", "sla")):
                best = {name: 0.5 for name in NAMES["word_labels"]}
                best[metric] = 0.4 + place / 10 + extra / 100
                own = {"dataset": dataset, "options": {"arch": f"bert_{kind}_{size}"}}
                own |= {"metric": metric, "best": best}
                finish(tmp_path / dataset, f"bert_{kind}_{size}", 1e-5, 1, 0.0, **own)
    return tmp_path


def test_average_is_of_the_last_metrics_and_only_of_whole_tables(tmp_path):
    root = whole(tmp_path)
    found = {"BERT": "55.00 (paper 74.6)", "+ SLA": "56.00 (paper 75.3)"}
    assert column(table_of([root]), "average") == found
    change_rows(root / "fce", lambda row: None if row["system"].startswith("bert_sla") else row)
    assert column(table_of([root]), "average") == found | {"+ SLA": "– (paper 75.3)"}
    assert "average" not in cells(table_of([root / "cola", root / "sst2"]))[0]


def test_sizes_are_rows_of_their_own_with_figures_of_their_size(tmp_path):
    assert column(table_of([whole(tmp_path, ("base", "large"))]), "CoLA (MCC)") == {
        "BERT (base)": "40.00 (1 seed · paper 58.7)",
        "+ SLA (base)": "41.00 (1 seed · +1.00 · paper 60.0)",
        "BERT (large)": "40.00 (1 seed · paper 63.9)",
        "+ SLA (large)": "41.00 (1 seed · +1.00 · paper 64.5)",
    }


def test_layouts_are_found_by_the_systems_that_are_there(tmp_path, cola):
    fill(tmp_path / "rte", "rte", "accuracy", {PLAIN: [0.5]})
    fill(tmp_path / "odd", "sick", "accuracy", {PLAIN: [0.5]})
    fill(tmp_path / "glue_demo", "cola", "mcc", {PLAIN: [0.5]})
    (tmp_path / "empty").mkdir()
    assert len(parts_of([tmp_path / "glue_demo"])) == 1  # asked for by its name
    first, others = tables_of([tmp_path])
    assert first.title == layouts()["sla1"].title
    assert cells(others)[0][2:] == ["rte (accuracy)", "sick (accuracy)"]
    with pytest.raises(InputError, match="'sla3': none of these runs .* on cola, rte, sick"):
        tables_of([tmp_path], "sla3")
    with pytest.raises(FileNotFoundError, match="none: no such file or folder"):
        parts_of([tmp_path / "none"])


def test_systems_with_names_of_their_own_have_rows_of_their_own(tmp_path):
    fill(tmp_path, "cola", "mcc", {PLAIN: [0.5, 0.51]})
    finish(tmp_path, "far", 2e-5, 1, 0.6, metric="mcc", dataset="cola", options={"arch": WLA})
    assert cells(table_of([tmp_path]))[-1] == ["far", "–", "60.00 (1 seed · +9.50)"]  # in no paper


def test_runs_that_do_not_go_together_are_refused(tmp_path, cola):
    fill(tmp_path / "again", "cola", "mcc", {SLA: [0.5]})
    with pytest.raises(InputError, match=r"cola and .*again both hold runs of \+ SLA \(minilm\)"):
        table_of([cola, tmp_path / "again"])
    fill(tmp_path / "other", "cola", "mcc", {"bert_lisa_minilm": [0.5]}, data="else")
    with pytest.raises(InputError, match="rows.jsonl.*key 'data': 'else', of rows before 'abc'"):
        table_of([cola, tmp_path / "other"])
    fill(tmp_path / "base", "cola", "mcc", {"bert_sla_base": [0.5]}, data="else")
    assert len(named(table_of([cola, tmp_path / "base"]))) == 4  # another size, another vocabulary


def test_examples_can_be_resampled_in_place_of_seeds(tmp_path):
    for (system, seed), right in {(PLAIN, 2): 25, (SLA, 1): 50, (SLA, 2): 5, (SLA, 3): 50}.items():
        own = {"dataset": "toy", "options": {"arch": system}}
        finish(tmp_path, system, 2e-5, seed, right / 50, right=right, **own)
    test = Significance(EXAMPLES, 200, 1)
    found = cells(tables_of([tmp_path], "", test)[0])[-1][-1]
    assert found.startswith("70.00 ± 51.96 ↓ (3 seeds · +20.00 · p 0.010 over examples of the se")
    next(tmp_path.glob("bert_sla*/*/seed2/predictions.jsonl")).unlink()
    assert " p " not in cells(tables_of([tmp_path], "", test)[0])[-1][-1]


def test_cited_systems_stand_below_with_the_figures_of_what_is_shown(cola):
    below = [row for row in cells(table_of([cola]), cited=True) if row[0].endswith("(cited)")]
    assert [row[0].split(" (")[0] for row in below] == [
        "ERNIE 2.0",
        "T5",
        "BERT-base",
        "BERT-large",
    ]  # BERT-GED was tried on FCE alone
    assert below[-1][1:] == ["–", "– (paper 60.6)"]
    (bare,) = tables_of([cola], "sla1", paper=False)
    assert len(cells(bare, cited=True)) == 4
    assert "paper" not in str(cells(bare))
