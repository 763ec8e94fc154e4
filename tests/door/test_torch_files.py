"""Files whose tensors claim to hold more than the file does; each claim is shown to be one."""

from __future__ import annotations

import io
import pickle
import zipfile

import pytest
import torch

from fairseq_plugins.door.torch_files import read_plain, read_state
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.averaging import average_checkpoints
from fairseq_plugins.pretrained.weights import read_pickle

HUGE = 2**40


def save(path, model, **how):
    torch.save({"model": model, "cfg": {}}, path, **how)
    return path


def strided(size, stride):
    return torch.zeros(1).as_strided(size, stride)


@pytest.mark.parametrize("older", [False, True], ids=["zip", "older form"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (strided((HUGE,), (0,)), "'model.w' claims 4,398,046,511,104 bytes and holds 4"),
        (strided((HUGE, 2, 2), (0, 0, 0)), "'model.w' claims"),
        (torch.zeros(HUGE, device="meta"), "'model.w' is no plain tensor of numbers"),
        (torch.sparse_coo_tensor([[0]], [1.0], (HUGE,)), "'model.w' is no plain tensor"),
    ],
)
def test_claims_of_a_tensor_are_compared_with_its_storage(tmp_path, value, message, older):
    path = save(tmp_path / "a.pt", {"w": value}, _use_new_zipfile_serialization=not older)
    assert torch.load(path, weights_only=True)["model"]["w"].numel() >= HUGE  # torch takes it
    for read in (read_plain, read_state, lambda p: average_checkpoints([p], tmp_path / "out.pt")):
        with pytest.raises(InputError, match=message):
            read(path)
    assert not (tmp_path / "out.pt").exists()


def test_numbers_that_no_model_of_ours_has_are_refused(tmp_path):
    nested = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])
    for value in (nested, torch.ones(2, dtype=torch.complex64)):
        path = save(tmp_path / "a.pt", {"w": value})
        assert torch.load(path, weights_only=True)["model"]["w"].numel() >= 2  # torch takes it
        with pytest.raises(InputError, match="'model.w' is no plain tensor"):
            read_state(path)


def test_claims_anywhere_in_a_file_are_looked_at(tmp_path):
    for place in ("last_optimizer_state", "extra_state"):
        state = {"model": {}, place: {"deep": [({"w": strided((HUGE,), (0,))},)]}}
        torch.save(state, tmp_path / "a.pt")
        with pytest.raises(InputError, match=rf"'{place}\.deep\.0\.0\.w' claims"):
            read_state(tmp_path / "a.pt")
    torch.save({"w": strided((HUGE,), (0,))}, tmp_path / "b.bin")
    with pytest.raises(InputError, match="'w' claims"):
        read_pickle(tmp_path / "b.bin")


def test_many_tensors_on_one_storage_are_more_than_the_file(tmp_path):
    table = torch.zeros(1000, 10)
    save(tmp_path / "tied.pt", {"a": table, "b": table, "c": table})  # as translation models do
    assert read_state(tmp_path / "tied.pt")["model"]["b"].shape == (1000, 10)
    save(tmp_path / "many.pt", {f"layers.{i}": table for i in range(50)})
    with pytest.raises(InputError, match="its tensors claim 2,000,000 bytes, it has "):
        read_state(tmp_path / "many.pt")


def test_values_that_are_shared_many_times_take_no_time(tmp_path):
    value: list = []
    for _ in range(60):
        value = [value, value]
    torch.save({"model": {}, "cfg": {"x": value}}, tmp_path / "a.pt")
    assert read_state(tmp_path / "a.pt")["model"] == {}


def rewrite(path, change):
    """Write an archive again with changed parts."""
    with zipfile.ZipFile(path) as archive:
        parts = {part.filename: archive.read(part) for part in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            how, made = change(name, content)
            archive.writestr(name, made, how)


def test_a_compressed_part_is_refused_before_it_grows(tmp_path):
    path = save(tmp_path / "a.pt", {"w": torch.zeros(2)})

    def bomb(name, content):
        if not name.endswith("data.pkl"):
            return zipfile.ZIP_STORED, content
        return zipfile.ZIP_DEFLATED, content + bytes(50_000_000)

    rewrite(path, bomb)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match="compressed"):
        read_plain(path)


def test_a_storage_that_claims_more_than_its_part_is_refused(tmp_path):
    path = save(tmp_path / "a.pt", {"w": torch.arange(300.0)})

    def longer(name, content):
        claim = content.replace(b"M,\x01", b"J\x00\x00\x00\x7f")  # 300 -> 2 billion, everywhere
        assert name[-8:] != "data.pkl" or claim != content
        return zipfile.ZIP_STORED, claim if name.endswith("data.pkl") else content

    rewrite(path, longer)
    with pytest.raises(InputError, match=r"a\.pt: refused"):
        read_plain(path)


def test_a_bare_pickle_with_a_claim_is_refused(tmp_path):
    stream = io.BytesIO()
    pickle.dump({"model": bytearray(3)}, stream, protocol=2)
    (tmp_path / "a.pt").write_bytes(stream.getvalue())
    with pytest.raises(InputError, match=r"a\.pt"):
        read_state(tmp_path / "a.pt")


def test_what_is_honest_is_read_as_it_was_saved(tmp_path):
    model = {"w": torch.randn(3, 4).T, "half": torch.ones(2).half(), "n": torch.tensor(3)}
    model["view"] = model["w"][1:]
    model["empty"] = torch.zeros(0, 5)
    for older in (False, True):
        path = save(tmp_path / "a.pt", model, _use_new_zipfile_serialization=not older)
        found = read_state(path)["model"]
        assert all(torch.equal(found[name], value) for name, value in model.items())
        assert all(found[name].dtype == value.dtype for name, value in model.items())
