"""`translate`: a split translated and scored with the checkpoint of a run."""

from __future__ import annotations

import fcntl
import json
import shutil

import pytest
from cli.commands import generate, run

SCRIPT = "translate"
SHORT = ["--", "--beam", "2", "--max-len-a", "0", "--max-len-b", "12", "--batch-size", "16"]


@pytest.fixture
def own_run(model, tmp_path):
    """Folder of a run."""
    shutil.copy(model, tmp_path / "checkpoint_best.pt")
    return tmp_path


def test_leaves_what_fairseq_generate_says_and_its_scores(folder, own_run):
    done = run(SCRIPT, own_run, "--data", folder, "--cpu", *SHORT)
    text = (own_run / "generate.test.log").read_text(encoding="utf-8")
    alone = generate(folder, own_run / "checkpoint_best.pt", " ".join(SHORT[1:]))
    assert sorted(line for line in text.splitlines() if line.startswith("D-")) == sorted(
        line for line in alone.out.splitlines() if line.startswith("D-")
    )
    (scores,) = json.loads((own_run / "score.test.json").read_text())["systems"]
    found = json.loads((own_run / "evaluation.test.json").read_text())
    assert (found["of"], found["sentences"]) == ("test", 37)
    assert found["metrics"] == scores["figures"]
    assert f"{found['metrics']['bleu']:.2f}" in done.out
    assert not list(own_run.glob(".generate*"))
    first = {path: path.read_bytes() for path in own_run.glob("*.test.*")}
    run(SCRIPT, own_run, "--data", folder, "--cpu", "--split", "valid", *SHORT)
    assert json.loads((own_run / "evaluation.valid.json").read_text())["of"] == "valid"
    assert len(list(own_run.glob("*.valid.*"))) == len(first) == 3
    assert {path: path.read_bytes() for path in first} == first


def test_raw_references_count(folder, own_run, tmp_path):
    (tmp_path / "reference").write_text("gar nichts davon\n" * 37, encoding="utf-8")
    own = [SCRIPT, own_run, "--data", folder, "--cpu"]
    run(*own, *SHORT)
    before = json.loads((own_run / "evaluation.test.json").read_text())
    run(*own, "--reference", tmp_path / "reference", *SHORT)
    after = json.loads((own_run / "evaluation.test.json").read_text())
    assert before["metrics"] != after["metrics"]
    assert "reference" in after["reference"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--checkpoint", "none.pt"], "none.pt: no such checkpoint"),
        (["--split", "other"], "no split 'other'; choices are train, valid, test"),
        (["--data", "nowhere"], "nowhere/manifest.json: no such file"),
        (["--", "--beam", "x"], "fairseq-generate failed: "),
    ],
)
def test_what_goes_wrong_is_one_line_and_leaves_nothing(folder, own_run, given, message):
    own = [] if "--data" in given else ["--data", folder]
    done = run(SCRIPT, own_run, "--cpu", *own, *given, fails=True)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert message in done.err
    assert sorted(path.name for path in own_run.iterdir()) == ["checkpoint_best.pt"]


def test_what_killed_ones_left_is_removed_and_what_is_at_work_stays(own_run, folder):
    names = [own_run / f".generate.log.tmp{number}" for number in (1, 2)]
    for name in names:
        name.touch()
    with names[0].open("rb+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        run(SCRIPT, own_run, "--data", folder, "--cpu", "--", "--beam", "x", fails=True)
    assert [name.exists() for name in names] == [True, False]
