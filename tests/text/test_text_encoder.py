"""Raw examples to wordpieces: BERT's own on whitespace text, every word with a piece of its own."""

from __future__ import annotations

import random
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raw_corpora import NASTY, tag
from raw_text import CASED, SETTINGS, RuleParser, word_pieces, write_pretrained

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction import Predictor
from fairseq_plugins.syntax.annotation import Annotation
from fairseq_plugins.syntax.layers import LAYERS, layers_of
from fairseq_plugins.syntax.sentence import EncodedSentence
from fairseq_plugins.text.annotate import Annotator
from fairseq_plugins.text.text_encoder import TextEncoder

CALM = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
LONG = "x" * 101  # longer than any word that BERT cuts
PARTS = st.one_of(
    st.sampled_from(NASTY),
    st.sampled_from(["The dog", "a cannot rose", "\u6771\u4eac", "caf\u00e9", "1,000.5", LONG]),
    st.text(max_size=4).map(lambda text: text.encode("utf-8", "ignore").decode()),
)
LINES = st.lists(PARTS, max_size=8).map(" ".join)
BOTH = ("pos", "heads")


def encoder(tokenize: str = "whitespace", annotations=BOTH, annotator=None, **changes):
    """An encoder with the rule in the parser's place."""
    pieces = word_pieces({**SETTINGS, **changes})
    return TextEncoder(pieces, tokenize, layers_of(annotations), annotator or RuleParser())


def encode(coder: TextEncoder, text: str, words=None) -> EncodedSentence:
    """Encode one sentence."""
    ((sentence,),) = coder.encode([Example("0", (text,), words)])
    return sentence


def check(sentence: EncodedSentence) -> None:
    """Assert what holds of every sentence."""
    count = len(sentence.words)
    assert len(sentence.tokens) == len(sentence.word_of)
    assert sorted(set(sentence.word_of)) == list(range(count))
    assert sentence.word_of == sorted(sentence.word_of)
    for name, ids in sentence.layers.items():
        assert len(ids) == count
        assert name == "heads" or all(2 <= i < len(LAYERS[name].inventory) for i in ids)
    for word, head in enumerate(sentence.layers["heads"], 1):
        assert 0 <= head <= count
        steps = 0
        while head:
            assert head != word
            head, steps = sentence.layers["heads"][head - 1], steps + 1
            assert steps <= count


@given(text=LINES)
@pytest.mark.parametrize("tokenize", ["whitespace", "spacy"])
@CALM
def test_any_line_gives_words_with_pieces_and_places(tokenize, text) -> None:
    sentence = encode(encoder(tokenize), text)
    check(sentence)
    assert bool(sentence.words) == bool(sentence.tokens)


@given(text=LINES)
@CALM
def test_subwords_do_not_depend_on_who_finds_the_words(text) -> None:
    coder = encoder("spacy")
    if coder.pieces.encode_text(text)[0]:
        assert encode(coder, text).tokens == encode(encoder(), text).tokens


@given(words=st.lists(PARTS.filter(bool), min_size=1, max_size=6).map(tuple))
@CALM
def test_given_words_all_stay(words) -> None:
    for tokenize in ("whitespace", "spacy"):
        sentence = encode(encoder(tokenize), " ".join(words), words)
        check(sentence)
        assert sentence.words == list(words)


@given(text=LINES)
@CALM
def test_words_found_to_be_labelled_are_cut_as_given_ones(text) -> None:
    words = RuleParser().annotate_text([text])[0].words
    apart = TextEncoder(word_pieces(), "spacy", layers_of(BOTH), RuleParser(), apart=True)
    sentence = encode(apart, text)
    check(sentence)
    assert sentence == encode(encoder("spacy"), text, tuple(words))


def test_a_word_inside_a_subword_keeps_its_label_only_if_cut_apart() -> None:
    """Of two words that no blank parts, one subword may hold both."""
    note = Annotation(["a", "rose"], {"pos": ["X", "X"], "heads": [2, 0]}, [(0, 1), (1, 5)])
    parser = RuleParser()
    parser.annotate_text = lambda lines: [note]
    found = {}
    for apart in (False, True):
        pieces = word_pieces()
        pieces.encode_text = lambda text: ([7], [(0, 5)])
        coder = TextEncoder(pieces, "spacy", layers_of(BOTH), parser, apart=apart)
        found[apart] = encode(coder, "arose").words
    assert found == {False: ["a"], True: ["a", "rose"]}


@pytest.mark.parametrize("kind", [SETTINGS, CASED, {**SETTINGS, "strip_accents": False}])
def test_whitespace_pieces_are_those_of_transformers(kind, tmp_path) -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertTokenizer.from_pretrained(write_pretrained(tmp_path, kind))
    ours = TextEncoder(word_pieces(kind), annotations=())

    @given(text=LINES)
    @CALM
    def compare(text) -> None:
        expected = theirs(text, add_special_tokens=False)["input_ids"]
        if expected and not any(name in text for name in theirs.all_special_tokens):
            assert encode(ours, text).tokens == expected

    compare()
    text = "The dog can't rose-colou\u0301r \u6771\u4eac, 3.5\u00a0\u00e9."
    assert encode(ours, text).tokens == theirs(text, add_special_tokens=False)["input_ids"]


def test_settings_reach_the_pieces() -> None:
    text = "The \u6771\u4eac \u00e9"
    plain = encode(encoder(), text).tokens
    for name in SETTINGS:
        assert encode(encoder(**{name: False}), text).tokens != plain, name


def test_names_of_special_tokens_are_text() -> None:
    pieces = word_pieces(CASED)
    specials = set(range(6)) - {pieces.unknown}
    for tokenize in ("whitespace", "spacy"):
        coder = TextEncoder(pieces, tokenize, layers_of(BOTH), RuleParser())
        text = "a [SEP] b [CLS][PAD] [MASK] [unused0] [UNK]"
        for sentence in (encode(coder, text), encode(coder, text, tuple(text.split()))):
            assert sentence.tokens
            assert not specials & set(sentence.tokens)
            assert pieces.unknown not in sentence.tokens


def test_invisible_words_are_unknown_when_given_and_no_words_otherwise() -> None:
    coder = encoder()
    given_words = encode(coder, "a \u200b dog", ("a", "\u200b", "dog"))
    assert given_words.tokens[1] == coder.pieces.unknown
    assert given_words.word_of == [0, 1, 2]
    raw = encode(coder, "a \u200b dog")
    assert (raw.words, raw.word_of) == (["a", "dog"], [0, 1])
    assert raw.tokens == [given_words.tokens[0], given_words.tokens[2]]
    for tokenize in ("whitespace", "spacy"):
        alone = encode(encoder(tokenize), "\u200b")
        assert alone.tokens == [coder.pieces.unknown] * len(alone.words)


def test_parts_of_speech_are_those_of_the_cased_text() -> None:
    text = "The DOG rose"
    sentence = encode(encoder(), text)
    assert sentence.tokens == encode(encoder(), text.lower()).tokens  # an uncased vocabulary
    assert sentence.words == text.split()
    assert sentence.layers["pos"] == LAYERS["pos"].inventory.ids([tag(w) for w in text.split()])
    assert sentence.layers["case"] == LAYERS["case"].inventory.ids(["upper", "upper", "lower"])


def test_real_tagger_reads_capitals_of_an_uncased_bert() -> None:
    coder = encoder(annotator=Annotator(names=("heads",)))
    seen = set()
    for text in ("We like Apple and Google .", "we like apple and google ."):
        sentence = encode(coder, text)
        check(sentence)
        seen.add(LAYERS["pos"].inventory.symbols[sentence.layers["pos"][2]])
    assert "PROPN" in seen
    assert len(seen) == 2


def test_annotations_are_those_asked_for() -> None:
    text = "The small dog"
    everything = encode(encoder(), text)
    only_pos = encode(encoder(annotations=("pos",)), text)
    nothing = encode(TextEncoder(word_pieces()), text)
    assert everything.layers.keys() == {"pos", "case", "heads"}
    kept = {name: everything.layers[name] for name in ("pos", "case")}
    assert only_pos == replace(everything, layers=kept)
    assert nothing == replace(everything, layers={"case": kept["case"]})
    with pytest.raises(InputError, match="pos needs a spaCy pipeline"):
        TextEncoder(word_pieces(), annotations=layers_of(("pos",)))
    with pytest.raises(InputError, match="spacy needs a spaCy pipeline"):
        TextEncoder(word_pieces(), "spacy")


def test_words_are_found_by_the_pipeline_or_at_blanks() -> None:
    text = "The dog, cannot!"
    assert encode(encoder(), text).words == ["The", "dog,", "cannot!"]
    found = encode(encoder("spacy"), text)
    assert found.words == ["The", "dog", ",", "cannot", "!"]
    assert found.layers["heads"] == [2, 3, 4, 5, 0]
    assert found.tokens == encode(encoder(), text).tokens


class Splitter(RuleParser):
    """Cuts ``cannot`` in two, whoever gives it."""

    def annotate_words(self, sentences):
        """Annotate given words, cut once more."""
        lines = [" ".join(words).replace("cannot", "can not").split() for words in sentences]
        return super().annotate_words(lines)

    def annotate_text(self, lines):
        """Annotate raw lines with ``cannot`` as two words."""
        notes = []
        for line, note in zip(lines, super().annotate_text(lines)):
            pieces = []
            for a, b in note.spans:
                pieces += [(a, a + 3), (a + 3, b)] if line[a:b] == "cannot" else [(a, b)]
            words = [line[a:b] for a, b in pieces]
            notes.append(replace(super().annotate_words([words])[0], spans=pieces))
        return notes


@pytest.mark.parametrize("tokenize", ["whitespace", "spacy"])
def test_word_that_the_pipeline_cuts_keeps_its_first_part_of_speech(tokenize) -> None:
    sentence = encode(encoder(tokenize, annotator=Splitter()), "The dog cannot rose")
    check(sentence)
    assert sentence.words[-1] == "rose"
    assert len(sentence.words) == 4
    tags = LAYERS["pos"].inventory.ids([tag(w) for w in ("The", "dog", "can", "rose")])
    assert sentence.layers["pos"] == tags
    assert sentence.layers["heads"] == [2, 3, 4, 0]  # what hung on "not" and on "can" is the word's
    assert sentence.repaired == 1


def test_pipeline_that_sees_nothing_gives_no_part_of_speech() -> None:
    class Blind(RuleParser):
        def annotate_words(self, sentences):
            return [Annotation([], {"pos": [], "heads": []}) for _ in sentences]

    sentence = encode(encoder(annotator=Blind()), "a dog")
    check(sentence)
    assert sentence.layers["pos"] == LAYERS["pos"].inventory.ids(["X", "X"])


def test_pipeline_that_changes_the_text_is_refused() -> None:
    class Lower(RuleParser):
        def annotate_words(self, sentences):
            return super().annotate_words([[w.lower() for w in words] for words in sentences])

    with pytest.raises(InputError, match="changes the characters of 'The dog'"):
        encode(encoder(annotator=Lower()), "The dog")


def test_empty_word_names_its_example() -> None:
    with pytest.raises(InputError, match="example q7: word 2 is empty"):
        encoder().encode([Example("q7", ("a ",), ("a", ""))])


def test_half_a_character_names_its_example() -> None:
    with pytest.raises(InputError, match=r"example q7: '\\ud800' is half a character"):
        encoder().encode([Example("q7", ("a \ud800",))])


def test_examples_keep_order_and_number_whatever_they_are() -> None:
    examples = [
        Example("0", ("The dog", "a rose")),
        Example("1", ("",)),
        Example("2", ("a b",), ("a", "b")),
        Example("3", ("\u6771\u4eac", "")),
    ]
    for tokenize in ("whitespace", "spacy"):
        coder = encoder(tokenize)
        together = coder.encode(examples)
        assert [len(sentences) for sentences in together] == [2, 1, 1, 2]
        assert together == [coder.encode([example])[0] for example in examples]
    assert coder.encode([]) == []


SIGNS = "ab .,\u4e2d\u6587\u0645\U0001f600\u0301\u200b\x1c\x0b\u3000\ufdfa\u1e9e1"


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("tokenize", ["whitespace", "characters", "spacy"])
def test_what_is_counted_before_is_never_more_than_what_a_text_has(tokenize, apart) -> None:
    dice, coder = random.Random(tokenize), encoder(tokenize)
    coder.apart = apart
    for _ in range(100):
        text = "".join(dice.choices(SIGNS, k=dice.choice([1, 9, 60]))) + dice.choice(["", LONG])
        given = dice.choice([None, tuple(text.split()) or None])
        example = Example("0", (text,), given)
        counted = coder.least(example, 0)
        assert coder.least(example, len(text)) == 0
        ((sentence,),) = coder.encode([example])
        assert counted <= len(sentence.tokens)
        assert apart or given or counted == len(sentence.tokens) or not counted


def test_a_text_that_is_refused_is_not_annotated() -> None:
    class Annotates(RuleParser):
        def annotate_words(self, sentences):
            seen.extend(sentences)
            return super().annotate_words(sentences)

    def check_length(texts, subwords, name):
        if subwords + texts + 1 > inputs.limit:
            raise InputError(f"{name} is long")

    seen = []
    inputs = SimpleNamespace(limit=12, check_length=check_length, take=lambda *_: None)
    coder = encoder(annotator=Annotates())
    stub = SimpleNamespace(encoding=nullcontext(), encoder=coder, inputs=inputs)
    stub._encoded = partial(Predictor._encoded, stub)
    examples = [Example("a", ("the dog",)), Example("b", ("the dog " * 10,))]
    with pytest.raises(InputError, match="example b is long"):
        list(Predictor.encode(stub, examples))
    assert not seen
    assert len([*Predictor.encode(stub, examples[:1])]) == len(seen) == 1
