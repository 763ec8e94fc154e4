"""Case studies from a checkpoint and raw pairs to the terminal and to a page."""

from __future__ import annotations

import io
import re
import sys
from types import SimpleNamespace

import prepared_text
import pytest
from prepared_text import examples

from fairseq_plugins.cli.main import main

pytestmark = pytest.mark.slow

SCRIPT, ATTENTION = "compare", "plot attention"
PAIR = ("Alice sees the <garden>", "Bob sees the green garden")
SHORT = "--max-update 2 --disable-validation --no-epoch-checkpoints --arch".split()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Run folders, hardly trained, on a folder of pairs, and one of single sentences."""
    root, made = tmp_path_factory.mktemp("runs"), {}
    folders = {}
    for name, pairs in (("pairs", True), ("single", False)):
        splits = {
            "train": examples("classes", 30, 1, pairs=pairs),
            "valid": examples("classes", 25, 2, pairs=pairs),
        }
        folders[name] = prepared_text.prepare(
            root / f"{name}-data", "classes", splits, annotations=()
        )
    for name, data, *more in (
        ("dabert", "pairs", "dabert_tiny", "--dual-layers", "0"),
        ("plain", "pairs", "bert_plain_tiny"),
        ("ablated", "pairs", "dabert_tiny", "--ablate", "difference"),
        ("lone", "single", "bert_plain_tiny"),
    ):
        made[name] = prepared_text.train(folders[data], root / name, *SHORT, *more)
        (made[name] / "checkpoint_last.pt").rename(made[name] / "checkpoint_best.pt")
    return made


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a script in this process; return its exit status and output."""

    def call(*arguments, script=SCRIPT, stdin=""):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode())))
        monkeypatch.setattr(sys.stdout, "reconfigure", lambda **kwargs: None, raising=False)
        code = main([*script.split(), *map(str, arguments), "--cpu"])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return SimpleNamespace(code=code, out=found.out, err=found.err)

    return call


@pytest.fixture
def refusal(run):
    """Run what has to fail; return its one line."""

    def call(*arguments, **more):
        found = run(*arguments, **more)
        assert found.code == 1
        lines = found.err.splitlines()
        assert len([line for line in lines if line.startswith("error: ")]) == 1
        return lines[-1]

    return call


def test_pairs_are_shown_with_their_words_whatever_gives_them(runs, run, tmp_path):
    page = tmp_path / "new" / "cases.html"
    pairs = ["--pair", *PAIR, "--pair", "good", "bad"]
    found = run(runs["dabert"], *pairs, "--highlight", 1, "--html", page)
    assert found.code == 0
    first, second, end = found.out.split("\n\n")
    assert "{+" in second
    assert first.startswith("pair 0: no gold\n  S1      ")
    assert first.count("{+") == first.count("+}") == 2
    words = first.splitlines()[1].partition("S1      ")[2]
    assert words.replace("{+", "").replace("+}", "").split() == PAIR[0].split()
    for word in "Alice sees the <garden> Bob green".split():
        assert re.search(rf" {word} \d+\.\d\d", first)
    assert re.search(r"^  dabert  (yes|no)  \(\d+\.\d\d%\)$", first, re.MULTILINE)
    assert end == "2 of 2 such pairs shown\n"
    text = page.read_text(encoding="utf-8")
    assert text.count("<article>") == 2
    assert "&lt;" in text
    assert "<garden" not in text
    lines = f"{PAIR[0]}\t{PAIR[1]}\ngood\tbad\n"
    (tmp_path / "in.tsv").write_text(lines)
    for given, stdin in ((tmp_path / "in.tsv", ""), ("-", lines)):
        more = ["--input", given, "--highlight", 1]
        assert run(runs["dabert"], *more, stdin=stdin).out == found.out


def test_splits_show_where_two_models_differ(runs, run):
    names = [f"BERT={runs['plain']}", f"DABERT={runs['dabert']}", "--max", 99, "--split", "valid"]
    found = run(*names, "--better", "any").out
    verdicts = re.findall(r"^  BERT    (right|wrong) .*\n  DABERT  (right|wrong) ", found, re.M)
    assert {*verdicts} <= {("right", "wrong"), ("wrong", "right")}
    assert f"{len(verdicts)} of {len(verdicts)} such pairs shown\n25 pairs: " in found


def test_refusals_are_one_line(runs, refusal, run, tmp_path):
    pair = ["--pair", *PAIR]
    plain = refusal(runs["plain"], *pair)
    assert "'bert_plain_tiny' and has no difference attention (--dual-layers none)" in plain
    assert plain.endswith("those with dual attention have: dabert, dabert_literal")
    assert "(--ablate difference)" in refusal(runs["ablated"], *pair)
    assert "no such file" in refusal(runs["dabert"], "--input", tmp_path / "none.tsv")
    assert "Is a directory" in refusal(runs["dabert"], *pair, "--html", tmp_path)
    (tmp_path / "in.tsv").write_text("a\tb\nlone\n")
    page = tmp_path / "page.html"
    told = refusal(runs["dabert"], "--input", tmp_path / "in.tsv", "--html", page)
    assert "in.tsv:2: 1 TAB-separated column(s)" in told
    assert not page.exists()
    assert "reads one sentence: models of pairs" in refusal(runs["dabert"], runs["lone"], *pair)
    assert "--gold is not for a model, which" in refusal(
        runs["dabert"], *pair, "--gold", page.parent
    )
    with pytest.raises(SystemExit, match="2"):
        run(runs["dabert"])


def test_attention_of_bert_against_dabert(runs, run, refusal, tmp_path):
    """Figure 3: side by side in layer 0, and each kind of attention when it is asked for."""
    both = [runs["plain"], runs["dabert"], "--sentence", *PAIR, "--words", "--layer", 0, "--output"]
    out = tmp_path / "attention"
    found = run(*both, out, script=ATTENTION)
    assert found.code == 0
    shown = {path.suffix: path.read_bytes() for path in tmp_path.iterdir()}
    assert {*shown} == {".png", ".svg"}
    text = shown[".svg"].decode()
    assert {">bert_plain_tiny</text>" in text, ">dabert_tiny</text>" in text} == {True}
    assert "stroke: #ee6677" in text
    kinds = ["affinity", "difference", "fused"]
    panels = [*[runs["dabert"]] * 3, "--attention", *kinds, "--output", out]
    run(*panels, "--sentence", *PAIR, "--layer", 0, script=ATTENTION)
    three = out.with_suffix(".svg").read_text()
    assert all(f">dabert_tiny, {kind}</text>" in three for kind in kinds)
    images = []
    for kind in ([], ["--attention", "fused"], ["--attention", "affinity"]):
        alone = [f"x={runs['dabert']}", "--output", out, *kind]
        run(*alone, "--sentence", "good", "bad", script=ATTENTION)
        images.append(out.with_suffix(".png").read_bytes())
    assert images[0] == images[1] != images[2]  # fused unless said otherwise
    told = refusal(*both, out, "--attention", "difference", script=ATTENTION)
    assert told.endswith("choices: affinity")
    with pytest.raises(SystemExit, match="2"):
        run(*both, out, "--attention", *kinds, script=ATTENTION)
