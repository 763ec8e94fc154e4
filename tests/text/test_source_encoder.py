"""Raw lines at inference: the folder's own segmentation and tagger, and the way back to text."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest
from raw_corpora import RuleAnnotator, invented_pairs, make_options, stream_rows, write_pairs

from fairseq_plugins.data.dictionaries import load_dictionary, token_ids
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.syntax.layers import LAYERS, layers_of
from fairseq_plugins.text import source_encoder
from fairseq_plugins.text.protected import Taken
from fairseq_plugins.text.segment import WordSegmenter
from fairseq_plugins.text.source_encoder import (
    SourceEncoder,
    TargetDecoder,
    folder_annotator,
    folder_segmenter,
)

PAIRS = invented_pairs(30)
UNCUT = {"tokenizer": "none", "normalizer": "none", "subwords": "none"}


@pytest.fixture
def folder(tmp_path, rule_tagger, monkeypatch) -> Path:
    """A folder with a vocabulary threshold, tagged by the rule."""
    write_pairs(tmp_path / "t", PAIRS)
    prepare(
        make_options(
            *[tmp_path / "out"], trainpref=tmp_path / "t", bpe_size=150, bpe_vocabulary_threshold=5
        )
    )
    monkeypatch.setattr(source_encoder, "folder_annotator", lambda *args: rule_tagger)
    return tmp_path / "out"


@pytest.mark.parametrize("batch", [1, 7, 30])
def test_inference_makes_the_rows_of_the_folder(batch, folder) -> None:
    manifest = read_manifest(folder)
    encoder = SourceEncoder.from_folder(folder, manifest)
    assert manifest.segmentation["source"]["vocabulary"] == "vocab.en"
    lines = [source for source, _ in PAIRS]
    found = [s for k in range(0, 30, batch) for s in encoder.encode(lines[k : k + batch])]
    dictionary = load_dictionary(folder / "dict.en.txt")
    rows = [token_ids(dictionary, sentence.tokens) for sentence in found]
    assert rows == stream_rows(folder, "train", "en")


def test_decoder_gives_words_and_text_back(folder) -> None:
    decoder = TargetDecoder.from_folder(folder, read_manifest(folder))
    segmenter = folder_segmenter(folder, read_manifest(folder), "target")
    words = "DAS IST , nICHT ?"
    pieces = " ".join(segmenter.segment(words)[0])
    assert "@@" in pieces
    assert decoder.remove_subwords(pieces) == words
    assert decoder.detokenize(words) == "DAS IST, nICHT?"


def test_another_tagger_warns(folder, rule_tagger, monkeypatch, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        SourceEncoder.from_folder(folder, read_manifest(folder))
        assert not caplog.text
        other = {"name": "other", "version": "2", "hash": "11"}
        monkeypatch.setattr(rule_tagger, "identity", lambda: other)
        SourceEncoder.from_folder(folder, read_manifest(folder))
    assert "THE TAGGER DIFFERS" in caplog.text
    assert "'rule 1 00'" in caplog.text
    assert "'other 2 11'" in caplog.text


def test_parts_of_speech_need_a_tagger() -> None:
    with pytest.raises(InputError, match="feature 'pos' needs a spaCy pipeline"):
        SourceEncoder(UNCUT, "en", WordSegmenter(), layers_of(("pos",)))
    encoder = SourceEncoder(UNCUT, "en", WordSegmenter(), layers_of(("case",)))
    sentences = encoder.encode(["A b", ""])
    upper, lower = LAYERS["case"].inventory.ids(["upper", "lower"])
    assert [s.layers for s in sentences] == [{"case": [upper, lower]}, {"case": []}]


def test_text_tagged_elsewhere_needs_an_english_source() -> None:
    manifest = TranslationManifest(
        source_lang="de",
        target_lang="en",
        features=["pos"],
        segmentation={},
        annotator={"name": "conllu", "version": "-"},
    )
    with pytest.raises(InputError, match="no pipeline is known for raw text"):
        folder_annotator(Path(), manifest)


class Contracting(RuleAnnotator):
    """Knows that don't is two words, whatever it is given."""

    def annotate_words(self, sentences):
        cut = [[p for w in words for p in w.replace("n't", " n't").split()] for words in sentences]
        return super().annotate_words(cut)


def test_words_the_tagger_cuts_again_are_counted() -> None:
    line = source_encoder.annotate_lines([Taken("I don't know")], "pretokenized", Contracting())[0]
    assert (line.words, line.repaired, line.failed) == (["I", "don't", "know"], 1, False)
    tags = Contracting().annotate_words([["I", "do", "n't", "know"]])[0].layers["pos"]
    assert line.layers["pos"] == [tags[0], tags[1], tags[3]]


def test_lines_that_are_too_long_are_left_out_before_they_are_annotated(folder) -> None:
    encoder = SourceEncoder.from_folder(folder, read_manifest(folder))
    dice, seen, annotate = random.Random(2), [], encoder.annotator.annotate_words
    encoder.annotator.annotate_words = lambda lines: [seen.extend(lines), annotate(lines)][1]
    words = [word for source, _ in PAIRS for word in source.split()]
    words += ["\u4e2d\u6587", "\u0645\u0631\u062d\u0628\u0627", "\U0001f600", "x" * 300]
    for _ in range(100):
        lines = [" ".join(dice.choices(words, k=dice.randint(1, 60))) for _ in range(2)]
        limit, whole = dice.choice([20, 100, 1000]), encoder.encode(lines)
        seen.clear()
        found = encoder.encode(lines, limit)
        for line, full, one, given in zip(lines, whole, found, list(seen)):
            assert one.left_out == (len(full.tokens) >= limit and len(line) >= limit)
            assert (one.tokens, given) == (([], []) if one.left_out else (full.tokens, given))
            assert one.left_out or one.layers == full.layers
