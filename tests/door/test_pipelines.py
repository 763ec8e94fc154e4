"""Pipelines out of bundles: plain ones pass, what asks for more is refused and never loaded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fairseq_plugins.door.pipelines import PIPELINE
from fairseq_plugins.errors import InputError
from fairseq_plugins.resources import PIPELINES, pipeline_path


@pytest.mark.parametrize("name", PIPELINES)
def test_the_bundled_pipelines_pass(name) -> None:
    PIPELINE.admit(pipeline_path(name))


@pytest.fixture
def pipeline(tmp_path) -> Path:
    return shutil.copytree(pipeline_path("bundled"), tmp_path / "pipeline")


def put(old: str, new: str):
    def change(folder: Path) -> None:
        path = folder / "config.cfg"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


ELSEWHERE = '\n[training.evil]\n@loggers = "spacy.ConsoleLogger.v3"\n'


def refer(place: str, name: str = "training.evil"):
    """Put a section of elsewhere in the place of a value."""

    def change(folder: Path) -> None:
        put("label_smoothing = 0.05", f"{place} = ${{{name}}}")(folder)
        path = folder / "config.cfg"
        path.write_text(path.read_text() + ELSEWHERE)

    return change


def put_beside(folder: Path, name: str, content: str) -> None:
    (folder / "tokenizer").unlink()
    (folder / "tokenizer").mkdir()
    (folder / "tokenizer" / name).write_text(content)


CHANGES = {
    "a section of elsewhere": (refer("scorer2"), "refers to 'training.evil'"),
    "a value of elsewhere": (refer("x", "paths.train"), "refers to 'paths.train'"),
    "a huge size": (put("label_smoothing = 0.05", "rows = 100000000"), "more than 1,000,000"),
    "settings of a tokeniser": (
        lambda folder: put_beside(folder, "cfg", '{"segmenter": "jieba"}'),
        "tokenizer/cfg: it says",
    ),
    "a model of a tokeniser": (
        lambda folder: put_beside(folder, "pkuseg_model", ""),
        "pkuseg_model",
    ),
    "a callback": (
        put("before_creation = null", '[nlp.before_creation]\n@callbacks = "x.v1"'),
        "it calls before_creation",
    ),
    "a callback as text": (put("after_creation = null", 'after_creation = "x"'), "after_creation"),
    "a factory": (put('factory = "parser"', 'factory = "curated"'), "made by 'curated'; choices"),
    "a source": (put('factory = "parser"', 'source = "/x"'), "component 'parser' is made by None"),
    "another package": (
        put('"spacy.Tok2Vec.v2"', '"spacy-transformers.TransformerModel.v3"'),
        "asks for 'spacy-transformers.TransformerModel.v3'",
    ),
    "a reader": (put('"spacy.Tok2Vec.v2"', '"srsly.read_json.v1"'), "asks for 'srsly.read_json"),
    "a shim": (put('"spacy.Tok2Vec.v2"', '"spacy.TorchBiLSTMEncoder.v1"'), "TorchBiLSTMEncoder"),
    "a tokeniser": (put('"spacy.Tokenizer.v1"', '"my.Tokenizer.v1"'), "asks for 'my.Tokenizer.v1'"),
    "a language": (put('lang = "en"', 'lang = "..x"'), "its language is '..x'"),
    "a module": (lambda folder: (folder / "vocab" / "x.py").touch(), r"vocab/x\.py lies in it"),
    "no configuration": (lambda f: (f / "config.cfg").write_text("[[["), "no configuration"),
    "a huge one": (lambda f: (f / "config.cfg").write_text("#" * (1 << 21)), "more than"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_asks_for_more_is_refused(pipeline, what) -> None:
    change, message = CHANGES[what]
    change(pipeline)
    with pytest.raises(InputError, match=message):
        PIPELINE.admit(pipeline)


@pytest.mark.parametrize("segmenter", ["char", "pkuseg"])
def test_a_segmenter_with_a_model_is_refused(pipeline, segmenter) -> None:
    chinese = f'"spacy.zh.ChineseTokenizer"\nsegmenter = "{segmenter}"'
    put('"spacy.Tokenizer.v1"', chinese)(pipeline)
    if segmenter == "char":
        PIPELINE.admit(pipeline)
    else:
        with pytest.raises(InputError, match="its tokenizer segments by 'pkuseg'"):
            PIPELINE.admit(pipeline)


def test_no_pipeline_at_all(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="is no spaCy pipeline"):
        PIPELINE.admit(tmp_path)
