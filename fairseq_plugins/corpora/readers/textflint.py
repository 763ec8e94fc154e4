"""What TextFlint (Gui et al., 2021) writes: samples before and after a transformation.

``ori_NAME_N.json`` and ``trans_NAME_N.json`` hold one JSON object a line: sentence matching
``sentence1 sentence2 y`` with y ``0`` or ``1``, inference ``premise hypothesis y``, single texts
``x y``. ``sample_id`` says which original a transformed sample was made from: there may be several.
"""

from __future__ import annotations

import re
from pathlib import Path

from ...messages import named
from ...text_reading import numbered_lines
from ..examples import Example
from .expected import Expected, check_same_pairs, json_object

TRANSFORMED, ORIGINAL = "trans", "ori"
FIELDS = (("sentence1", "sentence2"), ("premise", "hypothesis"), ("x",))
NAME = re.compile(rf"({TRANSFORMED}|{ORIGINAL})_(.+?)(_\d+)?\.json")
ALIASES = {  # TextFlint's name -> that of the same transformation elsewhere
    "SwapWord": "SwapAnt",  # of sentence matching, as is the next
    "SwapNum": "NumWord",
    "SwapSynWordNet": "SwapSyn",
    "SwapSyn-WordNet": "SwapSyn",
    "Punctuation": "AddPunc",
    "TwitterType_random": "TwitterType",  # what it adds is part of the name
    "TwitterType_at": "TwitterType",
    "TwitterType_url": "TwitterType",
}


def transformed_file(path: Path) -> Path | None:
    """Return the transformed samples that a file of TextFlint holds or belongs to, if it is one."""
    found = NAME.fullmatch(path.name)
    if not found:
        return None
    return path.with_name(path.name.replace(found.group(1), TRANSFORMED, 1))


def transformation_of(path: Path) -> str:
    """Return the name of the transformation that a file name tells."""
    name = NAME.fullmatch(path.name).group(2)
    return ALIASES.get(name, name)


def read_textflint(path: Path, expected: Expected) -> tuple[list[Example], list[Example]]:
    """Read transformed samples and the original of each.

    Args:
        path: ``trans_….json``; its originals lie beside it.
        expected: what the model reads and answers.

    Returns:
        Originals and transformed samples, equally many.

    Raises:
        FileNotFoundError: one of the two files is missing.
        ValueError: a line that is no sample, a label that the model does not know, or a sample
            without its original; with file and line.
    """
    before = path.with_name(path.name.replace(TRANSFORMED, ORIGINAL, 1))
    for needed, what in ((path, "transformed"), (before, "original")):
        if not needed.is_file():
            raise FileNotFoundError(f"{needed}: no such file of {what} samples")
    originals, perturbed = _read(before, expected), _read(path, expected)
    if all(known for _, known in (*originals, *perturbed)):
        return _joined(originals, perturbed, (before, path)), [sample for sample, _ in perturbed]
    both = [sample for sample, _ in originals], [sample for sample, _ in perturbed]
    check_same_pairs(*both, (before, path))
    return both


def _read(path: Path, expected: Expected) -> list[tuple[Example, bool]]:
    """Read samples, each with whether it has an id of its own."""
    found = []
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        sample = json_object(line, where)
        fields = next((names for names in FIELDS if {*names, "y"} <= sample.keys()), None)
        if fields is None:
            known = "; ".join(", ".join(names) for names in FIELDS)
            raise ValueError(
                f"{where}: no sample: found {named(sample, none='nothing')}, expected y and one "
                f"of: {known}"
            )
        identifier = sample.get("sample_id")
        name = str(len(found)) if identifier is None else str(identifier)
        row = name, tuple(sample[field] for field in fields), sample["y"]
        found.append((expected.example(row, where, number), identifier is not None))
    if not found:
        raise ValueError(f"{path}: no samples")
    expected.tell_respelled(path)
    return found


def _joined(
    originals: list[tuple[Example, bool]],
    perturbed: list[tuple[Example, bool]],
    paths: tuple[Path, Path],
) -> list[Example]:
    """Return the original of every transformed sample."""
    before, after = paths
    by_id: dict[str, Example] = {}
    for sample, _ in originals:
        if by_id.setdefault(sample.id, sample) is not sample:
            raise ValueError(
                f"{before}:{sample.line}: sample_id {sample.id} is that of line "
                f"{by_id[sample.id].line}, too"
            )
    for sample, _ in perturbed:
        if sample.id not in by_id:
            raise ValueError(
                f"{after}:{sample.line}: sample_id {sample.id} is in no line of {before}"
            )
    left = by_id.keys() - {sample.id for sample, _ in perturbed}
    if left:
        first = next(sample for sample, _ in originals if sample.id in left)
        raise ValueError(f"{before}:{first.line}: sample_id {first.id} is in no line of {after}")
    return [by_id[sample.id] for sample, _ in perturbed]
