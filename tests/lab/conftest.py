"""A prepared folder, as far as grids read it."""

from __future__ import annotations

import json

import pytest
from lab.toy_grids import MANIFEST


@pytest.fixture
def folder(tmp_path):
    def write(**changes):
        (tmp_path / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
        return tmp_path

    return write
