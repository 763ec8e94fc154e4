"""A page as a script: its blocks of bash and Python in order, and what it says they print.

Lines of a block of `text` are what a reader should see: `…` stands for anything, and so does the
value of a number with a point, which is another on another machine; words and whole numbers are
those of the output, in order.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cli import shims

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = "# not run by the tests: "  # what a block begins with that cannot be run here, and why
SET_UP = re.compile(r"bash scripts/(quickstart|setup|test)\.sh")  # CI runs these by themselves
LONGEST = 600  # seconds
OWN_PYTHON = "python -q"  # one that shims do not serve: in theirs much is imported
UPDATES = 4  # of trainings that say `${UPDATES:-NUMBER}`: a reader's are longer


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, and what it holds."""

    language: str
    text: str

    @property
    def runs(self) -> bool:
        """Whether it is a part of the page's script."""
        code = self.language in ("bash", "python")
        return code and not self.text.startswith(NOT_RUN) and not SET_UP.search(self.text)


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page that name their language."""
    return [Block(*found) for found in BLOCK.findall(page)]


def script_of(page: str) -> str:
    """Return a page's blocks of bash and Python as one script of bash."""
    parts = ["set -euo pipefail\n"]
    for block in blocks_of(page):
        if block.runs:
            start = OWN_PYTHON if "sys.modules" in block.text else "python"
            code = f"{start} - <<'PYTHON'\n{block.text}PYTHON\n"
            parts.append(code if block.language == "python" else block.text)
    return "".join(parts)


def not_printed(page: str, output: str) -> list[str]:
    """Return the lines of a page's blocks of `text` that its script did not print, in order."""
    shown = "".join(block.text for block in blocks_of(page) if block.language == "text")
    place, missing = 0, []
    for line in filter(str.strip, shown.splitlines()):
        found = re.compile(_pattern(line.strip())).search(output, place)
        place = found.end() if found else place
        missing += [] if found else [line]
    return missing


def _pattern(line: str) -> str:
    """Return a regular expression of a line as a page shows it."""
    parts = re.split(r"(…|-?\d+\.\d+(?:e-?\d+)?)", line)
    said = {"…": ".*"}
    odd = [said.get(part, r"-?[\d.]+(?:e-?\d+)?") for part in parts[1::2]]
    even = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in parts[::2]]
    return "".join(one for pair in zip(even, [*odd, ""]) for one in pair)


def run_script(script: str, folder: Path) -> str:
    """Run a script of bash where the repository's root seems to be; return what it printed.

    Args:
        script: what `script_of` returned.
        folder: an empty one, which gets links to what the root has.

    Raises:
        AssertionError: it failed; with the end of its output.
    """
    for name in ("docs", "examples", "fairseq_plugins", "scripts"):
        (folder / name).symlink_to(ROOT / name)
    updates = os.environ.get("PAGE_UPDATES", str(UPDATES))
    (folder / "page.sh").write_text(script, encoding="utf-8")
    done = subprocess.run(
        ["bash", "page.sh"],
        cwd=folder,
        env=shims.variables(PYTHONPATH=str(ROOT), UPDATES=updates),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout
