"""Subwords of every scheme find their words and characters; words and text give the same ids."""

from __future__ import annotations

from itertools import pairwise

import pytest
import transformers
from family_directories import FORMS, roberta
from hypothesis import example, given, settings
from hypothesis import strategies as st
from raw_text import RuleParser

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.syntax.subwords import joined_spans
from fairseq_plugins.text.pieces import PieceTokenizer
from fairseq_plugins.text.squad_encoder import context_offsets
from fairseq_plugins.text.text_encoder import TextEncoder

CALM = settings(deadline=None, max_examples=60)
SCHEMES = ["bert", "roberta", "xlm-roberta", "albert", "deberta-v2", "modernbert"]
WORDS = [
    "The",
    "cat,",
    "didn't",
    "caf\u00e9",
    "e\u0301",
    "\u5317\u4eac\u5927",
    "\U0001f600",
    "\u4eac",
]
WORDS += ["na\u00efve", "1984", "[SEP]", "</s>", "<mask>", "\u0120", "\u2581", "\ufb01", "x\u0302"]
LETTERS = st.characters(codec="utf-8", categories=["L", "N", "P", "S"])
WORD = st.one_of(st.sampled_from(WORDS), st.text(LETTERS, min_size=1, max_size=4))
BLANKS = st.sampled_from([" ", "  ", "\u00a0", "\n", "\u3000 "])
TEXTS = st.lists(st.tuples(WORD, BLANKS), max_size=7).map(lambda some: "".join(map("".join, some)))


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory) -> dict[str, PieceTokenizer]:
    """One tokeniser of each family."""
    root, found = tmp_path_factory.mktemp("families"), {}
    for name in SCHEMES:
        path = FORMS[name](root / name)
        found[name] = PieceTokenizer(read_vocabulary(path), read_tokenizer_settings(path))
    return found


@pytest.mark.parametrize("name", SCHEMES)
@given(text=TEXTS)
@CALM
def test_pieces_have_characters_of_the_text_in_order(tokenizers, name, text) -> None:
    ids, spans = tokenizers[name].encode_text(text)
    assert len(ids) == len(spans)
    assert bool(ids) == bool(text.strip()) or name != "roberta"  # cleaning may leave nothing
    for begin, end in spans:
        assert 0 <= begin < end <= len(text)
        assert not text[begin].isspace()
        assert not text[end - 1].isspace()
    for (begin, end), (after, last) in pairwise(spans):
        assert begin <= after
        assert end <= last


@pytest.mark.parametrize("name", SCHEMES)
@given(words=st.lists(WORD, max_size=6))
@CALM
def test_given_words_have_the_ids_of_their_text(tokenizers, name, words) -> None:
    text = " ".join(words)
    ids, spans = tokenizers[name].encode_text(text)
    found, word_of = tokenizers[name].encode_words(words)
    assert found == ids
    assert word_of == sorted(word_of)
    places = joined_spans(words)
    for word, (begin, _) in zip(word_of, spans):
        assert places[word][0] <= begin < places[word][1]


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("tokenize", ["whitespace", "characters"])
@given(text=TEXTS)
@example(text="0\U0002b820 ")  # Chinese, but not to the tokeniser of BERT
@CALM
def test_raw_text_keeps_its_ids_and_its_words_have_pieces(tokenizers, name, tokenize, text) -> None:
    encoder = TextEncoder(tokenizers[name], tokenize)
    ((sentence,),) = encoder.encode([Example("0", (text,))])
    ids = tokenizers[name].encode_text(text)[0]
    assert sentence.tokens == ids or not ids
    assert sorted({*sentence.word_of}) == list(range(len(sentence.words)))
    assert sentence.word_of == sorted(sentence.word_of)
    joined = "".join(sentence.words)
    assert [c for c in joined if c in text] == [*joined]
    if name == "roberta":  # nothing vanishes
        assert joined == "".join(text.split())
    if ids and name != "bert":
        assert len(context_offsets(tokenizers[name], text, sentence)) == len(ids)


@pytest.mark.parametrize("name", SCHEMES)
@given(text=TEXTS)
@CALM
def test_words_of_a_pipeline_have_pieces_and_keep_the_ids(tokenizers, name, text) -> None:
    encoder = TextEncoder(tokenizers[name], "spacy", layers_of(("pos", "heads")), RuleParser())
    ((sentence,),) = encoder.encode([Example("0", (text,))])
    ids = tokenizers[name].encode_text(text)[0]
    assert sentence.tokens == ids or not ids
    assert sorted({*sentence.word_of}) == list(range(len(sentence.words)))
    assert all(len(row) == len(sentence.words) for row in sentence.layers.values())


@pytest.mark.parametrize("prefix", [True, False])
def test_the_first_word_of_roberta_has_a_blank_only_by_its_settings(tmp_path, prefix) -> None:
    path = roberta(tmp_path, add_prefix_space=prefix)
    ours = PieceTokenizer(read_vocabulary(path), read_tokenizer_settings(path))
    theirs = transformers.RobertaTokenizer.from_pretrained(path)
    words = ["cat", "sat", "didn't", "caf\u00e9", "\u5317\u4eac\u5927", "cats"]
    ids, word_of = ours.encode_words(words)
    text = theirs(" ".join(words), add_special_tokens=False)["input_ids"]
    assert ids == text == ours.encode_text(" ".join(words))[0]
    first = read_vocabulary(path).pieces[ids[0]]
    assert first.startswith("\u0120") == prefix
    if prefix:  # transformers takes given words from no other
        found = theirs(words, is_split_into_words=True, add_special_tokens=False)
        assert (found["input_ids"], found.word_ids()) == (ids, word_of)
    else:
        alone = [ours.encode_text(f" {word}")[0] for word in words[1:]]
        assert ids == ours.encode_text(words[0])[0] + sum(alone, [])


@pytest.mark.parametrize("name", SCHEMES)
def test_names_of_special_tokens_are_text(tokenizers, name, tmp_path) -> None:
    vocabulary = read_vocabulary(FORMS[name](tmp_path))
    own = vocabulary.family.specials
    names = [own.cls, own.sep, own.pad, own.mask, own.unk, "</s>", "<mask>", "[SEP]"]
    special = {vocabulary.indices[one] for one in (own.cls, own.sep, own.pad, own.mask)}
    for text in (" ".join(names), "".join(names), f"a{own.sep}b"):
        for ids in (
            tokenizers[name].encode_text(text)[0],
            tokenizers[name].encode_words([text])[0],
        ):
            assert ids
            assert not special & {*ids}


def test_chinese_characters_that_share_a_piece_are_one_word(tokenizers) -> None:
    words, ids, word_of = tokenizers["roberta"].encode_raw("a\u5317\u4eac \u5927", characters=True)
    assert words.kept == ["a", "\u5317\u4eac", "\u5927"]
    assert len(ids) == len(word_of)
    apart, _, _ = tokenizers["roberta"].encode_raw("\u4eac\u5317 \u5927", characters=True)
    assert apart.kept == ["\u4eac", "\u5317", "\u5927"]


def test_blanks_belong_to_the_word_behind_them(tokenizers) -> None:
    text = "cat   sat  "
    words, ids, word_of = tokenizers["roberta"].encode_raw(text, characters=False)
    assert words.kept == ["cat", "sat"]
    _, spans = tokenizers["roberta"].encode_text(text)
    assert {text[begin:end] for (begin, end), word in zip(spans, word_of) if word == 0} <= {
        "c", "ca", "at", "a", "t", "cat",
    }  # fmt: skip
    assert word_of.index(1) < len(ids) - 1
    assert tokenizers["roberta"].encode_text(" \n") == ([], [])
