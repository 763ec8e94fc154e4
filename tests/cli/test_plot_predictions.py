"""``plot predictions``: from files of predictions to scores and figures."""

from __future__ import annotations

import json

import pytest

from fairseq_plugins.cli.main import main


@pytest.fixture
def file(tmp_path):
    """Write predictions: pairs of gold and answer."""

    def write(name, pairs, **more):
        rows = [
            {"id": str(i), "label": said, "probabilities": {"no": 0.4, "yes": 0.6}, "gold": gold}
            for i, (gold, said) in enumerate(pairs)
        ]
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row | more)}\n" for row in rows))
        return str(path)

    return write


def test_systems_have_scores_and_figures(file, tmp_path, capsys):
    first = file("a.jsonl", [("no", "no"), ("yes", "no")])
    files = [first, f"B={file('b.jsonl', [('no', 'no'), ('yes', 'yes')])}"]
    assert main(["plot", "predictions", *files, "--output", str(tmp_path / "out" / "x")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a"
    assert [line.split() for line in lines[5:9]] == [
        ["B"],
        ["label", "precision", "recall", "f1", "support"],
        ["no", "1.0000", "1.0000", "1.0000", "1"],
        ["yes", "1.0000", "1.0000", "1.0000", "1"],
    ]
    kinds = [f"x_{kind}.{form}" for kind in ("confusion", "reliability") for form in ("png", "svg")]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == kinds


@pytest.mark.parametrize(
    ("pairs", "more", "error"),
    [
        ([("no", "no")], {"gold": None}, "a, line 1: no gold label"),
        ([("no", "maybe")], {}, "no probability of label 'maybe'"),
        ([("perhaps", "no")], {}, "class 'perhaps' is not one of no, yes"),
        ([], {}, "a.jsonl: no predictions"),
    ],
)
def test_files_that_say_too_little_are_refused(file, tmp_path, capsys, pairs, more, error):
    out = tmp_path / "out" / "x"
    assert main(["plot", "predictions", file("a.jsonl", pairs, **more), "--output", str(out)]) == 1
    assert error in capsys.readouterr().err
    assert not [*out.parent.glob("*")]
