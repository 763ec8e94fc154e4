"""The folder's bytes depend on input and options alone: not on workers, kills or reruns."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from raw_corpora import contents, invented_pairs, make_options, write_pairs
from stops import Stopped, stop_now, stopped_at

from fairseq_plugins.data.manifest import FILE_NAME, Manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import engine, workers, workspace
from fairseq_plugins.prep.recipes import translation
from fairseq_plugins.prep.recipes import translation_chunks as chunks
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.prep.workspace import LOCK, WORK, locked

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rule_tagger", "small_chunks")]


@pytest.fixture
def corpus(tmp_path) -> Path:
    """Nine chunks of training text (with lines to be dropped) and two of test text."""
    pairs = invented_pairs(60)
    pairs[5] = ("", "leer")
    write_pairs(tmp_path / "train", pairs)
    write_pairs(tmp_path / "test", invented_pairs(9, seed=1))
    return tmp_path


def options_for(corpus: Path, destdir: str, **values):
    """Both splits of the corpus, without the paths of this test in the manifest."""
    return make_options(
        corpus / destdir, trainpref=corpus / "train", testpref=corpus / "test", **values
    )


FORKED: list[int] = []


@pytest.fixture(autouse=True)
def _no_process_is_left():
    """Kill what a failed test left behind: every child leads a process group of its own."""
    yield
    while FORKED:
        with suppress(ProcessLookupError):
            os.killpg(FORKED.pop(), signal.SIGKILL)


def fork(work: Callable[[], object]) -> int:
    """Run ``work`` in a child of its own process group; return its process number."""
    pid = os.fork()
    FORKED.append(pid)
    if pid == 0:
        code = 1
        try:
            os.setsid()
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in found.read_text().split()] if found.is_file() else []


@pytest.mark.parametrize("subwords", ["subword_nmt", "sentencepiece"])
def test_number_of_workers_changes_no_byte(subwords, corpus) -> None:
    size = {"subword_nmt": 60, "sentencepiece": 90}[subwords]
    for count in (1, 2, 3):
        prepare(options_for(corpus, str(count), workers=count, subwords=subwords, bpe_size=size))
    one = contents(corpus / "1")
    assert FILE_NAME in one
    assert not any(name.startswith(".") or ".tmp" in name for name in one)
    assert contents(corpus / "2") == one
    assert contents(corpus / "3") == one


def test_size_of_chunks_changes_no_byte(corpus, monkeypatch) -> None:
    prepare(options_for(corpus, "seven"))
    monkeypatch.setattr("fairseq_plugins.corpora.parallel_text.CHUNK_LINES", 1000)
    monkeypatch.setattr(translation, "CHUNK_LINES", 1000)
    prepare(options_for(corpus, "all"))
    assert contents(corpus / "all") == contents(corpus / "seven")


def slow_down(monkeypatch, seconds: float) -> None:
    """Make every step of the work take some time, so that a kill can fall between any two."""
    for place, name in (
        (chunks, "annotate_lines"),
        (chunks, "encode_line"),
        (engine, "binarize"),
        (workspace, "close_work"),
    ):
        step = getattr(place, name)

        def slowly(*args, step=step, **kwargs):
            time.sleep(seconds if step.__name__ != "encode_line" else seconds / 7)
            found = step(*args, **kwargs)
            time.sleep(0 if step.__name__ == "encode_line" else seconds)
            return found

        monkeypatch.setattr(place, name, slowly)


@pytest.mark.parametrize("count", [1, 2])
def test_killed_and_rerun_gives_the_same_bytes(count, corpus, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        slow_down(patch, 0.01)
        started = time.monotonic()
        prepare(options_for(corpus, "straight", workers=count))
        whole = time.monotonic() - started
        moments, unfinished, folder = random.Random(count), 0, 0
        for _ in range(60):
            child = fork(lambda name=str(folder): prepare(options_for(corpus, name, workers=count)))
            time.sleep(whole * moments.random())
            working = children(child)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            wait_until(lambda pids=working: not any(map(alive, pids)))
            finished = (corpus / str(folder) / FILE_NAME).is_file()
            folder += finished  # else the same folder is killed again, further on
            unfinished += not finished
            if unfinished >= 8 and folder >= 2:
                break
    assert unfinished >= 8
    for name in map(str, range(folder + 1)):
        prepare(options_for(corpus, name, workers=count))
        assert contents(corpus / name) == contents(corpus / "straight")


STEPS = [
    "plan",
    "carry",
    "obtain_models",
    "binarize",
    "Manifest.save",
    "close_work",
    "report",
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_stopped_at_any_step_nothing_looks_finished(step, after, corpus, monkeypatch) -> None:
    prepare(options_for(corpus, "straight"))
    place = {"close_work": workspace, "obtain_models": translation}.get(step, engine)
    with stopped_at(monkeypatch, place, step, after=after):
        prepare(options_for(corpus, "stopped"))
    done = STEPS.index(step) + after > STEPS.index("Manifest.save")
    assert (corpus / "stopped" / FILE_NAME).is_file() == done
    prepare(options_for(corpus, "stopped"))
    assert contents(corpus / "stopped") == contents(corpus / "straight")


def test_lock_left_by_a_kill_at_the_very_end_goes_away(corpus, monkeypatch) -> None:
    prepare(options_for(corpus, "straight"))
    with monkeypatch.context() as patch:
        patch.setattr(engine, "report", lambda *_: os._exit(9))
        os.waitpid(fork(lambda: prepare(options_for(corpus, "killed"))), 0)
    assert (corpus / "killed" / FILE_NAME).is_file()
    assert (corpus / "killed" / LOCK).is_file()
    monkeypatch.setattr(engine, "make", stop_now)
    prepare(options_for(corpus, "killed"))
    assert contents(corpus / "killed") == contents(corpus / "straight")


def test_half_written_streams_of_a_killed_run_go_away(corpus, monkeypatch) -> None:
    prepare(options_for(corpus, "straight"))
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "save", lambda *_: os._exit(9))
        os.waitpid(fork(lambda: prepare(options_for(corpus, "killed"))), 0)
    leftover = corpus / "killed" / "train.en-de.en.bin.tmp77"
    leftover.write_bytes(b"half")
    (corpus / "killed" / "test9.en-de.de.idx").write_bytes(b"of another run")
    prepare(options_for(corpus, "killed"))
    assert contents(corpus / "killed") == contents(corpus / "straight")


def test_finished_chunks_are_not_made_again(corpus, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(engine, "binarize", stop_now)
        with pytest.raises(Stopped):
            prepare(options_for(corpus, "out"))
    for name in ("annotate_lines", "encode_line"):
        monkeypatch.setattr(chunks, name, stop_now)
    monkeypatch.setattr("fairseq_plugins.text.segment.learn_codes", stop_now)
    assert prepare(options_for(corpus, "out")).splits["train"]["lines"] == 59


def test_workers_die_with_their_parent(corpus, monkeypatch) -> None:
    monkeypatch.setattr(chunks, "annotate_lines", lambda *args, **how: time.sleep(60))
    child = fork(lambda: prepare(options_for(corpus, "out", workers=3)))
    wait_until(lambda: len(children(child)) == 3)
    working = children(child)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    wait_until(lambda: not any(map(alive, working)), seconds=5)


def test_interrupt_ends_parent_and_workers(corpus, monkeypatch) -> None:
    monkeypatch.setattr(chunks, "encode_line", lambda *args: time.sleep(0.05))
    child = fork(lambda: prepare(options_for(corpus, "out", workers=2)))
    wait_until(lambda: len(children(child)) == 2)
    working = children(child)
    os.killpg(child, signal.SIGINT)
    assert os.waitpid(child, 0)[1] != 0
    wait_until(lambda: not any(map(alive, working)), seconds=5)
    assert not (corpus / "out" / FILE_NAME).is_file()
    assert not (corpus / "out" / LOCK).is_file()


def test_dead_worker_is_one_clear_error(corpus, monkeypatch) -> None:
    monkeypatch.setattr(chunks, "annotate_lines", lambda *args, **how: os._exit(1))
    with pytest.raises(ChildProcessError, match=r"worker process died.*fewer --workers"):
        prepare(options_for(corpus, "out", workers=2))


def test_error_of_a_worker_reaches_the_user(corpus, monkeypatch) -> None:
    def fail(*args, **how):
        raise InputError("line 3 is bad")

    monkeypatch.setattr(chunks, "annotate_lines", fail)
    with pytest.raises(InputError, match="line 3 is bad"):
        prepare(options_for(corpus, "out", workers=2))
    assert not (corpus / "out" / FILE_NAME).is_file()


def test_unchanged_rerun_does_nothing(corpus, monkeypatch) -> None:
    prepare(options_for(corpus, "out"))
    before = contents(corpus / "out")
    times = {p: p.stat().st_mtime_ns for p in (corpus / "out").iterdir()}
    monkeypatch.setattr(engine, "make", stop_now)
    prepare(options_for(corpus, "out", workers=2))  # the number of workers is no content
    assert contents(corpus / "out") == before
    assert {p: p.stat().st_mtime_ns for p in (corpus / "out").iterdir()} == times


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"bpe_size": 61}, r"options.bpe_size 60 -> 61"),
        ({"features": "pos,case"}, r"options.features 'pos,case,subword' -> 'pos,case'"),
        ({"max_words": 9}, "options.max_words"),
    ],
)
def test_changed_options_need_overwrite(change, named, corpus) -> None:
    prepare(options_for(corpus, "out"))
    before = contents(corpus / "out")
    with pytest.raises(InputError, match=rf"holds another preparation \({named}.*--overwrite"):
        prepare(options_for(corpus, "out", **change))
    assert contents(corpus / "out") == before
    prepare(options_for(corpus, "out", overwrite=True, **change))
    prepare(options_for(corpus, "fresh", **change))
    assert contents(corpus / "out") == contents(corpus / "fresh")


def test_changed_input_needs_overwrite(corpus) -> None:
    prepare(options_for(corpus, "out"))
    (corpus / "test.en").write_text((corpus / "test.en").read_text().replace("the", "THE"))
    with pytest.raises(InputError, match=r"inputs.test.source.sha256"):
        prepare(options_for(corpus, "out"))


def test_changed_tagger_needs_overwrite(corpus, rule_tagger, monkeypatch) -> None:
    prepare(options_for(corpus, "out"))
    other = {**rule_tagger.identity(), "version": "2"}
    monkeypatch.setattr(rule_tagger, "identity", lambda: other)
    with pytest.raises(InputError, match=r"annotator.version '1' -> '2'"):
        prepare(options_for(corpus, "out"))


def test_unfinished_work_of_other_options_is_thrown_away(corpus, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(engine, "binarize", stop_now)
        with pytest.raises(Stopped):
            prepare(options_for(corpus, "out", bpe_size=20, features="case"))
    assert (corpus / "out" / WORK).is_dir()
    prepare(options_for(corpus, "out"))
    prepare(options_for(corpus, "straight"))
    assert contents(corpus / "out") == contents(corpus / "straight")


def test_folder_that_lost_a_file_is_prepared_again(corpus) -> None:
    prepare(options_for(corpus, "out"))
    before = contents(corpus / "out")
    (corpus / "out" / "train.en-de.en.pos.idx").unlink()
    prepare(options_for(corpus, "out"))
    assert contents(corpus / "out") == before


def test_files_of_another_tool_are_not_replaced(corpus) -> None:
    (corpus / "out").mkdir()
    (corpus / "out" / "dict.en.txt").write_text("precious 1\n")
    (corpus / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds files of another tool.*dict.en.txt"):
        prepare(options_for(corpus, "out"))
    assert (corpus / "out" / "dict.en.txt").read_text() == "precious 1\n"
    prepare(options_for(corpus, "out", overwrite=True))
    assert (corpus / "out" / "notes.txt").read_text() == "mine"


def test_two_runs_in_one_folder_are_refused(corpus, monkeypatch) -> None:
    monkeypatch.setattr(workspace, "PATIENCE", 0.1)
    with locked(corpus / "out"):
        held = (corpus / "out" / LOCK).read_text()
        with pytest.raises(InputError, match=rf"prepared by another process \({held}\)"):
            prepare(options_for(corpus, "out"))
    assert held == str(os.getpid())
    prepare(options_for(corpus, "out"))
    assert not (corpus / "out" / LOCK).exists()


def test_lock_of_a_dead_process_is_free(corpus) -> None:
    def hold() -> None:
        with locked(corpus / "out"):
            time.sleep(60)

    child = fork(hold)
    wait_until(lambda: (corpus / "out" / LOCK).is_file())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    prepare(options_for(corpus, "out"))
    assert not (corpus / "out" / LOCK).exists()


def test_lock_is_held_while_an_orphan_still_works(corpus, monkeypatch) -> None:
    # a worker that has not yet noticed its parent's death must keep the next run waiting
    monkeypatch.setattr(workspace, "PATIENCE", 0.2)
    monkeypatch.setattr(workers, "_end_with_parent", lambda: None)
    monkeypatch.setattr(chunks, "annotate_lines", lambda *args, **how: time.sleep(60))
    child = fork(lambda: prepare(options_for(corpus, "out", workers=2)))
    wait_until(lambda: len(children(child)) == 2)
    working = children(child)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert all(map(alive, working))
    with pytest.raises(InputError, match="being prepared by another process"):
        prepare(options_for(corpus, "out"))


def test_unfinished_work_of_another_format_begins_anew(tmp_path, monkeypatch):
    kept = workspace.open_work(tmp_path, "fingerprint", overwrite=False) / "chunk"
    kept.touch()
    workspace.open_work(tmp_path, "fingerprint", overwrite=False)
    assert kept.is_file()
    monkeypatch.setattr(workspace, "WORK_FORMAT", workspace.WORK_FORMAT + 1)
    workspace.open_work(tmp_path, "fingerprint", overwrite=False)
    assert not kept.exists()
