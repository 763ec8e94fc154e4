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
    """Return the name of the transformation that stands in a file name."""
    name = NAME.fullmatch(path.name).group(2)
    return ALIASES.get(name, name)


def read_textflint(path: Path, expected: Expected) -> tuple[list[Example], list[Example]]:
    """Read transformed samples and the original of each.

    Args:
        path: ``trans_….json``; its originals lie in the same folder.
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
    (originals, known), (perturbed, all_known) = _read(before, expected), _read(path, expected)
    if known and all_known:
        originals = _joined(originals, perturbed, (before, path))
    else:
        check_same_pairs(originals, perturbed, (before, path))
    return originals, perturbed


def _read(path: Path, expected: Expected) -> tuple[list[Example], bool]:
    """Read samples, and whether each has an id of its own."""
    found, known = [], True
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        sample = json_object(line, where)
        fields = next((names for names in FIELDS if {*names, "y"} <= sample.keys()), None)
        if fields is None:
            choices = "; ".join(", ".join(names) for names in FIELDS)
            raise ValueError(
                f"{where}: no sample: found {named(sample, none='nothing')}, expected y and one "
                f"of: {choices}"
            )
        identifier = sample.get("sample_id")
        known = known and identifier is not None
        name = str(len(found)) if identifier is None else str(identifier)
        row = name, tuple(sample[field] for field in fields), sample["y"]
        found.append(expected.example(row, where, number))
    if not found:
        raise ValueError(f"{path}: no samples")
    expected.log_respelled(path)
    return found, known


def _joined(
    originals: list[Example], perturbed: list[Example], paths: tuple[Path, Path]
) -> list[Example]:
    """Return the original of every transformed sample."""
    before, after = paths
    by_id: dict[str, Example] = {}
    for sample in originals:
        known = by_id.setdefault(sample.id, sample)
        if known is not sample:
            what = f"sample_id {sample.id} is that of line {known.line}, too"
            raise ValueError(f"{before}:{sample.line}: {what}")
    ours = {sample.id for sample in perturbed}
    for samples, ids, path, other in (
        (perturbed, by_id.keys(), after, before),
        (originals, ours, before, after),
    ):
        for sample in samples:
            if sample.id not in ids:
                what = f"sample_id {sample.id} is in no line of {other}"
                raise ValueError(f"{path}:{sample.line}: {what}")
    return [by_id[sample.id] for sample in perturbed]
