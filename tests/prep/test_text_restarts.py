"""The bytes of a folder of examples depend on input and options alone."""

from __future__ import annotations

import os
import signal
import time

import pytest
from raw_corpora import contents
from raw_datasets import write_raw
from raw_text import CASED, RuleParser, text_options, write_pretrained
from stops import Stopped, stop_now, stopped_at

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import engine, workspace
from fairseq_plugins.prep.recipes import text as text_recipe
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.workspace import LOCK, WORK

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch) -> None:
    """Put the rule where preparations load spaCy, and cut files into chunks of five examples."""
    monkeypatch.setattr(text_recipe, "load_annotator", lambda *args: RuleParser())
    monkeypatch.setattr(text_recipe, "CHUNK_EXAMPLES", 5)


@pytest.fixture
def raw(tmp_path):
    """A raw folder of pairs with a pretrained directory in it."""
    write_pretrained(tmp_path / "bert")
    write_raw("rte", tmp_path / "raw", count=23)
    return tmp_path


def options_for(raw, destdir: str, **values):
    """Options for the folder."""
    return text_options(raw, destdir, **{"dataset": "rte", "raw_dir": raw / "raw", **values})


@pytest.fixture
def straight(raw) -> dict[str, bytes]:
    prepare(options_for(raw, "straight"))
    return contents(raw / "straight")


def test_number_of_workers_changes_no_byte(raw, straight) -> None:
    assert FILE_NAME in straight
    assert not any(name.startswith(".") or ".tmp" in name for name in straight)
    for count in (2, 3):
        prepare(options_for(raw, str(count), workers=count))
        assert contents(raw / str(count)) == straight


def test_size_of_chunks_changes_no_byte(raw, straight, monkeypatch) -> None:
    monkeypatch.setattr(text_recipe, "CHUNK_EXAMPLES", 1000)
    prepare(options_for(raw, "out"))
    assert contents(raw / "out") == straight


def test_text_that_is_cut_otherwise_is_another_folder(raw, straight) -> None:
    """How case is kept stands beside the vocabulary, in files of their own."""
    part = {"shard": "1/2"}
    prepare(options_for(raw, "parted", **part))
    with pytest.MonkeyPatch().context() as patch, stopped_at(patch, engine, "carry", after=True):
        prepare(options_for(raw, "stopped"))
    write_pretrained(raw / "bert", CASED)
    with pytest.raises(InputError, match="lowercase"):
        prepare(options_for(raw, "straight"))
    assert contents(raw / "straight") == straight
    prepare(options_for(raw, "parted", shard="2/2"))
    with pytest.raises(InputError, match="lowercase"):
        prepare(options_for(raw, "parted", merge=True))
    prepare(options_for(raw, "stopped"))
    prepare(options_for(raw, "cased"))
    assert contents(raw / "stopped") == contents(raw / "cased") != straight


STEPS = ["plan", "carry", "SplitWriter.close", "Manifest.save", "close_work"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_stopped_at_any_step_nothing_looks_finished(
    step, after, raw, straight, monkeypatch
) -> None:
    place = workspace if step == "close_work" else engine
    with stopped_at(monkeypatch, place, step, after=after):
        prepare(options_for(raw, "out"))
    done = STEPS.index(step) + after > STEPS.index("Manifest.save")
    assert (raw / "out" / FILE_NAME).is_file() == done
    prepare(options_for(raw, "out"))
    assert contents(raw / "out") == straight


def test_finished_chunks_are_not_made_again(raw, straight, monkeypatch) -> None:
    seen = []
    encode = text_recipe.TextEncoder.encode

    def slow(self, examples, parses):
        if len(seen) == 6:
            raise Stopped
        seen.append([example.id for example in examples])
        return encode(self, examples, parses)

    monkeypatch.setattr(text_recipe.TextEncoder, "encode", slow)
    with pytest.raises(Stopped):
        prepare(options_for(raw, "out"))
    assert (raw / "out" / WORK).is_dir()
    before, seen[:] = list(seen), []
    monkeypatch.setattr(
        text_recipe.TextEncoder,
        "encode",
        lambda self, examples, parses: (
            seen.append([e.id for e in examples]) or encode(self, examples, parses)
        ),
    )
    prepare(options_for(raw, "out"))
    assert len(before) + len(seen) == 15  # three splits of 23 in chunks of five
    assert contents(raw / "out") == straight


def test_killed_and_rerun_gives_the_same_bytes(raw, straight, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        encode = text_recipe.TextEncoder.encode
        patch.setattr(
            text_recipe.TextEncoder,
            "encode",
            lambda self, examples, parses: time.sleep(0.05) or encode(self, examples, parses),
        )
        child = os.fork()
        if child == 0:
            os.setsid()
            prepare(options_for(raw, "out", workers=2))
            os._exit(0)
        end = time.monotonic() + 30
        while not list((raw / "out").glob(f"{WORK}/*.safetensors")):
            assert time.monotonic() < end
            time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert not (raw / "out" / FILE_NAME).is_file()
    (raw / "out" / "train.tokens0.bin.tmp77").write_bytes(b"half")
    (raw / "out" / "ax.examples.jsonl").write_bytes(b"of another run")
    prepare(options_for(raw, "out"))
    assert contents(raw / "out") == straight


def test_unchanged_rerun_does_nothing(raw, straight, monkeypatch) -> None:
    monkeypatch.setattr(text_recipe, "scan_files", stop_now)
    manifest = prepare(options_for(raw, "straight", workers=2))  # their number is no content
    assert manifest == read_manifest(raw / "straight", TextManifest)
    assert contents(raw / "straight") == straight


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"tokenize": "whitespace"}, r"options.tokenize 'spacy' -> 'whitespace'"),
        ({"annotations": "pos"}, r"options.annotations \['pos', 'heads'\] -> \['pos'\]"),
        ({"on_empty": "skip"}, r"options.read.on_empty 'error' -> 'skip'"),
        ({"valid_file": "train.tsv"}, r"inputs.valid.sha256"),
    ],
)
def test_changed_options_need_overwrite(change, named, raw, straight) -> None:
    if "valid_file" in change:
        change = {"valid_file": next((raw / "raw").rglob(change["valid_file"]))}
    with pytest.raises(InputError, match=rf"holds another preparation \({named}.*--overwrite"):
        prepare(options_for(raw, "straight", **change))
    assert contents(raw / "straight") == straight
    prepare(options_for(raw, "straight", overwrite=True, **change))
    prepare(options_for(raw, "fresh", **change))
    assert contents(raw / "straight") == contents(raw / "fresh") != straight


def test_changed_input_or_vocabulary_needs_overwrite(raw, straight) -> None:
    path = next((raw / "raw").rglob("dev.tsv"))
    path.write_text(path.read_text().replace("The", "A"))
    with pytest.raises(InputError, match=r"inputs.valid.sha256"):
        prepare(options_for(raw, "straight"))
    write_pretrained(raw / "other", CASED)
    with pytest.raises(InputError, match=r"options.pretrained .*other"):
        prepare(options_for(raw, "straight", pretrained=raw / "other"))


def test_input_counts_by_its_bytes_wherever_it_lies(raw, straight, monkeypatch) -> None:
    (raw / "raw").rename(raw / "moved")
    manifest = prepare(options_for(raw, "straight", raw_dir=raw / "moved"))
    assert manifest == read_manifest(raw / "straight", TextManifest)
    assert contents(raw / "straight") == straight


def test_folder_that_lost_a_file_is_prepared_again(raw, straight) -> None:
    (raw / "straight" / "train.heads1.idx").unlink()
    prepare(options_for(raw, "straight"))
    assert contents(raw / "straight") == straight


def test_files_of_another_preparation_are_not_replaced(raw, straight) -> None:
    (raw / "out").mkdir()
    (raw / "out" / "labels.txt").write_text("precious\n")
    with pytest.raises(InputError, match=r"holds files of another tool.*labels.txt"):
        prepare(options_for(raw, "out"))
    assert (raw / "out" / "labels.txt").read_text() == "precious\n"
    prepare(options_for(raw, "out", overwrite=True))
    assert contents(raw / "out") == straight


def test_bad_second_file_leaves_a_finished_folder_alone(raw, straight) -> None:
    path = next((raw / "raw").rglob("dev.tsv"))
    path.write_text(path.read_text() + "only one column\n")
    with pytest.raises(InputError, match=r"dev.tsv:25: "):
        prepare(options_for(raw, "straight", overwrite=True))
    assert contents(raw / "straight") == straight
    assert not (raw / "straight" / LOCK).exists()


def test_dead_worker_is_one_clear_error(raw, monkeypatch) -> None:
    monkeypatch.setattr(text_recipe.TextEncoder, "encode", lambda *args: os._exit(1))
    with pytest.raises(ChildProcessError, match=r"worker process died.*fewer --workers"):
        prepare(options_for(raw, "out", workers=2))
    assert not (raw / "out" / FILE_NAME).is_file()
