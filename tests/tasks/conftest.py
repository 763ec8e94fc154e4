"""Prepared folders that several test files read; none writes into them."""

from __future__ import annotations

import pytest
from prepared_text import LABELS, examples, prepare


@pytest.fixture(scope="module", params=LABELS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("folders")
    return {
        kind: prepare(
            root / kind,
            kind,
            {
                "train": examples(kind, 30),
                "valid": examples(kind, 13, 1),
                "test": examples(kind, 5, 2, gold=False),
            },
        )
        for kind in LABELS
    }
