"""Chinese grammatical error diagnosis (CGED, NLPTEA 2016 and later): wrong characters.

Training files hold ``<DOC>`` blocks with ``<TEXT id=…>``, ``<CORRECTION>`` and ``<ERROR start_off
end_off type/>``; test files hold ``(sid=ID)<TAB>text`` (or ``ID<TAB>text``), and a truth file in
the same folder the errors, as ``ID, first, last, type`` or ``ID, correct``. Offsets count
characters from 1, both ends included. Types are R (redundant), M (missing), S (selection), W
(order); M marks the character after the gap.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import unescape

from ...errors import InputError
from ...messages import quoted
from ...text_reading import numbered_lines
from ..conllu import NUMBER, Line
from ..examples import Example
from .split_file import MALFORMED, UNLABELLED, SplitFile, Unusable, tagged
from .tokens import CORRECT, INCORRECT

Error = tuple[int, int, int, str]  # line, first and last character, type

TYPES = ("R", "M", "S", "W")
TEXT = re.compile(r"<TEXT\b([^<>]*)>")
ID = re.compile(r"\bid\s*=\s*[\"'\u201c\u201d]?([^\"'\u201c\u201d\s]+)")
ERROR = re.compile(r"<ERROR\b([^<>]*)>")
OFFSETS = re.compile(r"start_off\W+(\d{1,9})\W+end_off\W+(\d{1,9})\W+type\W+(\w+)")
INPUT = re.compile(r"\(sid=([^)]*)\)\s*(.*)|([^\t]+)\t(.*)", re.DOTALL)
ENTITIES = {"&quot;": '"', "&apos;": "'"}
TRUTHS = {  # inputs whose truth file is not named with Truth for Input
    "test.HSK.Input.txt": "test.truth.txt",
    "test_CGED2018.xml": "test_truth0.txt",
    "test_2020-m.txt": "truth_2020-m.txt",
    "test_2021.txt": "truth_2021-mk.txt",
}


def truth_file(path: Path) -> Path | None:
    """Return the truth file of a test file in its folder, if there is one."""
    names = [TRUTHS.get(path.name, ""), path.name.replace("Input", "Truth")]
    names.append(path.name.replace("input", "truth"))
    found = (path.with_name(name) for name in names if name and name != path.name)
    return next((truth for truth in found if truth.is_file()), None)


def read_cged(file: SplitFile) -> Iterator[Example]:
    """Read a training file, or a test file with its truth file."""
    if file.first_line().lstrip().startswith("<"):
        return file.examples(_documents(file), lambda block: _document(file, block))
    return _read_test(file)


def _documents(file: SplitFile) -> Iterator[list[Line]]:
    block: list[Line] | None = None
    for number, line in file.lines():
        if "<DOC>" in line:
            if block is not None:
                raise file.malformed(number, f"<DOC> within the <DOC> of line {block[0][0]}")
            block = []
        if block is not None:
            block.append((number, line))
        if "</DOC>" in line and block is not None:
            yield block
            block = None
    if block is not None:
        raise file.malformed(block[0][0], "<DOC> without its end")


def _document(file: SplitFile, block: list[Line]) -> Example:
    identifier, text, inside = "", "", False
    errors: list[Error] = []
    for number, line in block:
        start = TEXT.search(line)
        named = start and ID.search(start.group(1))
        if named:
            identifier, inside, line = named.group(1), True, line[start.end() :]
        if inside:
            piece, end, _ = line.partition("</TEXT>")
            text += piece.strip()  # a long text may continue in the next line
            inside = not end
        errors.extend(_error(file, number, found.group(1)) for found in ERROR.finditer(line))
    if not identifier or inside:
        raise file.malformed(block[0][0], "<DOC> without a <TEXT id=…> … </TEXT>")
    return _labelled(file, (block[0][0], unescape(text, ENTITIES)), identifier, errors)


def _error(file: SplitFile, number: int, attributes: str) -> Error:
    found = OFFSETS.search(attributes)
    if not found or found.group(3) not in TYPES:
        expected = f"<ERROR start_off end_off type> with a type of {', '.join(TYPES)}"
        raise file.malformed(number, f"expected {expected}, found {quoted(attributes.strip())}")
    return number, int(found.group(1)), int(found.group(2)), found.group(3)


def _read_test(file: SplitFile) -> Iterator[Example]:
    path = truth_file(file.path)
    truth = _truth(path) if path else None
    if truth is None and file.must_have_labels:
        what = f"no truth file beside it, but split {file.split!r} must have labels"
        raise InputError(f"{file.path}: {what}")
    seen: set[str] = set()

    def make(line: Line) -> Example:
        identifier, text = _input(file, line)
        errors = None if truth is None else truth.get(identifier)
        if errors is not None:
            seen.add(identifier)
        elif truth is not None:
            file.dropped[UNLABELLED] += 1
        return _labelled(file, (line[0], text), identifier, errors, path)

    yield from file.examples((line for line in file.lines() if line[1].strip()), make)
    if truth and not seen:
        raise InputError(f"{path} names none of the sentences of {file.path}")


def _input(file: SplitFile, line: Line) -> tuple[str, str]:
    found = INPUT.fullmatch(line[1])
    if not found:
        raise file.malformed(line[0], f"expected (sid=ID)<TAB>text, found {quoted(line[1])}")
    identifier, text = (found.group(1) or found.group(3) or ""), found.group(2) or found.group(4)
    return identifier.strip(), (text or "").strip()


def _truth(path: Path) -> Mapping[str, list[Error]]:
    """Read a truth file: sentence -> its errors."""
    truth: dict[str, list[Error]] = {}
    for number, line in numbered_lines(path):
        fields = [field.strip() for field in line.split(",")]
        if fields == [""]:
            continue
        errors = truth.setdefault(fields[0], [])
        if len(fields) == 2 and fields[1] == "correct":
            continue
        digits = len(fields) == 4 and all(map(NUMBER.fullmatch, fields[1:3]))
        if not digits or fields[3] not in TYPES:
            raise InputError(
                f"{path}:{number}: expected 'ID, correct' or 'ID, first, last, type' with a type "
                f"of {', '.join(TYPES)}, found {quoted(line)}"
            )
        errors.append((number, int(fields[1]), int(fields[2]), fields[3]))
    return truth


def _labelled(
    file: SplitFile,
    text: Line,
    identifier: str,
    errors: Sequence[Error] | None,
    truth: Path | None = None,
) -> Example:
    """Return the example of a text's characters; offsets count blanks, which are no words."""
    number, characters = text
    places = [i for i, character in enumerate(characters) if not character.isspace()]
    if not places:
        raise file.empty(number, f"empty text {quoted(identifier)}")
    wrong: set[int] = set()
    for line, first, last, kind in errors or ():
        end = len(characters) + (kind == "M")  # the gap may be at the very end
        if not 1 <= first <= last <= end:
            message = f"error {first} to {last} of a text of {len(characters)} characters"
            raise Unusable(MALFORMED, f"{truth or file.path}:{line}: {message}")
        covered = [i for i in places if first <= i + 1 <= last]
        after = next((i for i in places if i + 1 >= first), places[-1])
        wrong.update(covered or [after])
    labels = [INCORRECT if i in wrong else CORRECT for i in places]
    words = [characters[i] for i in places]
    return tagged(words, None if errors is None else labels, identifier, number)
