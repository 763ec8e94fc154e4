"""Chunks on disk: what they claim to hold is compared with the file."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from fairseq_plugins.prep.chunks import open_arrays, save_arrays


def header_of(shape) -> bytes:
    """Return the begin of an array of this shape, whose numbers are left out."""
    stream = io.BytesIO()
    made = {"descr": "<i8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, made)
    return stream.getvalue()


def read(path):
    with open_arrays(path):
        pass


def test_arrays_come_back(tmp_path):
    arrays = {"a": np.arange(6).reshape(2, 3), "empty": np.zeros(0, np.int32)}
    save_arrays(tmp_path / "x.npz", {"n": 1}, arrays)
    with open_arrays(tmp_path / "x.npz") as (header, found):
        assert header == {"n": 1}
        assert {*found} == {"header", *arrays}
        assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_claim_is_refused_before_memory_is_taken(tmp_path, monkeypatch, how):
    path = tmp_path / "x.npz"
    content = bytes(10_000_000) if how == zipfile.ZIP_DEFLATED else b""
    with zipfile.ZipFile(path, "w", how) as archive:
        archive.writestr("header.npy", header_of((len(content) // 8 or 10**9,)) + content)
    monkeypatch.setattr(np, "load", lambda *_: pytest.fail("the arrays are read"))
    with pytest.raises(ValueError, match=r"x\.npz is no chunk.*header\.npy claims [\d,]+ bytes"):
        read(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half a file"])
def test_half_a_file_is_named(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz is no chunk of this preparation, or damaged"):
        read(tmp_path / "x.npz")
