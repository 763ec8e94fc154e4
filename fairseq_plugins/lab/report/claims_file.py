"""Read the YAML file of claims: statements of papers, and the kept rows that test them.

    title: Does the structure matter?
    intro: ...
    names: {bert_plain_minilm: BERT, bert_sla_minilm: SLA}     # shown names of systems
    claims:
      - title: Attention along the parse
        claim: ...                  # texts are Markdown
        ran: ...
        comparisons:
          - {rows: rows/cola.jsonl, baseline: bert_plain_minilm, title: CoLA}
        limits: ...

Files of rows lie below the folder of the file. Missing files, and missing rows of a system in
``names``, are no error: the page says what has not been run.
"""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from ...errors import InputError
from ...messages import quoted
from ..plan.grid import Below, Name
from ..plan.values import LINE, Kind
from ..plan.yaml_file import read_as, read_yaml
from ..safe_files import is_below

_Label = Annotated[  # in tables, pictures and headings
    str,
    Kind(
        f"{LINE.said}, with something in it and without |",
        lambda text: LINE.fits(text) and text.strip() and "|" not in text,
    ),
]


def _different(names: dict[str, str]) -> dict[str, str]:
    for system, name in names.items():
        if (other := next(one for one in names if names[one] == name)) != system:
            raise InputError(f"{other} and {system} are both called {quoted(name)}")
    return names


class Compared(BaseModel, extra="forbid", frozen=True):
    """A comparison of systems with a baseline, on kept rows."""

    rows: Below  # file of `fairseq-plugins results keep`; may be missing
    baseline: Name
    title: _Label  # of the table
    systems: tuple[Name, ...] = ()  # to compare; empty for all
    metric: str = ""  # empty for the usual one


class Claim(BaseModel, extra="forbid", frozen=True):
    """A statement of a paper, and its test."""

    title: _Label
    claim: str  # statement of the paper
    ran: str  # systems, data, length, choice of checkpoints
    comparisons: Annotated[tuple[Compared, ...], Field(min_length=1)]
    limits: str  # what the test does not show


class ClaimsFile(BaseModel, extra="forbid", frozen=True):
    """A page of claims."""

    title: _Label
    intro: str
    claims: Annotated[tuple[Claim, ...], Field(min_length=1)]
    names: Annotated[dict[str, _Label], AfterValidator(_different)] = {}  # shown names of systems


def read_claims(path: str | Path) -> ClaimsFile:
    path = Path(path)
    found = read_as(ClaimsFile, read_yaml(path), str(path))
    for number, claim in enumerate(found.claims, 1):
        for one in claim.comparisons:
            if not is_below(path.parent, path.parent / one.rows):
                place = f"{path}: claims: value {number}: comparisons"
                raise InputError(f"{place}: rows {quoted(one.rows)} lie elsewhere")
    return found
