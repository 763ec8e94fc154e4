"""A prepared folder, as far as grids read it."""

from __future__ import annotations

import pytest
from lab.toy_grids import COUNTS, manifest_of


@pytest.fixture
def folder(tmp_path):
    def write(target="classes", **changes):
        told = {"metric": "mcc", "positive": "yes" if target == "classes" else "", **changes}
        manifest_of("toy", target, COUNTS, **told).save(tmp_path)
        return tmp_path

    return write
