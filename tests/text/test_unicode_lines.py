"""Any line of Unicode survives cleaning, tagging, subwords and alignment, and the disk."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from raw_corpora import (
    NASTY,
    RuleAnnotator,
    make_options,
    stream_rows,
    write_lines,
    write_pairs,
)

from fairseq_plugins.data.dictionaries import load_dictionary, token_ids
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.syntax.annotation import Annotation
from fairseq_plugins.syntax.labels import SPECIAL_ID, UPOS
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.text.protected import Taken
from fairseq_plugins.text.raw_text import TOKENIZERS, line_reader
from fairseq_plugins.text.source_encoder import SourceEncoder, annotate_lines, encode_line

NAMES = ("pos", "case", "subword")
SEGMENTERS = ("bpe", "bpe_vocabulary", "unigram", "bytes", "words")

# A line is anything but a line feed (and but halves of characters, which no UTF-8 file can hold).
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=5)
MARKS = st.sampled_from([" ", "@@", "</w>", "\u2581", "a", "ab"])
LINES = st.lists(st.one_of(st.sampled_from(NASTY), ANY_TEXT, MARKS), max_size=9).map("".join)
ALL_NASTY = [" ".join(NASTY), "".join(NASTY), "x@@ @@ a@@", *NASTY]


class LyingAnnotator(RuleAnnotator):
    """Cuts given words anew, and for some lines returns words that are not in the text at all."""

    def annotate_words(self, sentences):
        """Cut the joined line at random places, or make words up."""
        notes = []
        for words in sentences:
            rng = random.Random(" ".join(words))
            text = "".join(words)
            cuts = sorted({0, len(text), *(rng.randrange(len(text) + 1) for _ in range(3))})
            found = [text[a:b] for a, b in zip(cuts, cuts[1:])]
            if rng.random() < 0.3:
                found = [*words[1:], "invention"]
            notes.append(Annotation(found, {"pos": [rng.choice(UPOS) for _ in found]}))
        return notes


@pytest.mark.parametrize("kind", SEGMENTERS)
@given(lines=st.lists(LINES, max_size=6))
@example(lines=ALL_NASTY)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_subword_gets_one_label_a_feature(kind, lines, segmenters) -> None:
    segmenter = segmenters[kind]
    for tokenizer in TOKENIZERS:
        read = line_reader(tokenizer, "none", "en")
        texts = [read(line) for line in lines]
        for annotator in (RuleAnnotator(), LyingAnnotator()):
            annotated = annotate_lines([*map(Taken, texts)], tokenizer, annotator)
            assert [line.text for line in annotated] == texts
            for line in annotated:
                check_sentence(line, encode_line(line, segmenter, layers_of(NAMES)))


def check_sentence(line, sentence) -> None:
    """One label of the inventory for each subword; words in order; nothing empty, no space."""
    assert len(sentence.tokens) == len(sentence.word_of)
    for layer in layers_of(NAMES):
        ids = sentence.ids(layer)
        assert len(ids) == len(sentence.tokens)
        assert all(SPECIAL_ID < i < len(layer.inventory) for i in ids)
    assert sentence.word_of == sorted(sentence.word_of)
    assert all(0 <= i < len(sentence.words) for i in sentence.word_of)
    assert all(piece and piece.split() == [piece] for piece in sentence.tokens)
    assert len(line.words) == len(line.spans) == len(line.layers["pos"])


@pytest.mark.parametrize("kind", ["bpe", "bpe_vocabulary"])
@given(line=LINES)
@example(line=ALL_NASTY[0])
@example(line=ALL_NASTY[1])
@example(line=ALL_NASTY[2])
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_joined_bpe_subwords_give_the_text_back(kind, line, segmenters) -> None:
    text = " ".join(line.split())
    subwords, spans = segmenters[kind].segment(text)
    joined = " ".join(subwords)
    assert segmenters[kind].join(joined) == text
    assert (joined + " ").replace("@@ ", "").rstrip() == text  # fairseq's --remove-bpe
    visible = [i for a, b in spans for i in range(a, b)]
    assert visible == [i for i, char in enumerate(text) if char != " "]


@pytest.mark.parametrize("kind", ["unigram", "bytes"])
@given(line=LINES)
@example(line=ALL_NASTY[0])
@example(line=ALL_NASTY[1])
@example(line=ALL_NASTY[2])
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sentencepiece_spans_run_through_the_line(kind, line, segmenters) -> None:
    text = " ".join(line.split())
    subwords, spans = segmenters[kind].segment(text)
    assert len(subwords) == len(spans)
    edges = [place for span in spans for place in span]
    assert edges == sorted(edges)
    assert all(0 <= place <= len(text) for place in edges)


@pytest.mark.parametrize("subwords", ["subword_nmt", "sentencepiece"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(lines=st.lists(LINES, min_size=1, max_size=12))
@example(lines=ALL_NASTY)
@settings(
    deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_features_on_disk_are_as_long_as_their_tokens(
    subwords, tokenizer, lines, model_files, rule_tagger
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pairs(folder / "train", [("x y", "y x"), ("</s> z", "z")])
        write_pairs(folder / "test", [(line, line[::-1]) for line in lines])
        given_model = {
            "subword_nmt": {"bpe_codes": model_files["codes"]},
            "sentencepiece": {"sentencepiece_model": model_files["unigram"]},
        }[subwords]
        options = make_options(
            folder / "out",
            trainpref=folder / "train",
            testpref=folder / "test",
            tokenizer=tokenizer,
            subwords=subwords,
            **given_model,
        )
        manifest = prepare(options)
        check_disk(folder / "out", manifest, lines, rule_tagger)


def check_disk(folder, manifest, lines, annotator) -> None:
    """Rows on disk are those that inference makes of the same raw lines, one a line."""
    tokens = stream_rows(folder, "test", "en")
    assert len(tokens) == len(stream_rows(folder, "test", "de")) == len(lines)
    dictionary = load_dictionary(folder / "dict.en.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairseq_plugins.text.source_encoder.folder_annotator", lambda *m: annotator)
        sentences = SourceEncoder.from_folder(folder, manifest).encode(lines)
    assert tokens == [token_ids(dictionary, sentence.tokens) for sentence in sentences]
    for row in tokens:
        assert row[-1] == dictionary.eos()
        assert not {dictionary.pad(), dictionary.eos(), dictionary.bos()} & set(row[:-1])
    numbers = [[word + 1 for word in sentence.word_of] for sentence in sentences]
    assert stream_rows(folder, "test", "en.words") == numbers
    for name in ("pos", "case"):
        rows = stream_rows(folder, "test", f"en.{name}")
        assert rows == [sentence.layers[name] for sentence in sentences]


def test_one_line_stays_one_line_whatever_it_holds(tmp_path, rule_tagger) -> None:
    # str.splitlines would make 10 lines of the first; each file must keep its three
    strange = "a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i\rj"
    write_lines(tmp_path / "t.en", [strange, "two", "three"])
    write_lines(tmp_path / "t.de", ["eins", strange, "drei"])
    manifest = prepare(make_options(tmp_path / "out", trainpref=tmp_path / "t", bpe_size=5))
    assert manifest.splits["train"]["lines"] == 3
    assert [len(row) + 1 for row in stream_rows(tmp_path / "out", "train", "en.words")] == [
        len(row) for row in stream_rows(tmp_path / "out", "train", "en")
    ]


def test_reserved_symbols_in_text_become_unknown_words(tmp_path, rule_tagger) -> None:
    write_pairs(tmp_path / "t", [("<pad> </s> <s> <unk> x", "</s> y")])
    options = make_options(
        tmp_path / "out", trainpref=tmp_path / "t", tokenizer="pretokenized", subwords="none"
    )
    prepare(options)
    dictionary = load_dictionary(tmp_path / "out" / "dict.en.txt")
    unk = dictionary.unk()
    assert stream_rows(tmp_path / "out", "train", "en") == [
        [unk, unk, unk, unk, dictionary.index("x"), dictionary.eos()]
    ]
