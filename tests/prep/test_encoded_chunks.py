"""Chunks on disk: they come back, and what is none is named."""

from __future__ import annotations

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.chunks import EncodedChunk
from fairseq_plugins.syntax.rows import Rows


@pytest.fixture
def path(tmp_path):
    streams = {"tokens0": Rows.of([[1, 2], [], [3]]), "label": Rows.of([])}
    EncodedChunk(streams, {"lines": 3}, {"long": 4}).save(tmp_path / "x.safetensors")
    return tmp_path / "x.safetensors"


def test_chunks_come_back(path):
    found = EncodedChunk.load(path, {"tokens0": 4, "label": 1})
    assert (found.counts, found.notes) == ({"lines": 3}, {"long": 4})
    assert [row.tolist() for row in found.streams["tokens0"]] == [[1, 2], [], [3]]
    assert len(found.streams["label"]) == 0


@pytest.mark.parametrize(
    ("bounds", "alike", "message"),
    [
        ({"tokens0": 3}, (), "tokens0 has numbers from 0 to 3, allowed are 0 to 2"),
        ({"words0": 3}, (), "KeyError.*words0"),
        ({}, ("tokens0", "label"), "tokens0, label have rows of unequal length"),
    ],
)
def test_what_does_not_fit_is_refused(path, bounds, alike, message):
    with pytest.raises(InputError, match=rf"is no chunk of this preparation.*{message}"):
        EncodedChunk.load(path, bounds, alike)


@pytest.mark.parametrize("change", [lambda b: b"", lambda b: b[:40], lambda b: b[:-3]])
def test_half_a_file_is_named(path, change):
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=r"x\.safetensors is no chunk of this preparation, or dam"):
        EncodedChunk.load(path, {})


def test_a_claim_is_refused_before_memory_is_taken(path):
    content = path.read_bytes().replace(b'"shape":[3]', b'"shape":[9]')
    path.write_bytes(content)
    with pytest.raises(InputError, match="SafetensorError"):
        EncodedChunk.load(path, {})
