"""The command that paraphrases questions: by commands, by models, killed, refused in one line."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from cli import shims
from cli.commands import USER_DIR, run, train
from squad_files import toy_squad

from fairseq_plugins.corpora import squad

pytestmark = pytest.mark.slow

SCRIPT = "augment questions"
SAY = "sed 's/^/Say, /'"


@pytest.fixture
def source(tmp_path) -> Path:
    return toy_squad(tmp_path)[0]


@pytest.fixture
def refused(run_here):
    """Return what runs the command where it has to fail, and returns its one line of error."""

    def call(*arguments) -> str:
        done = run_here(SCRIPT, *arguments, fails=True)
        (line,) = [line for line in done.err.splitlines() if line.startswith("error: ")]
        return line

    return call


def paraphrases(path: Path) -> dict[str, str]:
    """Return the texts of the paraphrases in a file by their ids."""
    return {q.id: q.text for q in squad.read(path).questions if q.id.endswith("-q")}


def test_a_command_paraphrases(source, tmp_path) -> None:
    output = tmp_path / "new" / "o.json"
    done = run(SCRIPT, source, "--output", output, "--rate", 0.35, "--command", SAY)
    assert "18 questions, 6 chosen, 6 paraphrases kept, 0 dropped" in done.out
    found = paraphrases(output)
    assert len(found) == 6
    assert all(text.startswith("Say, ") and text.endswith("?") for text in found.values())
    assert {path.name for path in output.parent.iterdir()} == {
        "o.json",
        "o.paraphrases.jsonl",
        "o.report.json",
    }


def test_it_is_said_when_nothing_is_kept(source, tmp_path) -> None:
    done = run(SCRIPT, source, "--output", tmp_path / "o.json", "--rate", 0.35, "--command", "cat")
    assert "6 chosen, 0 paraphrases kept, 6 dropped" in done.out
    said = [line for line in done.err.splitlines() if line.startswith("warning: ")]
    assert len(said) == 1
    assert "none of the 6 paraphrases was kept" in said[0]
    again = run(SCRIPT, source, "--output", tmp_path / "none.json", "--rate", 0, "--command", "cat")
    assert "warning" not in again.err


def test_two_commands_go_there_and_back(source, tmp_path) -> None:
    ways = ("--forward-command", "tr a-z A-Z", "--backward-command", SAY)
    run(SCRIPT, source, "--output", tmp_path / "o.json", "--rate", 1, "--chunk", 5, *ways)
    found = paraphrases(tmp_path / "o.json")
    assert len(found) == 18
    assert all(text[5:].isupper() for text in found.values())


def test_a_killed_run_goes_on_with_the_same_command(source, tmp_path) -> None:
    output, mark = tmp_path / "o.json", tmp_path / "go"
    # the shell's parent is the run: kill it in the third chunk, unless the mark is there
    kill = f'[ -e {mark} ] || [ "$(wc -l <{tmp_path}/.o.json.augmenting.jsonl)" -lt 3 ]'
    command = f"{kill} || kill -9 $PPID; {SAY}"
    flags = ("--rate", 1, "--chunk", 4, "--command", command)
    killed = run(SCRIPT, source, "--output", output, *flags, fails=True)
    assert killed.code == -9
    assert not output.exists()
    mark.touch()
    done = run(SCRIPT, source, "--output", output, *flags)
    assert "18 paraphrases kept" in done.out
    again = tmp_path / "again.json"
    run(SCRIPT, source, "--output", again, *flags)
    assert output.read_bytes() == again.read_bytes()


def test_refusals_are_one_line(refused, source, tmp_path) -> None:
    output = tmp_path / "o.json"
    checks = [
        (("--rate", 2, "--command", SAY), "--rate 2.0: must be from 0 to 1"),
        (("--rate", 0.5), "what translates is either --command"),
        (("--rate", 0.5, "--command", "no-such-thing"), "ended with status 127"),
        (("--rate", 0.5, "--command", "head -2"), "sentences went in, 2 came back"),
        (
            ("--rate", 0.5, "--forward", source, "--backward", source),
            "train-v2.0.json: refused: not readable, damaged",
        ),
    ]
    for flags, message in checks:
        assert message in refused(source, "--output", output, *flags)
        assert not output.exists()
    (tmp_path / "run").mkdir()
    ways = ("--forward", tmp_path / "run", "--backward", tmp_path / "run")
    lacking = refused(source, "--output", output, "--rate", 0.5, *ways)
    assert "--forward: no file" in lacking
    assert "run/checkpoint_best.pt" in lacking
    # as fairseq saves a model of its own: the options of the model are a Namespace
    cfg = {"task": {"_name": "translation", "data": "x"}, "model": Namespace(arch="transformer")}
    weights = {"w": torch.zeros(1)}
    torch.save({"cfg": cfg, "args": None, "model": weights}, tmp_path / "stock.pt")
    ways = ("--forward", tmp_path / "stock.pt", "--backward", tmp_path / "stock.pt")
    stock = refused(source, "--output", output, "--rate", 0.5, *ways)
    assert "of task 'translation', not a syntax_transformer" in stock
    assert "any other translator goes through --forward-command" in stock
    assert "would replace the input" in refused(
        source, "--output", source, "--rate", 1, "--command", SAY
    )
    (tmp_path / "bad.json").write_text('{"data": [}')
    bad = refused(tmp_path / "bad.json", "--output", output, "--rate", 1, "--command", SAY)
    assert "is no JSON: line 1, column 11" in bad


def test_models_of_this_project_paraphrase(source, tmp_path, model) -> None:
    models = ("--forward", model, "--backward", model.parent, "--cpu", "--max-ratio", 0)
    written = []
    for name, more in (("a", ()), ("b", ()), ("c", ("--sampling", 5)), ("d", ("--sampling", 5))):
        output = tmp_path / f"{name}.json"
        run(SCRIPT, source, "--output", output, "--rate", 1, *models, *more)
        written.append(output.read_bytes())
        rows = (tmp_path / f"{name}.paraphrases.jsonl").read_text(encoding="utf-8").splitlines()
        assert any(json.loads(row)["paraphrase"] for row in rows)
    assert written[0] == written[1]
    assert written[2] == written[3]
    assert written[0] != written[2]


def test_any_model_of_fairseq_is_a_command(refused, source, tmp_path, folder, model) -> None:
    stock = "--task translation --source-lang en --target-lang de"
    options = f"{stock} --arch transformer_tiny --max-update 5 --no-epoch-checkpoints"
    train(folder, tmp_path / "stock", options, "--disable-validation")
    checkpoint = tmp_path / "stock" / "checkpoint_last.pt"
    ways = ("--forward", checkpoint, "--backward", model, "--cpu", "--max-ratio", 0)
    said = refused(source, "--output", tmp_path / "o.json", "--rate", 0.5, *ways)
    assert "not a syntax_transformer" in said
    assert "goes through --forward-command" in said
    interactive = Path(shims.python()).with_name("fairseq-interactive")
    command = (
        f"{interactive} {folder} --path {checkpoint} {stock} --user-dir {USER_DIR} --cpu --beam 2 "
        "--max-len-b 10 --buffer-size 1024 --batch-size 3 --remove-bpe | grep ^D- | cut -f3"
    )
    ways = ("--forward-command", command, "--backward-command", SAY, "--max-ratio", 0)
    run(SCRIPT, source, "--output", tmp_path / "o.json", "--rate", 0.5, *ways)
    rows = (tmp_path / "o.paraphrases.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 9
