"""``fairseq-interactive --input FILE`` reads the lines that it reads from standard input."""

from __future__ import annotations

import importlib
import io
import sys
from random import Random

import pytest
from odd_lines import odd_texts
from omegaconf import OmegaConf

from fairseq_plugins.tasks.unanswered_rows import COMMAND, STANDARD, open_input


@pytest.fixture
def buffered_read(monkeypatch):
    """fairseq's own reader, in a program that is ``fairseq-interactive``."""
    module = importlib.import_module(COMMAND)
    monkeypatch.setattr(sys, "stdin", sys.stdin)
    yield module.buffered_read
    sys.modules.pop(COMMAND)


def read(buffered_read, given):
    cfg = OmegaConf.create({"interactive": {"input": str(given)}, "task": {}})
    open_input(cfg.task)
    found = [line for part in buffered_read(cfg.interactive.input, 3) for line in part]
    sys.stdin.close()
    return found


def test_a_file_gives_the_lines_of_standard_input(buffered_read, tmp_path):
    """n in, n out, whatever the lines hold, bytes that are no UTF-8 too."""
    draw, path = Random(2), tmp_path / "in.txt"
    for lines in odd_texts(1, 200):
        raw = "\n".join(lines).encode() + draw.choice((b"", b"\n", b"\r\n", b"\n\xff\xc3 a\n"))
        path.write_bytes(raw)
        from_file = read(buffered_read, path)
        sys.stdin = io.TextIOWrapper(io.BytesIO(raw))
        assert from_file == read(buffered_read, STANDARD)
        assert len(from_file) == raw.count(b"\n") + (not raw.endswith(b"\n"))
        assert from_file[: len(lines)] == [line.strip() for line in lines]


def test_a_missing_file_is_named(buffered_read, tmp_path):
    with pytest.raises(FileNotFoundError, match="none"):
        read(buffered_read, tmp_path / "none")


def test_other_programs_keep_their_input(tmp_path):
    before = sys.stdin
    open_input(
        OmegaConf.create({"interactive": {"input": str(tmp_path / "none")}, "task": {}}).task
    )
    assert sys.stdin is before
