"""The scripts around scoring: arguments in, tables and files out, refusals in one line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import torch

from fairseq_plugins.cli.main import main

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
GOLD = ["Der Hund schläft.", "Sie liest ein Buch.", "Es regnet heute.", "Wir gehen nach Hause."]
FIRST = ["Der Hund schläft.", "Sie hat ein Buch.", "Es regnet morgen.", "Wir gehen."]
SECOND = ["Der Hund rennt.", "Sie liest ein Buch.", "Es regnet heute.", "Wir gehen nach Hause."]


@pytest.fixture
def files(tmp_path) -> dict[str, str]:
    for name, lines in (("first", FIRST), ("second", SECOND), ("gold", GOLD)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {name: str(tmp_path / name) for name in ("first", "second", "gold")}


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs a script and gives back what it printed, or said in failing."""

    def call(script: str, *args: str, fails: bool = False) -> str:
        with pytest.raises(SystemExit) as done:
            sys.exit(main([*script.split(), *args]))
        written = capsys.readouterr()
        assert done.value.code == int(fails), written.err
        return written.err if fails else written.out

    return call


def test_score_prints_the_table_and_writes_the_same_figures(run, files, tmp_path) -> None:
    out = tmp_path / "scores.json"
    systems = ["--sys", files["first"], files["second"], "--ref", files["gold"], "--lang", "de"]
    text = run("score", *systems, "--paired", "--samples", "20", "--json", str(out))
    report = json.loads(out.read_text(encoding="utf-8"))
    assert [system["sentences"] for system in report["systems"]] == [4, 4]
    for system in report["systems"]:
        assert f"{system['figures']['bleu']:.2f}" in text
    assert "paired bootstrap against" in text
    assert report["systems"][1]["figures"]["chrf"] > report["systems"][0]["figures"]["chrf"]


def test_score_refuses_in_one_line(run, files, tmp_path) -> None:
    short = tmp_path / "short"
    short.write_text("Der Hund.\n", encoding="utf-8")
    systems = ["--sys", str(short), "--ref", files["gold"], "--lang", "de"]
    said = run("score", *systems, fails=True)
    assert re.match(r"error: unequal line counts: .*short has 1.*\n\Z", said)


@pytest.mark.parametrize("flag", ["--tokenized", "--ref-tokenized", "--subwords=bpe", "--lang=de"])
def test_answers_are_not_scored_with_what_is_for_translations(run_here, tmp_path, flag) -> None:
    for name in ("said", "gold"):
        (tmp_path / f"{name}.json").write_text("{}")
    files = ["--sys", tmp_path / "said.json", "--ref", tmp_path / "gold.json"]
    assert flag.split("=")[0] in run_here("score", *files, flag, fails=True).err


def test_tokenized_flag_needs_no_value(run, files) -> None:
    """Moses rules, forced upon plain text, leave it as it is; the table says they were applied."""
    systems = ["--sys", files["first"], "--ref", files["gold"], "--lang", "de"]
    assert "detokenised" not in run("score", *systems)
    assert "detokenised" in run("score", *systems, "--tokenized")


def test_compare_predictions_shows_and_writes_the_same_sentences(run, files, tmp_path) -> None:
    page = tmp_path / "page.html"
    pair = [files["first"], files["second"], "--gold", files["gold"]]
    text = run("compare", *pair, "--max", "2", "--html", str(page))
    assert "2 of 3 such sentences shown" in text
    assert page.read_text(encoding="utf-8").count("<article>") == 2
    text = run("compare", *pair, "--better", "first")
    assert "{+schläft+}" in text
    assert "1 of 1 such" in text


def test_average_checkpoints_averages_the_last_ones(run, tmp_path) -> None:
    for number in (1, 2, 3):
        state = {"model": {"w": torch.tensor([float(number)])}}
        torch.save(state, tmp_path / f"checkpoint{number}.pt")
    output = tmp_path / "average.pt"
    folder = [str(tmp_path), "--output", str(output)]
    run("average", *folder, "--last", "2")
    assert torch.load(output, weights_only=True)["model"]["w"].item() == 2.5
    said = run("average", *folder, "--last", "9", fails=True)
    assert re.match(r"error: .*9 checkpoints .* 3 found.*\n\Z", said)
    with pytest.raises(AssertionError, match="--help lists all options"):  # argparse's status is 2
        run("average", *folder)
