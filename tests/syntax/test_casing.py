"""Text in small letters, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.syntax.casing import CASINGS, casing_of, lowered, restored


@given(st.text())
def test_letters_change_place_by_place_and_come_back(text):
    small, casing = lowered(text), casing_of(text)
    assert len(small) == len(text)
    assert lowered(small) == small
    assert casing in CASINGS
    if casing != "mixed":
        assert restored(small, casing) == text
    for other in CASINGS:
        assert len(restored(small, other)) == len(text)


@pytest.mark.parametrize(
    ("subword", "casing"),
    [
        *[("haus", "lower"), ("Haus@@", "title"), ("USA", "upper"), ("iPhone", "mixed")],
        *[
            ("\u2581Der", "title"),
            ("...", "other"),
            ("12", "other"),
            ("", "other"),
            ("中", "other"),
        ],
        *[("A", "title"), ("&quot;", "other"), ("AT&amp;T", "upper"), ("straße", "lower")],
        *[("STRAßE", "upper"), ("İ", "lower"), ("Éa", "title")],
    ],
)
def test_casings_of_subwords(subword, casing):
    if subword == "İ":  # its small letter is two characters: it stays as it is
        assert lowered(subword) == subword
        assert restored(subword, casing_of(subword)) == subword
        return
    assert casing_of(subword) == casing


def test_entities_are_no_letters():
    assert restored("&quot;a", "title") == "&quot;A"
    assert restored("&quot;", "title") == "&quot;"
