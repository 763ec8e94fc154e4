"""The subcommands that look at trained models and their data, end to end."""

from __future__ import annotations

import json
from html import escape

import pytest
from cli.commands import generate, interactive, run, train

from fairseq_plugins.data.streams import stream_prefix
from fairseq_plugins.syntax.rows import Rows

pytestmark = pytest.mark.slow

STREAMS = ("en", "de", "en.words", "en.pos", "en.case")


def test_attention_of_two_models_is_drawn(folder, model, plain, tmp_path):
    sentence = "The gardener watches the beautiful station."
    paths = [plain, f"syntax={model}"]
    arguments = ["--sentence", sentence, "--reference", "Der", "--output", tmp_path / "figure"]
    found = run("plot attention", *paths, *arguments)
    drawn = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    for read in ("VERB", "nsubj", "grey rows: read by syntax", "red: not in the reference"):
        assert read in drawn
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        content = (tmp_path / f"figure{suffix}").read_bytes()
        assert content.startswith(start)
        assert len(content) > 5000
    (expected,) = interactive(folder, model, "--max-len-b 200", stdin=f"{sentence}\n").lines("D")
    assert f"syntax: {expected}" in found.out


def test_predictions_are_compared(corpus, folder, generated, plain, tmp_path):
    logs = {}
    for name, outcome in (("syntax", generated), ("plain", generate(folder, plain))):
        logs[name] = tmp_path / f"{name}.log"
        logs[name].write_text(outcome.out, encoding="utf-8")
    arguments = [logs["plain"], logs["syntax"], "--gold", corpus / "test.de"]
    arguments += ["--src", corpus / "test.en", "--max", 3, "--html", tmp_path / "page.html"]
    found = run("compare", *arguments)
    assert "3 of " in found.out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    sources = (corpus / "test.en").read_text(encoding="utf-8").splitlines()
    assert sum(escape(source) in page for source in sources) >= 3
    reversed_ = run("compare", *arguments, "--better", "first")
    assert reversed_.out != found.out


def subset(folder, destination, fraction, seed, **kwargs):
    arguments = [folder, "--output", destination, "--fraction", fraction, "--seed", seed]
    return run("subset", *arguments, **kwargs)


def rows(folder, split="train"):
    """All streams of a split, row by row: what belongs together."""
    streams = [Rows.read(stream_prefix(folder, split, "en-de", name)) for name in STREAMS]
    return list(zip(*([tuple(row.tolist()) for row in stream] for stream in streams)))


def test_subsets_are_nested_and_seeded(folder, tmp_path):
    for name, fraction, seed in (("a", 0.1, 1), ("b", 0.5, 1), ("again", 0.1, 1), ("c", 0.1, 2)):
        subset(folder, tmp_path / name, fraction, seed)
    small, large, again, other = (rows(tmp_path / name) for name in ("a", "b", "again", "c"))
    assert (len(small), len(large)) == (20, 100)
    assert set(small) < set(large) < set(rows(folder))
    assert small == again
    assert set(other) != set(small)


def test_subset_changes_nothing_but_the_training_data(folder, tmp_path):
    subset(folder, tmp_path / "half", 0.5, 1)
    names = [path.name for path in folder.iterdir() if path.name != "manifest.json"]
    assert "dict.en.txt" in names
    for name in names:
        copy = tmp_path / "half" / name
        same = copy.read_bytes() == (folder / name).read_bytes()
        assert same != name.startswith("train."), name
    manifest = json.loads((tmp_path / "half" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["splits"]["train"]["lines"] == 100
    assert manifest["splits"]["test"]["lines"] == 37


def test_subset_is_trained_on_and_goes_with_a_model_of_the_whole(
    folder, model, generated, tmp_path
):
    """Same subwords and tagger: no warning, no refusal."""
    subset(folder, tmp_path / "part", 0.4, 1)
    log = train(tmp_path / "part", tmp_path / "run", "--max-epoch 1 --disable-validation")
    assert log.logged("train")[-1]["train_num_updates"] == "2"
    there = generate(tmp_path / "part", model)
    assert there.lines("H") == generated.lines("H")
    assert "ANOTHER ANNOTATOR" not in there.out + there.err


def test_subset_does_not_overwrite_other_data(folder, tmp_path):
    subset(folder, tmp_path / "part", 0.5, 1)
    subset(folder, tmp_path / "part", 0.5, 1)
    found = subset(folder, tmp_path / "part", 0.25, 1, fails=True)
    assert "holds other data" in found.err
    found = subset(folder, tmp_path / "none", 1.5, 1, fails=True)
    assert "1.5" in found.err
