"""Files whose tensors claim to hold more than the file does; each claim is shown to be one."""

from __future__ import annotations

import pickle
import zipfile

import pytest
import torch

from fairseq_plugins.door.torch_files import read_plain, read_state
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.averaging import average_checkpoints
from fairseq_plugins.pretrained.weights import read_pickle

HUGE = 2**40


def strided(size, stride):
    return torch.zeros(1).as_strided(size, stride)


def model(value, **how):
    """Return what saves a checkpoint with a weight."""
    return lambda path: torch.save({"model": {"w": value}, "cfg": {}}, path, **how)


def rewritten(value, change):
    """Return what saves a checkpoint as an archive with changed parts."""

    def save(path):
        model(value)(path)
        with zipfile.ZipFile(path) as archive:
            parts = {part.filename: archive.read(part) for part in archive.infolist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, content in parts.items():
                how, made = zipfile.ZIP_STORED, content
                if name.endswith("data.pkl"):
                    how, made = change(content)
                    assert made != content
                archive.writestr(name, made, how)

    return save


def bomb(content):
    return zipfile.ZIP_DEFLATED, content + bytes(50_000_000)


def longer(content):
    """Say 2 billion numbers in the place of 300, everywhere."""
    return zipfile.ZIP_STORED, content.replace(b"M,\x01", b"J\x00\x00\x00\x7f")


OLDER = {"_use_new_zipfile_serialization": False}
ENDLESS, DEEP = strided((HUGE,), (0,)), {"deep": [({"w": strided((HUGE,), (0,))},)]}
NO_PLAIN = "'model.w' is no plain tensor of numbers"
# what writes a file, and how the file is refused
FORGED = {
    "stride": (model(ENDLESS), "'model.w' claims 4,398,046,511,104 bytes and holds 4"),
    "older stride": (model(ENDLESS, **OLDER), "'model.w' claims 4,398,046,511,104 bytes"),
    "strides": (model(strided((HUGE, 2, 2), (0, 0, 0))), "'model.w' claims"),
    "meta": (model(torch.zeros(HUGE, device="meta")), NO_PLAIN),
    "sparse": (model(torch.sparse_coo_tensor([[0]], [1.0], (HUGE,))), NO_PLAIN),
    "older sparse": (model(torch.sparse_coo_tensor([[0]], [1.0], (HUGE,)), **OLDER), NO_PLAIN),
    "nested": (model(torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])), NO_PLAIN),
    "complex": (model(torch.ones(2, dtype=torch.complex64)), NO_PLAIN),
    "elsewhere": (
        lambda path: torch.save({"model": {}, "extra_state": DEEP}, path),
        r"'extra_state\.deep\.0\.0\.w' claims",
    ),
    "no model": (lambda path: torch.save({"w": ENDLESS}, path), "'w' claims"),
    "compressed": (rewritten(torch.zeros(2), bomb), "compressed"),
    "longer storage": (rewritten(torch.arange(300.0), longer), r"a\.pt: refused"),
    "bare": (lambda path: path.write_bytes(pickle.dumps(bytearray(3), protocol=2)), r"a\.pt: ref"),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_is_not_as_it_says_is_refused_however_it_is_read(tmp_path, name):
    write, message = FORGED[name]
    path = tmp_path / "a.pt"
    write(path)
    assert path.stat().st_size < 1_000_000
    for read in (read_plain, read_state, lambda p: average_checkpoints([p], tmp_path / "out.pt")):
        with pytest.raises(InputError, match=message):
            read(path)
    with pytest.raises(InputError, match=message):
        read_pickle(path)
    assert not (tmp_path / "out.pt").exists()


def test_many_tensors_on_one_storage_are_more_than_the_file(tmp_path):
    table = torch.zeros(1000, 10)
    torch.save(
        {"model": {"a": table, "b": table, "c": table}}, tmp_path / "tied.pt"
    )  # as translation models do
    assert read_state(tmp_path / "tied.pt")["model"]["b"].shape == (1000, 10)
    many = {f"layers.{i}": table for i in range(50)}
    torch.save({"model": many}, tmp_path / "many.pt")
    with pytest.raises(InputError, match="its tensors claim 2,000,000 bytes, it has "):
        read_state(tmp_path / "many.pt")


def test_values_that_are_shared_many_times_take_no_time(tmp_path):
    value: list = []
    for _ in range(60):
        value = [value, value]
    torch.save({"model": {}, "cfg": {"x": value}}, tmp_path / "a.pt")
    assert read_state(tmp_path / "a.pt")["model"] == {}


def test_what_is_honest_is_read_as_it_was_saved(tmp_path):
    model = {"w": torch.randn(3, 4).T, "half": torch.ones(2).half(), "n": torch.tensor(3)}
    model["view"] = model["w"][1:]
    model["empty"] = torch.zeros(0, 5)
    for older in (False, True):
        path = tmp_path / "a.pt"
        torch.save({"model": model}, path, _use_new_zipfile_serialization=not older)
        found = read_state(path)["model"]
        assert all(torch.equal(found[name], value) for name, value in model.items())
        assert all(found[name].dtype == value.dtype for name, value in model.items())
