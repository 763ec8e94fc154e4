"""What a prepared folder holds: splits, dictionaries, models."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest
from raw_corpora import (
    contents,
    invented_pairs,
    labels,
    make_options,
    stream_rows,
    symbols,
    tag,
    write_lines,
    write_pairs,
)

from fairseq_plugins.data.dictionaries import load_dictionary
from fairseq_plugins.data.manifest import tool_versions
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes import translation
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.syntax.layers import LAYERS

WORDS = {"tokenizer": "pretokenized", "subwords": "none"}


@pytest.fixture
def corpus(tmp_path, rule_tagger) -> Path:
    """Training, two valid and one test file."""
    write_pairs(tmp_path / "train", invented_pairs(40))
    write_pairs(tmp_path / "valid", invented_pairs(8, seed=1))
    write_pairs(tmp_path / "other", invented_pairs(5, seed=2))
    write_pairs(tmp_path / "test", [*invented_pairs(3, seed=3), ("", ""), ("x", ""), ("", "y")])
    return tmp_path


def test_every_split_lies_in_the_folder(corpus) -> None:
    options = make_options(
        corpus / "out",
        trainpref=corpus / "train",
        validpref=f"{corpus / 'valid'},{corpus / 'other'}",
        testpref=corpus / "test",
    )
    manifest = prepare(options)
    assert {k: v["lines"] for k, v in manifest.splits.items()} == {
        **{"train": 40, "valid": 8, "valid1": 5, "test": 6}
    }
    assert {path.name for path in manifest.files(corpus / "out")} | {"manifest.json"} == set(
        contents(corpus / "out")
    )
    for split, counts in manifest.splits.items():
        assert list(counts["tokens"]) == ["en", "de", "en.words", "en.pos", "en.case"]
        for stream, ids in counts["tokens"].items():
            assert sum(map(len, stream_rows(corpus / "out", split, stream))) == ids
    assert read_manifest(corpus / "out") == manifest


def test_empty_lines_stay_in_test_and_leave_training(corpus) -> None:
    pairs = [*invented_pairs(4), ("", "leer"), ("empty", "  "), ("\u2028", "\u00a0"), ("x", "y")]
    write_pairs(corpus / "train", pairs)
    options = make_options(corpus / "out", trainpref=corpus / "train", testpref=corpus / "test")
    manifest = prepare(options)
    assert manifest.splits["train"]["lines"] == 5
    assert manifest.alignment["train"] == {"empty": 3}
    assert manifest.splits["test"] == {**manifest.splits["test"], "lines": 6, "read": 6}
    eos = load_dictionary(corpus / "out" / "dict.en.txt").eos()
    assert stream_rows(corpus / "out", "test", "en")[3] == [eos]
    assert stream_rows(corpus / "out", "test", "de")[3] == [eos]
    assert stream_rows(corpus / "out", "test", "en.pos")[3] == []


def test_unknown_subwords_are_counted_and_warned_of(corpus, caplog) -> None:
    write_pairs(corpus / "train", [*invented_pairs(40), ("a rare rare x", "y")])
    write_pairs(corpus / "test", [("a \u2603 \u2603\u2603 \u6771", "<unk> y"), ("a", "y")])
    options = make_options(corpus / "out", trainpref=corpus / "train", testpref=corpus / "test")
    with caplog.at_level("INFO"):
        manifest = prepare(options)
    train, test = (manifest.splits[name]["unknown"] for name in ("train", "test"))
    assert {side: train[side]["count"] for side in train} == {"en": 0, "de": 0}
    rows = symbols(corpus / "out", "en", "test")
    assert test["en"]["count"] == " ".join(rows).split().count("<unk>") == 4
    assert test["en"]["of"] == len(" ".join(rows).split())
    assert test["en"]["commonest"] == {"\u2603": 3, "\u6771": 1}
    said = [r for r in caplog.records if "replaced by <unk>" in r.message]
    assert {(r.message.split(":")[0], r.levelname) for r in said} >= {
        ("train", "INFO"),
        ("test", "WARNING"),
    }


def test_overlong_words_are_counted(corpus) -> None:
    write_pairs(corpus / "train", [*invented_pairs(4), ("a " + "b" * 501, "x")])
    options = make_options(corpus / "out", trainpref=corpus / "train", testpref=corpus / "test")
    manifest = prepare(options)
    assert manifest.alignment == {"train": {"overlong_words": 1}, "test": {}}


def test_training_pairs_are_cleaned_and_counted(corpus) -> None:
    pairs = [
        *[("a b c", "d e f"), ("a " * 9, "b " * 9), ("a", "b"), ("a b", "c d e f g h i")],
        *[("a b", "x" * 60), ("c d", "e f")],
    ]
    write_pairs(corpus / "train", pairs)
    write_pairs(corpus / "test", pairs[:4])
    options = make_options(
        corpus / "out",
        trainpref=corpus / "train",
        testpref=corpus / "test",
        **{"min_words": 2, "max_words": 8, "max_ratio": 3, "max_characters": 50, **WORDS},
    )
    manifest = prepare(options)
    assert symbols(corpus / "out", "en", "train") == ["a b c", "c d"]
    dropped = {"too_long": 1, "too_short": 1, "ratio": 1, "overlong": 1}
    assert manifest.alignment["train"] == dropped
    assert manifest.splits["test"]["lines"] == 4


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_byte_order_marks_change_nothing(end, corpus) -> None:
    pairs = invented_pairs(6)
    write_pairs(corpus / "plain", pairs)
    for side, lang in enumerate(("en", "de")):
        text = end.join(pair[side] for pair in pairs)  # and no end after the last line
        (corpus / f"odd.{lang}").write_bytes(("\ufeff" + text).encode())
    streams = []
    for name in ("plain", "odd"):
        prepare(make_options(corpus / name, trainpref=corpus / name))
        files = contents(corpus / name)
        streams.append({k: v for k, v in files.items() if k != "manifest.json"})
    assert streams[0] == streams[1]


def test_moses_entities_are_hidden_from_the_tagger_alone(corpus) -> None:
    write_pairs(corpus / "train", [("He &apos;s R &amp; D @-@ head", "er ist Kopf von F &amp; E")])
    prepare(make_options(corpus / "out", trainpref=corpus / "train", **WORDS))
    assert symbols(corpus / "out", "en", "train") == ["He &apos;s R &amp; D @-@ head"]
    seen = ["He", "'s", "R", "&", "D", "-", "head"]
    assert labels(corpus / "out", "pos", "train") == [[tag(word) for word in seen]]
    case = ["upper", "lower", "upper", "lower", "upper", "lower", "lower"]
    assert labels(corpus / "out", "case", "train") == [case]


def test_features_may_be_some_or_none(corpus) -> None:
    for features in ("", "case", "subword,pos"):
        folder = corpus / f"out{features}"
        manifest = prepare(make_options(folder, trainpref=corpus / "train", features=features))
        names = [name for name in features.split(",") if name]
        assert manifest.features == names
        held = {p.name for p in folder.glob("dict.en.*.txt")}
        assert held == {f"dict.en.{name}.txt" for name in names}


def test_feature_inventories_count_their_labels(corpus) -> None:
    prepare(make_options(corpus / "out", trainpref=corpus / "train"))
    counts = {}
    for name in ("case", "subword"):
        lines = (corpus / "out" / f"dict.en.{name}.txt").read_text().splitlines()
        counts[name] = {symbol: int(n) for symbol, n in (line.split(" ") for line in lines)}
    ids = [i for row in stream_rows(corpus / "out", "train", "en.case") for i in row]
    symbols_ = LAYERS["case"].inventory.symbols
    assert counts["case"] == {symbol: ids.count(i) for i, symbol in enumerate(symbols_)}
    assert counts["subword"]["B"] + counts["subword"]["O"] == len(ids)
    assert sum(counts["subword"].values()) == sum(
        map(len, stream_rows(corpus / "out", "train", "en.words"))
    )


def test_only_source_has_no_target(corpus) -> None:
    (corpus / "train.de").unlink()
    manifest = prepare(
        make_options(
            *[corpus / "out"],
            trainpref=corpus / "train",
            only_source=True,
            bpe_vocabulary_threshold=2,
        )
    )
    assert list(manifest.splits["train"]["tokens"]) == ["en", "en.words", "en.pos", "en.case"]
    assert not [name for name in contents(corpus / "out") if ".de" in name]


def test_joined_dictionary_counts_both_languages(corpus) -> None:
    write_pairs(corpus / "train", [("a b", "b c"), ("b", "d d d d")])
    options = {"trainpref": corpus / "train", "joined_dictionary": True, **WORDS}
    prepare(make_options(corpus / "out", **options))
    files = contents(corpus / "out")
    assert files["dict.en.txt"] == files["dict.de.txt"]
    assert files["dict.en.txt"].splitlines()[:4] == [b"d 4", b"b 3", b"a 1", b"c 1"]


def test_dictionaries_are_cut_by_count_and_size(corpus) -> None:
    write_pairs(corpus / "train", [("a a a b b c", "x y z")])
    options = {"thresholdsrc": 2, "nwordstgt": 6, "trainpref": corpus / "train", **WORDS}
    prepare(make_options(corpus / "out", **options))
    assert symbols(corpus / "out", "en", "train") == ["a a a b b <unk>"]
    assert symbols(corpus / "out", "de", "train") == ["x y <unk>"]  # fairseq's 4 symbols count


@pytest.mark.parametrize("subwords", ["subword_nmt", "sentencepiece"])
def test_new_test_set_with_given_models_fits_the_old_folder(subwords, corpus) -> None:
    old, size = corpus / "old", {"subword_nmt": 60, "sentencepiece": 90}[subwords]
    prepare(
        make_options(
            *[old],
            trainpref=corpus / "train",
            testpref=corpus / "test",
            subwords=subwords,
            bpe_size=size,
        )
    )
    flag, file = {
        "subword_nmt": ("bpe_codes", "codes.bpe"),
        "sentencepiece": ("sentencepiece_model", "sentencepiece.model"),
    }[subwords]
    given = {flag: old / file, "srcdict": old / "dict.en.txt", "tgtdict": old / "dict.de.txt"}
    prepare(make_options(corpus / "new", testpref=corpus / "test", subwords=subwords, **given))
    before, after = contents(old), contents(corpus / "new")
    same = [n for n in after if n.startswith("test.") or n in (file, "dict.en.txt", "dict.de.txt")]
    assert len(same) == 13
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert not [name for name in after if name.startswith("train")]


def test_given_joined_dictionary_may_be_either_sides(corpus) -> None:
    prepare(make_options(corpus / "old", trainpref=corpus / "train", joined_dictionary=True))
    for flag in ("srcdict", "tgtdict"):
        options = make_options(
            corpus / flag,
            testpref=corpus / "test",
            joined_dictionary=True,
            bpe_codes=corpus / "old" / "codes.bpe",
            **{flag: corpus / "old" / "dict.en.txt"},
        )
        prepare(options)
    streams = ("test.en-de.en.bin", "test.en-de.de.bin", "dict.en.txt", "dict.de.txt")
    first, second = contents(corpus / "srcdict"), contents(corpus / "tgtdict")
    assert [first[s] for s in streams] == [second[s] for s in streams]


def test_vocabulary_threshold_cuts_rare_subwords_further(corpus) -> None:
    options = {"trainpref": corpus / "train", "bpe_size": 150}
    prepare(make_options(corpus / "plain", **options))
    manifest = prepare(make_options(corpus / "cut", **options, bpe_vocabulary_threshold=10))
    for side, lang in (("source", "en"), ("target", "de")):
        assert manifest.segmentation[side]["vocabulary"] == f"vocab.{lang}"
        rows = (corpus / "cut" / f"vocab.{lang}").read_text(encoding="utf-8").splitlines()
        allowed = {r.split(" ")[0] for r in rows}
        assert all(int(r.split(" ")[1]) >= 10 for r in rows)
        found = {p for line in symbols(corpus / "cut", lang, "train") for p in line.split()}
        long = {piece for piece in found if len(piece.removesuffix("@@")) > 1}
        assert long
        assert long <= allowed
        before = {p for line in symbols(corpus / "plain", lang, "train") for p in line.split()}
        assert not {p for p in before if len(p.removesuffix("@@")) > 1} <= allowed


def test_stale_tagger_of_an_earlier_run_is_not_used(corpus, rule_tagger, monkeypatch) -> None:
    options = {"trainpref": corpus / "train", "tokenizer": "none"}
    prepare(make_options(corpus / "tagged", **options))
    monkeypatch.undo()
    monkeypatch.setattr(rule_tagger, "annotate_text", None)
    prepare(make_options(corpus / "untagged", features="case", **options))
    prepare(make_options(corpus / "again", features="case", **options))
    assert contents(corpus / "again") == contents(corpus / "untagged")


def test_tools_without_a_version_are_left_out(monkeypatch) -> None:
    asked = []

    def version(name: str) -> str:
        asked.append(name)
        if name in ("fairseq-fixed", "spacy"):
            raise importlib.metadata.PackageNotFoundError(name)
        return "7"

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = tool_versions(translation.TOOLS)
    assert found["fairseq"] == "7"
    assert "spacy" not in found
    assert "fairseq-fixed" in asked


def test_long_test_sentence_warns(corpus, caplog) -> None:
    write_lines(corpus / "test.en", ["a", "b " * 1100, "c"])
    write_lines(corpus / "test.de", ["a", "b", "c"])
    options = {"trainpref": corpus / "train", "testpref": corpus / "test", **WORDS}
    prepare(make_options(corpus / "out", **options))
    assert "test: sentence 2 has 1101 source tokens" in caplog.text


@pytest.mark.parametrize(("tokenizer", "warns"), [("moses", True), ("pretokenized", False)])
def test_tokenised_text_read_as_raw_text_warns(tokenizer, warns, corpus, caplog) -> None:
    pairs = [(f"{source} &apos;s", target) for source, target in invented_pairs(30)]
    write_pairs(corpus / "train", pairs)
    prepare(make_options(corpus / "out", trainpref=corpus / "train", tokenizer=tokenizer))
    assert ("30 of 30 lines hold Moses entities" in caplog.text) == warns
    assert "train.de" not in caplog.text


def test_training_set_without_a_line_left_is_refused(corpus) -> None:
    options = {"trainpref": corpus / "train", "max_words": 1, **WORDS}
    with pytest.raises(InputError, match=r"train: every line was dropped: {'too_long': 40}"):
        prepare(make_options(corpus / "out", **options))
