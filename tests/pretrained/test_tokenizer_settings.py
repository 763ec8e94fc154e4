"""How raw text is cut: which file says it, and what is said when none does."""

from __future__ import annotations

import json
import logging

import pytest
from pretrained_directories import vocabulary_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings, tokenizer_files
from fairseq_plugins.pretrained.vocabulary import Vocabulary

VOCABULARY = Vocabulary(vocabulary_of("uncased"))


def settings(lowercase, strip_accents, chinese_characters) -> dict[str, bool]:
    return {
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "chinese_characters": chinese_characters,
    }


def folder(path, *, config=None, normalizer=None, vocabulary=None):
    if config is not None:
        (path / "tokenizer_config.json").write_text(json.dumps(config))
    if normalizer is not None:
        (path / "tokenizer.json").write_text(json.dumps({"normalizer": normalizer}))
    if vocabulary is not None:
        (path / "vocab.txt").write_bytes(vocabulary)
    return path


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"do_lower_case": True}, settings(True, True, True)),
        ({"do_lower_case": False}, settings(False, False, True)),
        ({"do_lower_case": True, "strip_accents": None}, settings(True, True, True)),
        ({"do_lower_case": True, "strip_accents": False}, settings(True, False, True)),
        ({"do_lower_case": False, "strip_accents": True}, settings(False, True, True)),
        (
            {"do_lower_case": False, "tokenize_chinese_chars": False},
            settings(False, False, False),
        ),
    ],
)
def test_tokenizer_config_decides(tmp_path, config, expected) -> None:
    normalizer = {"type": "BertNormalizer", "lowercase": not config["do_lower_case"]}
    assert read_tokenizer_settings(folder(tmp_path, config=config)) == expected
    assert read_tokenizer_settings(folder(tmp_path, normalizer=normalizer)) == expected


def test_normalizer_decides_what_the_config_leaves_open(tmp_path) -> None:
    normalizer = {
        "type": "BertNormalizer",
        "lowercase": False,
        "strip_accents": None,
        "handle_chinese_chars": False,
    }
    folder(tmp_path, normalizer=normalizer)
    assert read_tokenizer_settings(tmp_path) == settings(False, False, False)
    folder(tmp_path, normalizer={"type": "Sequence", "normalizers": [normalizer]})
    assert read_tokenizer_settings(tmp_path) == settings(False, False, False)
    folder(tmp_path, config={"tokenize_chinese_chars": True})
    assert read_tokenizer_settings(tmp_path) == settings(False, False, True)


@pytest.mark.parametrize(
    ("kind", "lowercase"), [("uncased", True), ("cased", False), ("chinese", True)]
)
def test_vocabulary_decides_when_no_file_does(tmp_path, caplog, kind, lowercase) -> None:
    folder(tmp_path, vocabulary=vocabulary_of(kind))
    with caplog.at_level(logging.WARNING):
        assert read_tokenizer_settings(tmp_path) == settings(lowercase, lowercase, True)
    assert "no file says whether text is lower-cased" in caplog.text
    folder(tmp_path, config={"do_lower_case": not lowercase})  # the negation: a file wins
    assert read_tokenizer_settings(tmp_path)["lowercase"] is not lowercase


def test_values_that_are_no_switch_are_refused(tmp_path) -> None:
    folder(tmp_path, config={"do_lower_case": "yes"})
    with pytest.raises(InputError, match="tokenizer_config.json: do_lower_case is 'yes'"):
        read_tokenizer_settings(tmp_path)


def test_nothing_to_go_by_is_refused(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="no vocabulary"):
        read_tokenizer_settings(tmp_path)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("accents", [True, False])
@pytest.mark.parametrize("chinese", [True, False])
def test_written_settings_are_read_back(tmp_path, lowercase, accents, chinese) -> None:
    given = settings(lowercase, accents, chinese)
    for name, content in tokenizer_files(VOCABULARY, given, 512).items():
        (tmp_path / name).write_bytes(content)
    assert read_tokenizer_settings(tmp_path) == given
    assert (tmp_path / "vocab.txt").read_bytes() == VOCABULARY.content


def test_incomplete_settings_are_not_written() -> None:
    with pytest.raises(InputError, match="lack strip_accents, chinese_characters"):
        tokenizer_files(VOCABULARY, {"lowercase": True}, 512)
