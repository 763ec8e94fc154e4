"""The image: what it copies and runs is there, and its versions are those of set-up.

It is read, not built.
"""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if line and not line.startswith("#")]
SETUP = (ROOT / "scripts" / "setup.sh").read_text(encoding="utf-8")
IGNORED = [
    line
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def _is_copied(path: Path) -> bool:
    """Whether no line of .dockerignore is a path's first folders or, behind ``**/``, any part."""
    parts = path.relative_to(ROOT).parts
    heads = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    for line in IGNORED:
        anywhere = line.startswith("**/")
        if fnmatch.filter(parts if anywhere else heads, line.removeprefix("**/")):
            return False
    return True


def test_what_it_runs_is_there_and_copied():
    scripts = set(re.findall(r"scripts/\w+\.sh", "\n".join(LINES)))
    assert scripts == {"scripts/setup.sh", "scripts/quickstart.sh"}
    assert "COPY --chown=user . ." in LINES
    sample = ROOT / "examples" / "sample_en_de"
    used = [*map(ROOT.joinpath, scripts), *sample.iterdir(), *(ROOT / "fairseq_plugins").glob("*/")]
    used += [ROOT / name for name in ("setup.py", "pyproject.toml", "requirements.lock")]
    used += [ROOT / "README.md"]  # which setup.py reads
    used = [path for path in used if path.name != "__pycache__"]
    assert [path for path in used if not path.exists() or not _is_copied(path)] == []
    assert not _is_copied(ROOT / "tests" / "test_dockerfile.py")


def test_its_versions_are_those_of_set_up():
    preferred = re.search(r'order="(python3\.\d+) \$order"', SETUP).group(1)
    assert f"FROM {preferred.replace('python', 'python:')}-slim AS base" in LINES
    index = re.search(r'^CPU_INDEX="(.*)"$', SETUP, re.M).group(1)
    assert f"ARG TORCH_INDEX={index}" in LINES
    assert "torch==" not in TEXT  # the version is set-up's


def test_nothing_runs_as_root_but_installing_the_compiler():
    stages = "\n".join(LINES).split("FROM ")[1:]
    assert len(stages) == 3
    for stage in stages[1:]:
        before, user, after = stage.partition("USER user\n")
        assert user
        assert "setup.sh" not in before
        assert "USER" not in after
