"""The working folder of all frozen tests."""

from __future__ import annotations

import pytest
from frozen.workshop import Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory) -> Workshop:
    """Where the folders are made; see `Workshop`."""
    return Workshop(tmp_path_factory.mktemp("frozen") / "place")
