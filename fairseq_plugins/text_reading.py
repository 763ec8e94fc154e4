"""Text files as strict UTF-8; errors say how to convert a file.

Lines end at ``\\n`` alone (a ``\\r`` before it is dropped). Python's universal newlines and
``str.splitlines`` also split at characters inside sentences (U+2028, a lone carriage return), which
would misalign parallel files and shift offsets. A file whose lines end with carriage returns alone
would thus be one line, and is refused; so is UTF-16, which without its mark can pass for UTF-8 full
of zero bytes. A byte order mark is no part of the first line.
"""

import codecs
import json
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .errors import InputError

BYTE_ORDER_MARK = "\ufeff"
MARKS = {  # longer marks first: one begins like another
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
UNMARKED = {"UTF-32LE": 4, "UTF-32BE": 4, "UTF-16LE": 2, "UTF-16BE": 2}  # name -> bytes per unit
PACKED = {  # first bytes of files that are no text, and what to do with them
    b"PK\3\4": "a ZIP archive or a spreadsheet: unpack it, or save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document: save the table as CSV",
    b"\x1f\x8b": "compressed by gzip: unpack it (gunzip)",
}
SAMPLE = 1 << 14  # bytes of a file for guessing its encoding
DIGITS = 18  # most digits of a whole number in JSON
BLANKS = "\t\n\r\f\v"
ONE_A_LINE = "JSON lines hold one object a line (jq -c '.[]' FILE makes them of an array)"
UNASSIGNED = ("Cc", "Cn", "Cs", "Co")  # Unicode categories rare in text


def numbered_lines(path: str | Path, offset: int = 0, number: int = 1) -> Iterator[tuple[int, str]]:
    """Yield (line number, line without its end) from a byte offset on; see `decode_line`."""
    with open(path, "rb") as stream:
        stream.seek(offset)
        yield from lines_of(stream, path, number)


def lines_of(
    stream: Iterable[bytes], name: str | Path, number: int = 1
) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of an open file as soon as they arrive; see `decode_line`."""
    for i, raw in enumerate(stream, number):
        yield i, decode_line(raw, name, i)


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a file without their ends; see `decode_line`."""
    if not Path(path).is_file():
        is_there = Path(path).exists() and not Path(path).is_dir()
        what = "is no regular file (a pipe can be given as standard input)" if is_there else ""
        raise FileNotFoundError(f"{path} {what}" if what else f"{path}: no such file")
    return [line for _, line in numbered_lines(path)]


def parse_json(text: str) -> Any:
    """Read JSON; refuse very long numbers, half characters and deep nesting."""

    def whole(digits: str) -> int:
        if len(digits) > DIGITS + 1:
            raise InputError(f"a number of {len(digits):,} digits")
        return int(digits)

    try:
        found = json.loads(text, parse_int=whole)
        json.dumps(found, ensure_ascii=False).encode()  # fails for half of a surrogate pair
    except RecursionError:
        raise InputError("too deep") from None
    return found


def json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Yield (line number, value) of a file of JSON lines."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: no JSON ({error})") from None


def as_rows(value: Any) -> Any:
    """Return rows of a table given as columns, as Hugging Face writes JSON; else the value."""
    columns = [*value.values()] if isinstance(value, dict) else []
    if columns and all(isinstance(one, list) and len(one) == len(columns[0]) for one in columns):
        return [dict(zip(value, row)) for row in zip(*columns)]
    return value


def read_text(path: str | Path) -> str:
    """Read a whole file, its line ends unchanged; see `decode` and `Path.read_bytes`."""
    return decode(Path(path).read_bytes(), path)


def decode_line(raw: bytes, name: str | Path, number: int) -> str:
    """Return line ``number`` (from 1) of the file ``name`` as text without its end."""
    line = decode(raw, name, number).rstrip("\r\n")
    if number == 1 and "\r" in line and not raw.endswith(b"\n"):
        raise InputError(
            f"{name}: its lines end with a carriage return alone (old Macintosh), so "
            "all of it is one line; convert the file first (tr '\\r' '\\n' < FILE > NEW)"
        )
    return line


def decode(raw: bytes, name: str | Path, number: int = 1) -> str:
    """Return bytes as text, without a byte order mark at the beginning of the file.

    Args:
        raw: the file ``name``, or its rest from line ``number`` on; ``name`` is for errors.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _other_encoding(raw, error.start, name, number) from None
    if number <= 2 and b"\0" in raw and _guess(_beginning(raw, name)):
        raise _other_encoding(raw, raw.index(b"\0"), name, number)
    return text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text


def _other_encoding(raw: bytes, place: int, name: str | Path, number: int) -> InputError:
    """Return the error of a byte that is not valid UTF-8: of another encoding, or of no text."""
    line, byte = number + raw.count(b"\n", 0, place), place - raw.rfind(b"\n", 0, place)
    beginning = _beginning(raw, name)
    for mark, kind in PACKED.items():
        if beginning.startswith(mark):
            return InputError(f"{name} is no text, but {kind}")
    found = _guess(beginning)
    why = f": the file looks like {found}" if found else ""
    return InputError(
        f"{name}:{line}: byte {byte} of the line (0x{raw[place]:02x}) is not valid UTF-8{why}; "
        f"convert the file first (iconv -f {found or 'OLD'} -t UTF-8 FILE > NEW"
        f"{'' if found else ', where OLD is often LATIN1 or CP1252'})"
    )


def _beginning(raw: bytes, name: str | Path) -> bytes:
    """Return the beginning of a file, or the available bytes of a stream."""
    if not Path(name).is_file():  # a line of UTF-16LE lacks the last byte of its end
        return raw + b"\0" if raw.endswith(b"\n") and len(raw) % 2 else raw
    with open(name, "rb") as stream:
        return stream.read(SAMPLE)


def _guess(sample: bytes) -> str:
    """Return the encoding of a file's beginning if not UTF-8; empty if unknown.

    Without a mark, zero bytes show the encoding: in English text at every second place, in any
    script beside blanks and line ends.
    """
    marked = next((name for mark, name in MARKS.items() if sample.startswith(mark)), "")
    return marked or next((name for name in UNMARKED if _is_in(sample, name)), "")


def _is_in(sample: bytes, encoding: str) -> bool:
    """Whether bytes are text of an encoding with units of several bytes, and hardly UTF-8."""
    units = sample[: len(sample) // UNMARKED[encoding] * UNMARKED[encoding]]
    text = codecs.getincrementaldecoder(encoding)("replace").decode(units)
    narrow = sum(character < "\x80" for character in text)  # with one or three zero bytes
    strange = sum(
        unicodedata.category(character) in UNASSIGNED and character not in BLANKS
        for character in text
    )
    if not narrow or "\ufffd" in text or "\0" in text or 50 * strange > len(text):
        return False
    try:
        units.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end < len(units):  # not just cut
            return True
    # UTF-8 too, with zero bytes: then most line ends and blanks must have theirs (a byte of another
    # character may look like one, as in U+2019)
    blanks = text.count("\n") + text.count(" ")
    alike = units.count(b"\n") + units.count(b" ")
    return 2 * blanks >= alike and narrow > 1 and 20 * narrow > len(text)


def check_characters(text: str, place: str) -> None:
    """Refuse lone surrogates, which JSON can spell; the error names ``place``."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise InputError(f"{place}: {half!r} is half a character (a lone surrogate)") from None


def is_cell(text: str) -> bool:
    """Whether a text can stand in a table or list of lines: not empty, no tab, no line break."""
    return bool(text) and not any(mark in text for mark in "\t\n\r")
