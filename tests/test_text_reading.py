"""Text files: one reading for all, and one sentence about those that are no UTF-8."""

from __future__ import annotations

import io
import json
import subprocess
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.corpora.datasets import DATASETS, read_split
from fairseq_plugins.corpora.parallel_text import scan_file
from fairseq_plugins.corpora.readers.expected import Expected
from fairseq_plugins.corpora.readers.foreign import read_advglue
from fairseq_plugins.corpora.squad import read as read_squad
from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.squad_files import read_json
from fairseq_plugins.lab.plan.yaml_file import read_yaml
from fairseq_plugins.prep.recipes.text_options import parse_labels
from fairseq_plugins.pretrained.directory import read_json as read_config
from fairseq_plugins.targets.classes import CLASSES
from fairseq_plugins.text.segment import check_codes
from fairseq_plugins.text_reading import PACKED, lines_of, numbered_lines, read_lines, read_text

WIDE = ("utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
TEXTS = (
    "label\ttext\n1\tA good film.\n0\tBad.\n",
    "\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440\t1\n",  # Cyrillic: UTF-8 too, in pairs
    "\u4e0a\u6d77\u4e0d\u4e00\u6837\u7684\u4e00\u5929\n\u4e0a\u73ed\n",  # bytes 0x0a and 0x00
    "\U0001f600 ok\n",
    "x\n",
    "It\u2019s a \u201cgood\u201d film, and a long one.\n",  # bytes 0x20 that are no blanks
)


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("text", TEXTS)
def test_wide_encodings_are_named_with_their_cure(text, encoding, tmp_path) -> None:
    path = tmp_path / "file.tsv"
    path.write_bytes(text.encode(encoding))
    name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    for read in (lambda: list(numbered_lines(path)), lambda: read_text(path)):
        with pytest.raises(
            ValueError, match=rf"file\.tsv:\d: byte .* looks like {name};"
        ) as caught:
            read()
        assert f"(iconv -f {name} -t UTF-8 FILE > NEW)" in str(caught.value)
    command = ["iconv", "-f", name, "-t", "UTF-8", str(path)]
    path.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    assert "".join(f"{line}\n" for _, line in numbered_lines(path)) == text  # the cure cures


def test_streams_are_recognised_like_files() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        with pytest.raises(InputError, match="standard input:1: .* looks like UTF-"):
            list(lines_of(io.BytesIO(TEXTS[0].encode(encoding)), "standard input"))


@pytest.mark.parametrize("mark", PACKED)
def test_files_that_are_no_text_say_what_to_do(mark, tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(mark + b"\x14\n\xff\xfe")
    for read in (read_lines, read_text):
        with pytest.raises(InputError, match=r"table\.csv is no text, but .*: (unpack|save)"):
            read(path)


def test_latin_1_names_line_and_byte(tmp_path) -> None:
    path = tmp_path / "latin"
    path.write_bytes("gut\nsch\u00f6n\n".encode("latin-1"))
    for read in (read_lines, read_text):
        with pytest.raises(InputError, match=r"latin:2: byte 4 of the line \(0xf6\).*iconv -f OLD"):
            read(path)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_utf8_with_a_first_line_is_read_as_it_is(tmp_path_factory, text) -> None:
    """Lone zero bytes and carriage returns, which web text has, make no other encoding."""
    path = tmp_path_factory.mktemp("t") / "x"
    whole = f"a first line\n{text}"
    path.write_bytes(whole.encode())
    lines = [line.rstrip("\r") for line in whole.removesuffix("\n").split("\n")]
    assert [line for _, line in numbered_lines(path)] == lines
    assert read_text(path) == whole


@pytest.mark.parametrize("end", [b"", b"\r"])
def test_carriage_returns_alone_are_refused_in_one_sentence(end, tmp_path) -> None:
    path = tmp_path / "train.tsv"
    path.write_bytes(b"text\tlabel\r" + b"good film\t1\r" * 100 + b"bad film\t0" + end)
    message = r"train\.tsv: its lines end with a carriage return alone .*tr '\\r' '\\n'"
    for read in (read_lines, lambda p: scan_file(p, 9), lambda p: scan_file(p, None)):
        with pytest.raises(InputError, match=message) as caught:
            read(path)
    with pytest.raises(InputError, match=message) as caught:
        list(read_split(DATASETS["plain"], "train", path))
    assert len(str(caught.value)) < 200 + len(str(path))
    path.write_bytes(path.read_bytes().replace(b"\r", b"\n"))  # what the message says
    assert len(list(read_split(DATASETS["plain"], "train", path))) == 101


def test_a_carriage_return_inside_a_sentence_stays(tmp_path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"one\rsentence\r\nanother\r\n")
    assert read_lines(path) == ["one\rsentence", "another"]


READERS = {
    "advglue": lambda path: read_advglue(path, "", "rte", Expected(CLASSES, ("0", "1"), 2)),
    "answers": read_json,
    "codes": check_codes,
    "config": read_config,
    "labels": lambda path: parse_labels(str(path)),
    "squad": lambda path: list(read_squad(path)),
    "yaml": read_yaml,
}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_says_so(reader, encoding, tmp_path) -> None:
    path = tmp_path / "file.json"
    text = json.dumps({"d\u00e9j\u00e0": "vu"}, ensure_ascii=False)
    path.write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=r"file\.json:1: byte \d+ of the line .* iconv|\(iconv"):
        READERS[reader](path)
    path.write_bytes(text.encode("utf-8-sig"))
    with suppress(ValueError):  # UTF-8, but no such file as it reads
        READERS[reader](path)
