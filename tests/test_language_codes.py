"""Codes of languages: however one is written, it is one language."""

from __future__ import annotations

import pytest
from language_forms import FIRST, codes
from nltk.langnames import iso639short

from fairseq_plugins.language_codes import KNOWN, base_code, is_known


def test_a_code_is_its_language_however_it_is_written():
    for code, language in codes(11, 400):
        assert base_code(code) == language, code
        assert base_code(base_code(code)) == language


@pytest.mark.parametrize("code", ["zn", "jp", "cn", "xx", "chinese", "", "zhx", "123", "e"])
def test_other_codes_are_not_known(code):
    assert not is_known(code)


def test_codes_of_iso_639_1_are_known():
    assert {*KNOWN.split()} == {*iso639short.values()}
    assert {code for code in FIRST if not is_known(code)} == {"ceb", "fil"}
