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

SCRIPT, ATTENTION = "cases", "plot attention"
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


def test_pairs_are_shown_with_their_words(runs, run, tmp_path):
    page = tmp_path / "new" / "cases.html"
    more = ["--pair", "good", "bad", "--highlight", 1, "--html", page]
    found = run(runs["dabert"], "--pair", *PAIR, *more)
    assert found.code == 0
    blocks = found.out.strip().split("\n\n")
    assert len(blocks) == 2
    assert re.search(r"^pair 0\n  dabert  (yes|no) 0\.\d{3}\n  1  ", blocks[0])
    assert blocks[0].count("{+") == blocks[0].count("+}") == 2
    first = blocks[0].splitlines()[2]
    assert first.removeprefix("  1  ").replace("{+", "").replace("+}", "") == PAIR[0]
    for word in "Alice sees the < garden > Bob green".split():
        assert re.search(rf" {word} \d+\.\d\d", blocks[0])
    assert "\x1b" not in found.out
    text = page.read_text(encoding="utf-8")
    assert text.count("<article>") == 2
    assert ">&lt;</" in text
    assert "<garden" not in text
    assert "dabert_tiny, difference l1, layers 0" in text
    assert str(runs["dabert"] / "checkpoint_best.pt") in text
    assert [path.name for path in page.parent.iterdir()] == ["cases.html"]


def test_sources_agree(runs, run, tmp_path):
    """Pairs of the command line, of a file and of standard input are shown alike."""
    expected = run(runs["dabert"], "--pair", *PAIR, "--pair", "good", "bad").out
    lines = f"{PAIR[0]}\t{PAIR[1]}\ngood\tbad\n"
    (tmp_path / "in.tsv").write_text(lines)
    assert run(runs["dabert"], "--input", tmp_path / "in.tsv").out == expected
    assert run(runs["dabert"], "--input", "-", stdin=lines).out == expected
    first = run(runs["dabert"], "--input", "-", "--max", 1, stdin=lines).out
    assert expected.startswith(first)
    assert first != expected


def test_splits_stand_beside_another_system(runs, run):
    found = run(runs["dabert"], "--split", "valid", "--against", runs["plain"]).out
    verdicts = re.findall(
        r"^pair \S+  gold (\w+)\n  dabert  (\w+) \S+  (\w+)\n  plain   (\w+) \S+  (\w+)$",
        found,
        re.MULTILINE,
    )
    assert len(verdicts) == 20
    for gold, first, verdict, second, other in verdicts:
        assert verdict == ("right" if first == gold else "wrong")
        assert other == ("right" if second == gold else "wrong")
    wrong = run(runs["dabert"], "--split", "valid", "--wrong-only", "--max", 3).out
    assert wrong.count("pair ") == wrong.count(" wrong\n") == 3


def test_refusals_are_one_line(runs, refusal, run, tmp_path):
    pair = ["--pair", *PAIR]
    plain = refusal(runs["plain"], *pair)
    assert "'bert_plain_tiny' and has no difference attention (--dual-layers none)" in plain
    assert plain.endswith("those with dual attention have: dabert, dabert_literal")
    assert "(--ablate difference)" in refusal(runs["ablated"], *pair)
    assert "layer 1 has no difference attention" in refusal(runs["dabert"], *pair, "--layer", 1)
    assert "no layer 9" in refusal(runs["dabert"], *pair, "--layer", 9)
    assert "text 0 is empty" in refusal(runs["dabert"], "--pair", " ", "x")
    assert "no such file" in refusal(runs["dabert"], "--input", tmp_path / "none.tsv")
    assert "no split 'dev'" in refusal(runs["dabert"], "--split", "dev")
    assert "is a folder" in refusal(runs["dabert"], *pair, "--html", tmp_path)
    (tmp_path / "in.tsv").write_text("a\tb\nlone\n")
    page = tmp_path / "page.html"
    told = refusal(runs["dabert"], "--input", tmp_path / "in.tsv", "--html", page)
    assert "in.tsv:2: 1 TAB-separated column(s)" in told
    assert not page.exists()
    assert "expected one sentence" in refusal(runs["dabert"], *pair, "--against", runs["lone"])
    for arguments in (["--pair", "a", "b", "--wrong-only"], ["--split", "valid", "--max", 0], []):
        with pytest.raises(SystemExit, match="2"):
            run(runs["dabert"], *arguments)


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
        alone = [runs["dabert"], "--names", "x", "--no-arcs", "--output", out, *kind]
        run(*alone, "--sentence", "good", "bad", script=ATTENTION)
        images.append(out.with_suffix(".png").read_bytes())
    assert images[0] == images[1] != images[2]  # fused unless said otherwise
    told = refusal(*both, out, "--attention", "difference", script=ATTENTION)
    assert told.endswith("choices: affinity")
    with pytest.raises(SystemExit, match="2"):
        run(*both, out, "--attention", *kinds, script=ATTENTION)
