"""Bad input and options: refused before any long work, with file, line, value and choices."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from raw_corpora import contents, invented_pairs, make_options, write_lines, write_pairs

from fairseq_plugins.corpora import parallel_text as corpus_files
from fairseq_plugins.corpora.parallel_text import read_chunk, scan_file
from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import engine
from fairseq_plugins.prep.recipes.translation import prepare


@pytest.fixture
def text(tmp_path, rule_tagger, monkeypatch) -> Path:
    """Good text, and work that must not begin."""
    write_pairs(tmp_path / "t", invented_pairs(12))

    def begin(*args):
        raise AssertionError("the work began")

    monkeypatch.setattr(engine, "make", begin)
    return tmp_path


def refuse(text: Path, message: str, kind: type[Exception] = ValueError, **values) -> None:
    """Expect an error, and no trace of the folder."""
    with pytest.raises(kind, match=message):
        prepare(make_options(text / "out", **({"trainpref": text / "t"} | values)))
    assert not (text / "out").exists()


def test_unequal_line_counts_name_both(text) -> None:
    write_lines(text / "t.de", ["eins", "zwei"])
    refuse(text, r"t\.en has 12 lines but .*t\.de has 2 lines")


def test_empty_files_are_refused(text) -> None:
    for lang in ("en", "de"):
        (text / f"v.{lang}").write_bytes(b"")
    refuse(text, r"v\.en is empty", validpref=text / "v")


@pytest.mark.parametrize("lang", ["en", "de"])
def test_invalid_utf8_names_file_line_and_byte(text, lang) -> None:
    lines = (text / f"t.{lang}").read_bytes().split(b"\n")
    lines[4] = b"caf\xe9 au lait"
    (text / f"t.{lang}").write_bytes(b"\n".join(lines))
    refuse(text, rf"t\.{lang}:5: byte 4 of the line \(0xe9\) is not valid UTF-8")


def test_compressed_file_is_refused(text) -> None:
    (text / "t.en").write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(256)))
    refuse(text, r"t\.en is no text, but compressed by gzip")


def test_overlong_test_line_is_named_and_a_long_enough_limit_takes_it(text) -> None:
    write_pairs(text / "v", [("kurz", "kurz"), ("x" * 30, "y")])
    refuse(
        text,
        r"v\.en:2: 30 characters.*--max-characters 29",
        validpref=text / "v",
        max_characters=29,
    )
    with pytest.raises(AssertionError, match="the work began"):
        prepare(
            make_options(
                *[text / "out"], trainpref=text / "t", validpref=text / "v", max_characters=30
            )
        )


@pytest.mark.parametrize("missing", ["t.en", "t.de", "t.en.conllu"])
def test_missing_text_is_named(text, missing) -> None:
    (text / missing).unlink(missing_ok=True)
    refuse(text, rf"no file '.*{missing}'", FileNotFoundError, conllu="conllu" in missing)


@pytest.mark.parametrize(
    ("flag", "content", "message"),
    [
        ("bpe_codes", None, r"--bpe-codes: no file"),
        ("bpe_codes", "not codes at all", r"given:1: expected two symbols"),
        ("sentencepiece_model", None, r"--sentencepiece-model: no file"),
        ("sentencepiece_model", "#version: 0.2\na b\n", "is no sentencepiece model"),
        ("srcdict", None, r"--srcdict: no file"),
        ("srcdict", "wordwithoutcount\n", "is no fairseq dictionary"),
        ("tgtdict", "a 1\na 2\n", "is no fairseq dictionary: Duplicate"),
    ],
)
def test_missing_and_foreign_models_are_refused(flag, content, message, text) -> None:
    if content is not None:
        (text / "given").write_text(content)
    kind = ValueError if content else FileNotFoundError
    subwords = "sentencepiece" if "piece" in flag else "subword_nmt"
    refuse(text, message, kind, subwords=subwords, **{flag: text / "given"})


def test_missing_pipeline_names_the_choices(text, monkeypatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(engine, "make", None)
    refuse(
        text,
        r"no spaCy pipeline 'en_none': give 'bundled'",
        FileNotFoundError,
        spacy_model="en_none",
    )


def test_destination_below_a_file_is_refused(text) -> None:
    with pytest.raises(NotADirectoryError, match="--destdir"):
        prepare(make_options(text / "t.en" / "out", trainpref=text / "t"))


def test_destination_without_write_permission_is_refused(text, monkeypatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != text)
    refuse(text, "--destdir: cannot write", PermissionError)


def test_inputs_in_the_way_of_results_are_refused(text) -> None:
    (text / "out").mkdir()
    dictionary = text / "out" / "dict.en.txt"
    dictionary.write_text("a 1\n")
    with pytest.raises(
        ValueError, match=r"dict.en.txt is an input, but --destdir .* would replace"
    ):
        prepare(make_options(text / "out", trainpref=text / "t", srcdict=dictionary))
    assert dictionary.read_text() == "a 1\n"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"features": "pos,ner"}, "unknown layer 'ner'; choices: pos, case, subword, heads"),
        ({"tokenizer": "spacy"}, "--tokenizer 'spacy': choices are moses, pretokenized, none"),
        ({"normalizer": "nfc"}, "--normalizer 'nfc': choices are none, moses"),
        ({"subwords": "wordpiece"}, "--subwords 'wordpiece': choices are subword_nmt"),
        ({"on_misalignment": "drop"}, "--on-misalignment 'drop': choices are error, repair, skip"),
        ({"trainpref": None}, "nothing to prepare"),
        ({"trainpref": "a,,b"}, "a prefix is empty"),
        ({"target_lang": "en"}, "both 'en'"),
        ({"source_lang": "en-GB"}, "-s 'en-GB': a language code is letters"),
        ({"source_lang": "de", "target_lang": "en"}, "conllu .*; --layers case,subword needs none"),
        ({"workers": 0}, "--workers 0: must be at least 1"),
        ({"bpe_size": 0}, "--bpe-size 0: must be at least 1"),
        ({"bpe_vocabulary_threshold": -1}, "--bpe-vocabulary-threshold -1"),
        ({"sentencepiece_sample": 0}, "--sentencepiece-sample 0"),
        ({"thresholdsrc": -1}, "--thresholdsrc -1"),
        ({"nwordstgt": -2}, "--nwordstgt -2"),
        ({"nwordssrc": 4}, "--nwordssrc 4: fairseq's own 4 symbols count too"),
        ({"max_words": 0}, "--max-words 0"),
        ({"min_words": 9, "max_words": 8}, "--min-words 9 is above --max-words 8"),
        ({"max_ratio": 0.5}, "--max-ratio 0.5: 0"),
        ({"max_ratio": -1.0}, "--max-ratio -1.0: 0"),
        ({"max_ratio": float("nan")}, "--max-ratio nan: 0"),
        ({"max_characters": 0}, "--max-characters 0"),
        ({"tokenizer": "none", "subwords": "none"}, "leaves whole lines uncut"),
        ({"subwords": "none", "bpe_codes": "x"}, "--bpe-codes needs --subwords subword_nmt"),
        ({"sentencepiece_model": "x"}, "--sentencepiece-model needs --subwords sentencepiece"),
        (
            {"subwords": "sentencepiece", "bpe_vocabulary_threshold": 5},
            "--bpe-vocabulary-threshold needs --subwords subword_nmt",
        ),
        ({"joined_dictionary": True, "srcdict": "a", "tgtdict": "b"}, "not both"),
        ({"trainpref": None, "testpref": "t"}, "needed: --srcdict, --tgtdict, --bpe-codes"),
        (
            {"trainpref": None, "testpref": "t", "only_source": True, "subwords": "none"},
            "needed: --srcdict$",
        ),
        (
            {
                **{"trainpref": None, "testpref": "t", "srcdict": "a", "tgtdict": "b"},
                **{"bpe_codes": "c", "bpe_vocabulary_threshold": 2},
            },
            "it needs --trainpref",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(values, message, tmp_path) -> None:
    with pytest.raises(InputError, match=message):
        make_options(tmp_path / "out", **({"trainpref": "t"} | values)).prefixes()


def test_threshold_that_leaves_nothing_is_refused(tmp_path, rule_tagger) -> None:
    write_pairs(tmp_path / "t", invented_pairs(5))
    options = make_options(tmp_path / "out", trainpref=tmp_path / "t", bpe_vocabulary_threshold=999)
    with pytest.raises(InputError, match="999: no subword of en is that frequent"):
        prepare(options)


def test_full_disk_is_an_error_and_the_rerun_finishes(tmp_path, rule_tagger) -> None:
    write_pairs(tmp_path / "t", invented_pairs(40))
    options = {"trainpref": tmp_path / "t", "workers": 2}
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))  # bytes a file may have
        try:
            prepare(make_options(tmp_path / "out", **options))
        except OSError:
            os._exit(3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert not (tmp_path / "out" / FILE_NAME).exists()
    prepare(make_options(tmp_path / "out", **options))
    prepare(make_options(tmp_path / "straight", **options))
    assert contents(tmp_path / "out") == contents(tmp_path / "straight")


def test_file_that_shrinks_under_way_is_noticed(tmp_path) -> None:
    path = write_lines(tmp_path / "t", ["a", "b", "c"])
    whole = scan_file(path, 100)
    assert read_chunk(path, whole.offsets[0], 1, 3) == ["a", "b", "c"]
    write_lines(path, ["a"])
    with pytest.raises(InputError, match="changed while it was read"):
        read_chunk(path, whole.offsets[0], 1, 3)


@pytest.mark.parametrize("lines", [1, 2, 3, 4, 9])
def test_chunks_together_are_the_file(lines, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(corpus_files, "CHUNK_LINES", 3)
    wanted = [f"{i} \u2028\u00e9{'x' * i}" for i in range(lines)]
    path = write_lines(tmp_path / "t", wanted)
    whole = scan_file(path, 5)
    starts = list(zip(whole.offsets, whole.line_numbers))
    counts = [min(3, lines - 3 * k) for k in range(len(starts))]
    found = [read_chunk(path, *start, n) for start, n in zip(starts, counts)]
    assert [line for chunk in found for line in chunk] == wanted
    over = [(n, len(line)) for n, line in enumerate(wanted, 1) if len(line) > 5]
    assert whole.overlong == (over[0] if over else None)
    assert whole.lines == lines
