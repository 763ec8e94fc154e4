"""Streams on disk, read or mapped."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.syntax import rows
from fairseq_plugins.syntax.rows import Rows


def test_mapped_streams_are_those_on_disk_and_cannot_be_changed(tmp_path, monkeypatch):
    write_stream(tmp_path / "a", [[5, 6], [], [7]], 8)
    opened = []
    real = np.memmap
    monkeypatch.setattr(
        rows.np, "memmap", lambda *args, **how: opened.append(how["mode"]) or real(*args, **how)
    )
    read, mapped = Rows.read(tmp_path / "a"), Rows.read(tmp_path / "a", mapped=True)
    assert [row.tolist() for row in mapped] == [row.tolist() for row in read] == [[5, 6], [], [7]]
    assert opened == ["r"]  # so that a folder that nobody may write can be read
    with pytest.raises(ValueError, match="read-only"):
        mapped[0][0] = 99
