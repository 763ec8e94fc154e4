"""DABERT's tables: whose rows and columns they have, the paper's figures, and the ablations."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from lab.filled_tables import OVER_SEEDS, cells, fill, format_markdown, parts_of, table_of
from lab.finished_runs import finish

from fairseq_plugins.lab.plan.grid import variant
from fairseq_plugins.lab.results.layouts import labels, layouts
from fairseq_plugins.lab.results.paper_tables import Row, make_tables
from fairseq_plugins.nn.fusion import ABLATIONS

PLAIN, SLA, DABERT = "bert_plain_base", "bert_sla_base", "dabert_base"
GLUE = {"mrpc": 0.8, "qqp": 0.7, "qnli": 0.9, "rte": 0.6}
PARTS = ("affinity", "difference", "guide", "fusion-gate", "filter-gate", "regulation")


def ablated(root, dataset, part, values, arch=DABERT, system=""):
    """Write runs of DABERT without a part."""
    own = {"dataset": dataset, "options": {"arch": arch, "ablate": part}}
    for seed, value in enumerate(values, start=1):
        finish(root, system or variant(arch, "ablate", part), 2e-5, seed, value, **own)


def whole_glue(root, system, tested="valid_mismatched"):
    """Write a run of a system on every dataset of Table 1."""
    for dataset, value in GLUE.items():
        fill(root / dataset, dataset, "accuracy", {system: [value]})
    own = {"options": {"arch": system}}
    mismatched = {"evaluation": {"accuracy": 0.75}, "tested": tested} if tested else {}
    finish(root / "mnli", system, 2e-5, 1, 0.74, dataset="mnli", **own, **mismatched)
    own |= {"best": {"pearson": 0.82, "spearman": 0.81}, "metric": "pearson"}
    finish(root / "sts_b", system, 2e-5, 1, 0.82, dataset="sts_b", **own)


def titles(folders):
    """Return the titles of the tables that are made unasked."""
    return [t.layout.title for t in make_tables(parts_of(folders), "", OVER_SEEDS)]


def title(*names):
    return [layouts()[name].title for name in names]


def test_table_1_has_seven_columns_and_their_mean(tmp_path):
    for system in (PLAIN, DABERT):
        whole_glue(tmp_path, system)
    head, plain, dabert = cells(table_of([tmp_path], "dabert1"))
    assert [name for name in head[3:] if name != "n"] == [
        "MRPC Acc",
        "QQP Acc",
        "STS-B PCC",
        "STS-B SCC",
        "MNLI-m Acc",
        "MNLI-mm Acc",
        "QNLI Acc",
        "RTE Acc",
    ]
    assert (plain[0], dabert[0]) == ("BERT", "DABERT")
    mean = sum([*GLUE.values(), 0.81, 0.74, 0.75]) / 7
    assert dabert[2] == f"{100 * mean:.1f} [85.6]"
    assert dabert[head.index("STS-B PCC")] == "82.00"
    assert dabert[head.index("STS-B SCC")] == "81.00 [88.2]"
    assert dabert[head.index("MNLI-mm Acc")] == "75.00 [84.7]"
    assert plain[head.index("MNLI-m Acc")] == "74.00 [84.3]"
    text = format_markdown(table_of([tmp_path], "dabert1"), OVER_SEEDS)
    assert "[In brackets: Wang et al. (2022), the same size.]" in text


@pytest.mark.parametrize("tested", ["", "test"])
def test_mismatched_genres_stand_there_only_where_they_were_evaluated(tmp_path, tested):
    whole_glue(tmp_path, DABERT, tested)
    head = cells(table_of([tmp_path], "dabert1"))[0]
    assert "MNLI-m Acc" in head
    assert "MNLI-mm Acc" not in head
    assert "Avg." not in head


def test_figures_of_the_paper_agree_with_its_averages():
    layout = layouts()["dabert1"]
    printed = {
        "base": {
            "bimpm": math.nan,
            "cafe": math.nan,
            "esim": math.nan,
            "pair_transformer": 74.53,
            "bert_sembert": 84.90,
            "bert_uer": 84.19,
            "bert_plain": 83.83,
            "bert_syntax_masks": 85.20,
            "dabert": 85.58,
        },
        "large": {"bert_plain": 85.80, "bert_syntax_masks": 87.26, "dabert": 88.12},
    }
    for size, rows in printed.items():
        assert layout.paper[size].keys() == rows.keys()
        for kind, average in rows.items():
            found = layout.paper_average(size, kind)
            assert found == pytest.approx(average, abs=0.011, nan_ok=True)
    assert layout.cited_average("OpenAI GPT") == pytest.approx(77.06, abs=0.011)
    assert math.isnan(layout.paper_average("base", "dabert_literal"))


def test_ablations_have_the_papers_names_and_what_is_worse_is_marked(tmp_path):
    root = tmp_path / "qqp"
    fill(root, "qqp", "accuracy", {DABERT: [0.80, 0.81, 0.82], PLAIN: [0.5, 0.51, 0.52]})
    for k, part in enumerate(PARTS):
        ablated(root, "qqp", part, [0.70 + k / 50 + n / 100 for n in range(3)])
    found = cells(table_of([root], "dabert5"))
    assert [row[0] for row in found[1:]] == [
        "DABERT",
        "w/o Affi-attention",
        "w/o Diff-attention",
        "w/o Guide-attention",
        "w/o Gate fusion",
        "w/o Gate filter",
        "w/o Regulation",
    ]
    scores = [row[2] for row in found[1:]]
    assert scores[:2] == ["81.00 (1.00) [92.1]", "71.00 (1.00) ↓ [90.1]"]
    assert scores[-1] == "81.00 (1.00) [89.9]"
    text = format_markdown(table_of([root], "dabert5"), OVER_SEEDS)
    assert f"↓: worse than DABERT of the same size, p < 0.05, {OVER_SEEDS.name}." in text
    assert "Wang et al. (2022), development sets, the same size" in text


def test_a_better_ablation_is_not_marked(tmp_path):
    fill(tmp_path, "qqp", "accuracy", {DABERT: [0.5, 0.51, 0.52]})
    ablated(tmp_path, "qqp", "guide", [0.8, 0.81, 0.82])
    assert "↓" not in "".join(cells(table_of([tmp_path], "dabert5"))[-1])


def test_ablations_stand_in_their_own_table_alone_on_whatever_dataset(tmp_path):
    fill(tmp_path, "rte", "accuracy", {PLAIN: [0.5], DABERT: [0.6]})
    ablated(tmp_path, "rte", "guide", [0.55])
    assert titles([tmp_path]) == title("dabert1", "dabert5")
    assert [row[0] for row in cells(table_of([tmp_path], "dabert1"))] == [
        "system",
        "BERT",
        "DABERT",
    ]
    five = cells(table_of([tmp_path], "dabert5"))
    assert [row[0] for row in five] == ["system", "DABERT", "w/o Guide-attention"]
    assert five[1][2] == "60.00"  # the paper has no ablations on RTE


def test_every_papers_systems_stand_in_its_own_tables(tmp_path):
    others = {SLA: [0.6], "bert_pos_base": [0.6], "bert_syntax_masks_base": [0.6]}
    fill(tmp_path, "rte", "accuracy", {PLAIN: [0.5], DABERT: [0.7], **others})
    assert titles([tmp_path]) == title("sla2", "syntax2", "dabert1")
    assert [row[0] for row in cells(table_of([tmp_path], "sla2"))[1:]] == [
        "BERT",
        "+ SLA",
        "+ POS",
        "SyntaxBERT",
    ]
    assert [row[0] for row in cells(table_of([tmp_path], "dabert1"))[1:]] == [
        "BERT",
        "+ POS",
        "SyntaxBERT",
        "DABERT",
    ]


def test_a_dataset_that_no_paper_has_shows_all_systems(tmp_path):
    fill(tmp_path, "paws_wiki", "accuracy", {PLAIN: [0.5], SLA: [0.6], DABERT: [0.7]})
    assert titles([tmp_path]) == title("others")
    assert len(cells(table_of([tmp_path], "others"))) == 4


def test_a_table_that_none_of_the_runs_stands_in_is_refused(tmp_path):
    fill(tmp_path, "rte", "accuracy", {PLAIN: [0.5]})
    with pytest.raises(ValueError, match="'dabert5': none of these runs stands in it; .* on rte"):
        make_tables(parts_of([tmp_path]), "dabert5", OVER_SEEDS)


def test_rows_are_told_by_what_was_taken_out_however_it_was_said(tmp_path):
    ablated(tmp_path, "rte", "guide", [0.5], system=DABERT)  # --options ablate=guide
    ablated(tmp_path, "rte", "affinity", [0.5], system="mine")
    ablated(tmp_path, "rte", "guide", [0.5], arch="dabert_literal_base")
    ablated(tmp_path, "rte", "none", [0.5], arch="dabert_large", system="dabert_large")
    (outcomes,) = parts_of([tmp_path])
    (table,) = make_tables([outcomes], "dabert5", OVER_SEEDS)
    assert {(row.size, row.label) for row in table.rows} == {
        ("base", "w/o Guide-attention"),
        ("base", "mine"),
        ("large", "DABERT"),
    }
    assert Row("base", "dabert-ablate-guide") in table.rows
    (table,) = make_tables([outcomes], "dabert1", OVER_SEEDS)
    labels = [row.label for row in table.rows]
    assert labels == ["dabert_literal_base-ablate-guide", "DABERT"]


def test_every_part_that_can_be_taken_out_has_its_row():
    assert {*ABLATIONS} - {"none"} == {*PARTS}
    assert {variant("dabert", "ablate", part) for part in PARTS} <= set(labels())
    script = (Path(__file__).parents[2] / "examples" / "dabert" / "run.sh").read_text()
    assert f"parts={','.join(PARTS)}\n" in script


def test_systems_from_scratch_have_no_size_and_stand_first(tmp_path):
    for system in ("esim", "pair_transformer", "esim_tiny", "bert_sembert_base", PLAIN):
        whole_glue(tmp_path, system)
    found = cells(table_of([tmp_path], "dabert1"))
    assert [row[0] for row in found[1:]] == [
        "ESIM",
        "Transformer",
        "ESIM (tiny)",
        "BERT (base)",
        "SemBERT (base)",
    ]
    place = found[0].index("STS-B SCC")
    assert [row[place] for row in found[1:3]] == ["81.00", "81.00 [73.6]"]
    assert found[3][place] == "81.00"  # the paper's figures are of its size alone
