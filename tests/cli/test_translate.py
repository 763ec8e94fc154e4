"""`translate`: a split translated and scored with the checkpoint of a run."""

from __future__ import annotations

import fcntl
import json
import shutil
import sys

import pytest
from cli import shims
from cli.commands import generate, interactive
from cli.shims import run
from moved_runs import moved

from fairseq_plugins.bundles.run_folder import Origin
from fairseq_plugins.inference.run_translation import is_other

pytestmark = pytest.mark.slow

SCRIPT = "translate"
SHORT = ["--", "--beam", "2", "--max-len-a", "0", "--max-len-b", "12", "--batch-size", "16"]


@pytest.fixture
def own_run(model, tmp_path):
    shutil.copy(model, tmp_path / "checkpoint_best.pt")
    return tmp_path


def test_leaves_what_fairseq_generate_says_and_its_scores(run_here, folder, own_run):
    done = run(SCRIPT, own_run, "--data", folder, "--cpu", *SHORT)
    text = (own_run / "generate.test.log").read_text(encoding="utf-8")
    alone = generate(
        folder, own_run / "checkpoint_best.pt", " ".join([*SHORT[1:], "--lenpen", "0.6"])
    )
    assert sorted(line for line in text.splitlines() if line.startswith("D-")) == sorted(
        line for line in alone.out.splitlines() if line.startswith("D-")
    )
    (scores,) = json.loads((own_run / "score.test.json").read_text())["systems"]
    found = json.loads((own_run / "evaluation.test.json").read_text())
    assert (found["of"], found["sentences"]) == ("test", 37)
    assert found["metrics"] == scores["figures"]
    assert f"{found['metrics']['bleu']:.2f}" in done.out
    assert not list(own_run.glob(".generate*"))
    (own_run / "average.pt").symlink_to(own_run / "checkpoint_best.pt")
    log = own_run.parent / "by_file.log"
    words = [own_run / "average.pt", "--data", folder, "--cpu", "--output", log]
    run(SCRIPT, *words, *SHORT)  # the file of a checkpoint
    assert log.read_text(encoding="utf-8") == text.replace("checkpoint_best.pt", "average.pt")
    first = {path: path.read_bytes() for path in own_run.glob("*.test.*")}
    run(SCRIPT, own_run, "--data", folder, "--cpu", "--split", "valid", *SHORT)
    assert json.loads((own_run / "evaluation.valid.json").read_text())["of"] == "valid"
    assert len(list(own_run.glob("*.valid.*"))) == len(first) == 3
    assert {path: path.read_bytes() for path in first} == first


def test_scores_of_another_folder_are_not_the_runs_own(run_here, folder, own_run, tmp_path):
    """A copy of the folder is the same one; another goes to a file of its own."""
    run(SCRIPT, own_run, "--data", shutil.copytree(folder, tmp_path / "copy"), "--cpu", *SHORT)
    found = json.loads((own_run / "evaluation.test.json").read_text())
    assert (found["data"], found["checkpoint"]) == (str(tmp_path / "copy"), "checkpoint_best.pt")
    before = {path: path.read_bytes() for path in own_run.glob("*.test.*")}
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_text())
    manifest["products"]["test.en-de.en.bin"]["sha256"] = 64 * "0"
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    given = (SCRIPT, own_run, "--data", tmp_path / "copy", "--cpu")
    assert "name a file for its log with --output" in run_here(*given, *SHORT, fails=True).err
    done = run(*given, "--output", tmp_path / "new.log", *SHORT)
    assert "BLEU" in done.out
    assert (tmp_path / "new.log").read_bytes() == before[own_run / "generate.test.log"]
    assert {path: path.read_bytes() for path in own_run.glob("*.test.*")} == before
    silent = run_here(*given, "--output", tmp_path / "new.log", "--", "--quiet", fails=True)
    assert "--quiet: the translations are read off the log" in silent.err


def test_what_an_experiment_translated_is_not_replaced_by_another_search(
    run_here, folder, own_run, tmp_path
):
    """Its tables would mix searches: there is nothing in them that tells the beam."""
    planned = {"split": "test", "reference": "", "average": 0, "generate": {"beam": 2, "cpu": True}}
    (own_run / "settings.json").write_text(json.dumps({"translated": planned}))
    given = (SCRIPT, own_run, "--data", folder)
    for words, said in (
        (["--", "--beam", "1"], "error: --beam: the experiment of this run translates otherwise"),
        (["--", "--beam=2", "--lenpen", "2"], "error: --lenpen: the experiment of this run"),
        (["--reference", folder / "dict.de.txt"], f"--reference {folder}/dict.de.txt: the exper"),
    ):
        assert said in run_here(*given, *words, fails=True).err
    average = own_run / "checkpoint_average.pt"
    average.symlink_to(own_run / "checkpoint_best.pt")
    told = run_here(SCRIPT, average, "--data", folder, fails=True).err
    assert "checkpoint_average.pt: the experiment of this run translates otherwise" in told
    assert not list(own_run.glob("*.test.*"))
    run(*given, "--output", tmp_path / "other.log", *SHORT)
    assert not list(own_run.glob("*.test.*"))
    run(*given, "--split", "valid", *SHORT)
    run(*given)  # as the experiment does
    log = (own_run / "generate.test.log").read_bytes()
    run(*given, "--", "--beam=2", "--cpu")
    assert (own_run / "generate.test.log").read_bytes() == log


def test_a_recorded_folder_that_is_none_may_be_the_one_named(folder, tmp_path):
    (tmp_path / "data-bin").mkdir()
    for recorded in ("", str(tmp_path / "gone"), str(tmp_path / "data-bin"), f"a:{folder}"):
        assert not is_other(str(folder), Origin(recorded))


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
        (["--split", "other"], "no split 'other'; choices are train, valid, test"),
        (["--data", "nowhere"], "nowhere: no such folder; fairseq-plugins prepare translation"),
        (["--reference", "none.de"], "none.de: no such file"),
        (["--", "--beam", "x"], "fairseq-generate failed: "),
    ],
)
def test_what_goes_wrong_is_one_line_and_leaves_nothing(
    run_here, folder, own_run, monkeypatch, given, message
):
    monkeypatch.setattr(sys, "executable", shims.python())
    own = [] if "--data" in given else ["--data", folder]
    done = run_here(SCRIPT, own_run, "--cpu", *own, *given, fails=True)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert message in done.err
    assert sorted(path.name for path in own_run.iterdir()) == ["checkpoint_best.pt"]


def test_a_moved_run_translates_without_its_prepared_folder(
    run_here, folder, trained, corpus, tmp_path
):
    search = ("--", "--beam", "4", "--lenpen", "1")
    (tmp_path / "text").write_text("".join((corpus / "test.en").open().readlines()[:9]))
    given = ("--source", tmp_path / "text", "--cpu")
    before = run(SCRIPT, trained, *given, *search).out
    assert before.count("\n") == 9
    with moved(trained, folder, tmp_path) as there:
        assert run(SCRIPT, there, *given, *search).out == before
        best, raw = there / "checkpoint_best.pt", (tmp_path / "text").read_text()
        by_fairseq = interactive(there / "prepared", best, "--max-len-b 200", stdin=raw)
        assert by_fairseq.lines("D") == before.splitlines()
        run("export", there, "--output", tmp_path / "bundle")
        assert run(SCRIPT, tmp_path / "bundle", *given, *search).out == before
        lost = run_here(SCRIPT, there, "--cpu", fails=True).err
        assert "no split 'test'; choices are none; name a prepared folder with --data" in lost


def test_raw_text_is_scored_too(run_here, trained, corpus, tmp_path):
    out = tmp_path / "new" / "out.de"
    given = ("--source", corpus / "test.en", "--reference", corpus / "test.de", "--cpu")
    done = run(SCRIPT, trained, *given, "--output", out)
    assert "BLEU" in done.out
    assert len(out.read_text().splitlines()) == 37
    assert "need --output" in run_here(SCRIPT, trained, *given, fails=True).err
    short = tmp_path / "short.de"
    short.write_text("".join((corpus / "test.de").open().readlines()[:9]))
    other = ("--source", corpus / "test.en", "--output", tmp_path / "none", "--cpu")
    unequal = run_here(SCRIPT, trained, *other, "--reference", short, fails=True)
    assert f"test.en has 37, {short} 9" in unequal.err
    assert not (tmp_path / "none").exists()
    assert "takes one run" in run_here(SCRIPT, f"{trained}:{trained}", *other, fails=True).err
    odd = run_here(SCRIPT, trained, *given, "--output", out, "--", "--nbest", "2", fails=True)
    assert "raw text and bundles know no --nbest" in odd.err


def test_what_killed_ones_left_is_removed_and_what_is_at_work_stays(own_run, folder):
    names = [own_run / f".generate.test.log.tmp{number}" for number in (1, 2)]
    for name in names:
        name.touch()
    with names[0].open("rb+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        run(SCRIPT, own_run, "--data", folder, "--cpu", "--", "--beam", "x", fails=True)
    assert [name.exists() for name in names] == [True, False]
