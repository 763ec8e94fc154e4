"""Samples of the training text's subwords: features follow, all else stays, bytes are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from raw_corpora import contents, invented_pairs, make_options, stream_rows, symbols, write_pairs
from stops import stopped_at

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes import samples
from fairseq_plugins.prep.recipes.like import options_of
from fairseq_plugins.prep.recipes.translation import prepare

pytestmark = pytest.mark.usefixtures("rule_tagger", "small_chunks")


@pytest.fixture
def corpus(tmp_path) -> Path:
    write_pairs(tmp_path / "train", invented_pairs(30))
    write_pairs(tmp_path / "valid", invented_pairs(8, seed=1))
    return tmp_path


def options_for(corpus: Path, destdir: str, **values):
    texts = {"trainpref": corpus / "train", "validpref": corpus / "valid"}
    return make_options(corpus / destdir, **texts, **{"samples": 2, "bpe_dropout": 0.3} | values)


@pytest.mark.parametrize("subwords", ["subword_nmt", "sentencepiece"])
def test_samples_differ_in_the_subwords_of_training_alone(corpus, subwords) -> None:
    rate = {} if subwords == "subword_nmt" else {"bpe_dropout": None, "bpe_size": 120}
    prepare(options_for(corpus, "out", subwords=subwords, **rate))
    folders = [corpus / "out", corpus / "out/sample1", corpus / "out/sample2"]
    texts = [symbols(folder, lang, "train") for folder in folders for lang in ("en", "de")]
    joined = [
        [line.replace("@@ ", "").replace(" ", "").replace("\u2581", " ") for line in text]
        for text in texts
    ]
    assert joined[::2] == [joined[0]] * 3
    assert joined[1::2] == [joined[1]] * 3
    assert len({*map(str, texts)}) == 6
    assert "<unk>" not in str(texts)
    words = [stream_rows(folder, "train", "en.words") for folder in folders]
    assert words[0] != words[1] != words[2]
    for row, line in zip(words[1], texts[2]):  # a number for each subword
        assert len(row) == len(line.split())
    unchanged = contents(folders[0])
    for name, found in contents(folders[1]).items():
        if not name.startswith(
            ("train.en-de.en.", "train.en-de.de.", "manifest", "dict.en.subword")
        ):
            assert found == unchanged[name]
    values = [stream_rows(folder, "train", "en.pos") for folder in folders]
    assert values == [values[0]] * 3  # a value for each word


def test_bytes_do_not_depend_on_processes_shards_or_stops(corpus, monkeypatch) -> None:
    prepare(options_for(corpus, "one"))
    prepare(options_for(corpus, "two", workers=2))
    for k in (1, 2):
        prepare(options_for(corpus, "three", shard=f"{k}/2"))
    prepare(options_for(corpus, "three", merge=True))
    with stopped_at(monkeypatch, samples, "finish", after=True):
        prepare(options_for(corpus, "four"))
    assert (corpus / "four/sample1/manifest.json").is_file()
    prepare(options_for(corpus, "four"))
    for other in ("two", "three", "four"):
        assert contents(corpus / other) == contents(corpus / "one")


def test_folder_without_samples_is_as_before(corpus) -> None:
    plain = prepare(options_for(corpus, "plain", samples=0, bpe_dropout=None))
    prepare(options_for(corpus, "out"))
    assert not {"samples", "bpe_dropout"} & plain.options.keys()
    for lang in ("en", "de"):
        assert symbols(corpus / "plain", lang, "train") == symbols(corpus / "out", lang, "train")
    assert read_manifest(corpus / "out/sample2").options["sample"] == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"samples": 0}, "--bpe-dropout needs --samples and --subwords subword_nmt"),
        ({"bpe_dropout": 1.5}, "--bpe-dropout 1.5"),
        ({"sentencepiece_alpha": 0.1}, "--sentencepiece-alpha needs --samples and --subwords s"),
        ({"subwords": "none", "bpe_dropout": None}, "needs --trainpref and --subwords"),
    ],
)
def test_options_without_a_meaning_are_refused(corpus, values, message) -> None:
    with pytest.raises(InputError, match=message):
        options_for(corpus, "out", **values)


def test_damaged_sample_is_named(corpus) -> None:
    options = options_for(corpus, "out")
    prepare(options)
    assert samples.training_folders(options).count(":") == 1
    (corpus / "out/sample2/train.en-de.en.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"sample2/train.en-de.en.bin is missing: give --o"):
        samples.training_folders(options)


def test_sample_of_an_earlier_preparation_is_named(corpus) -> None:
    prepare(options_for(corpus, "out"))
    with pytest.raises(InputError, match="sample2 is a sample of an earlier preparation"):
        prepare(options_for(corpus, "out", samples=1, overwrite=True))


def test_further_parts_are_sampled_at_the_rate_of_the_first(corpus) -> None:
    prepare(options_for(corpus, "out"))
    texts = {"trainpref": str(corpus / "train"), "destdir": str(corpus / "new"), "workers": 1}
    like = {"like": str(corpus / "out"), **texts}
    found = options_of(like | {"samples": 2})
    assert found.bpe_dropout == 0.3
    prepare(found)
    for name in ("sample1", "sample2"):
        assert symbols(corpus / "new" / name, "en", "train") == symbols(
            corpus / "out" / name, "en", "train"
        )
    with pytest.raises(InputError, match="--bpe-dropout 0.1 contradicts --like .* with 0.3"):
        options_of(like | {"samples": 2, "bpe_dropout": 0.1})
    assert options_of(like).bpe_dropout is None
