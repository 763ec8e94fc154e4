"""What words of raw sentences are: those of their annotator, unless an option says otherwise."""

from __future__ import annotations

import logging
import random
import re
import unicodedata

import pytest
import spacy
from raw_datasets import NAMES, write_raw
from raw_text import rows_of, text_options, write_pretrained, write_table

from fairseq_plugins.corpora.datasets import DATASETS, find_splits, read_split
from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.recipes.text_options import TextOptions
from fairseq_plugins.pretrained.directory import DEFAULT
from fairseq_plugins.resources import BUNDLED, pipeline_path
from fairseq_plugins.syntax.layers import LAYERS
from fairseq_plugins.text import annotate
from fairseq_plugins.text.raw_text import ends_in_punctuation
from fairseq_plugins.text.text_encoder import TextEncoder

PAIRS = 75
FRAGMENTS = """The boy|a ball|U.S.|Mr. Brown|don't|can't|we'll|Mary's|cannot|gonna|it is 5%|$4.50
well-known|e-mail|naïve café|Straße|weiß|München|dog;cat|rock 'n' roll|o'clock|I'm|3.14
1,000|and/or|http://a.b/c|(maybe)|[sic]|"quoted"|“curly”|‘single’|«guillemets»|she said, "no"
東京|北京大学|我们 走|これはペン|教区成立|안녕 세상|مرحبا|كتاب جديد|العالم|שלום|привет мир
🙂 smile|😀 🎉|❤ love|ran|sat|sees|Sue|quickly""".replace("\n", "|").split("|")
ENDS = (".", "!", "?", "...", "…", ",", ";", "?!", ".”", '."', "。", "！", "؟", "،", ".)", "", " .")
GLUED = ("ball.", "said:", "“no”", "dogs'", "好。", "مرحبا؟", "wait…", "5%", "a.b.", "(x)")
NOT_GLUED = (
    ".",
    "...",
    "?!",
    "”",
    "don't",
    "$5",
    "U.S.A",
    "😀",
    "",
    "👍🏽",
    "-x",
    "(x",
    "c++",
    "。」",
)


def sentence(dice: random.Random) -> str:
    """Draw fragments with a sign, or several, at their ends."""
    parts = (dice.choice(FRAGMENTS) + dice.choice(ENDS) for _ in range(dice.randint(1, 5)))
    return dice.choice((" ", " ", "  ")).join(parts)


@pytest.fixture
def raw(tmp_path):
    """A folder with a pretrained directory and pairs of odd sentences."""
    write_pretrained(tmp_path / "bert")
    dice = random.Random(37)
    rows = [(sentence(dice), sentence(dice), "ab"[n % 2]) for n in range(PAIRS)]
    write_table(tmp_path / "train.tsv", ("text", "second", "label"), *rows)
    return tmp_path


@pytest.fixture(scope="module")
def nlp():
    """The bundled pipeline as spaCy itself loads it."""
    return spacy.load(pipeline_path(BUNDLED))


@pytest.fixture(autouse=True)
def _one_pipeline(nlp, monkeypatch) -> None:
    monkeypatch.setattr(annotate, "load_pipeline", lambda *_: nlp)


def options(raw, name="out", **given):
    """Options of the pairs, with the default of all that is not given."""
    base = {"dataset": "plain", "raw_dir": "", "train_file": raw / "train.tsv"}
    return text_options(raw, name, **{**base, "text2_column": "second", **given})


def twin(nlp, text: str) -> tuple[list[str], list[str], list[int]]:
    """Words, parts of speech and heads by the pipeline alone; no heads where a token is blank."""
    doc = nlp(text)
    tokens = [token for token in doc if not token.is_space]
    heads = [0 if token.head.i == token.i else token.head.i + 1 for token in tokens]
    heads = heads if len(tokens) == len(doc) else []
    return [token.text for token in tokens], [token.pos_ for token in tokens], heads


def test_raw_sentences_carry_what_the_pipeline_says_of_its_own_words(raw, nlp) -> None:
    """In the folder, and when raw text is read as the folder was; odd texts of many scripts."""
    manifest = prepare(options(raw))
    assert manifest.tokenize == manifest.options["tokenize"] == "spacy"
    lines = (raw / "train.tsv").read_text().splitlines()[1:]
    pairs = [tuple(line.split("\t")[:2]) for line in lines]
    coder = TextEncoder.from_folder(raw / "out", manifest)
    again = coder.encode([Example(str(n), pair) for n, pair in enumerate(pairs)])
    whole = 0
    for side in range(2):
        stored = [rows_of(raw / "out", "train", f"{name}{side}") for name in ("pos", "heads")]
        for number, pair in enumerate(pairs):
            words, tags, heads = twin(nlp, pair[side])
            found, (pos, tree) = again[number][side], (rows[number] for rows in stored)
            assert (found.layers["pos"], found.layers["heads"]) == (pos, tree)
            kept = iter(range(len(words)))  # a word without a subword of its own is part of another
            places = [next(i for i in kept if words[i] == word) for word in found.words]
            assert [LAYERS["pos"].inventory.symbols[i] for i in pos] == [tags[i] for i in places]
            if len(places) == len(words):
                assert (found.words, heads or tree) == (words, tree)
                whole += bool(heads)
            assert not any(map(ends_in_punctuation, set(found.words) - set(words)))
    assert whole > PAIRS  # of two sentences a pair


def test_the_default_is_the_annotators_words_where_they_are_not_given(raw) -> None:
    for name in NAMES:
        write_raw(name, raw / name, count=3)
        dataset = DATASETS[name]
        split, path = next(iter(find_splits(dataset, raw / name).items()))
        given = next(read_split(dataset, split, path)).words is not None
        for layers, annotated in (("pos,heads", True), ("none", False), ("case", False)):
            found = text_options(raw, "x", dataset=name, raw_dir=raw / name, layers=layers)
            assert found.tokenize == ("spacy" if annotated and not given else "whitespace"), name


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "spacy"),
        ({"layers": "dep"}, "spacy"),
        ({"layers": "pos", "spacy_model": "udpipe:m"}, "spacy"),
        ({"parse_text": "as-tokenised"}, "spacy"),
        ({"dataset": "plain_scores"}, "spacy"),
        ({"words_from": "train", "pretrained": DEFAULT}, "spacy"),
        ({"layers": "similarity"}, "whitespace"),
        ({"words_from": "train", "pretrained": DEFAULT, "layers": "none"}, "whitespace"),
        ({"train_conllu": "t.conllu"}, "spacy"),
        ({"train_conllu": "t.conllu", "layers": "given.a1,case"}, "spacy"),
        ({"tokenize": "whitespace"}, "whitespace"),
        ({"tokenize": "characters"}, "characters"),
        ({"tokenize": "spacy", "layers": "none"}, "spacy"),
        ({"dataset": "tokens"}, "whitespace"),
        ({"dataset": "tokens", "train_conllu": "t.conllu"}, "whitespace"),
        ({"dataset": "tokens", "layers": "given.a1", "layer_columns": "a1=3"}, "whitespace"),
    ],
)
def test_options_say_what_words_are(given, words, raw) -> None:
    assert options(raw, **given).tokenize == words
    assert options(raw, **given).recorded()["tokenize"] == words


def test_parses_without_work_are_refused_as_before(raw) -> None:
    with pytest.raises(InputError, match="CoNLL-U files have no work to do"):
        options(raw, layers="none", train_conllu="t.conllu")


def test_words_of_given_parses_are_theirs(raw) -> None:
    """A glued word would carry what its first token carries alone."""
    write_table(raw / "train.tsv", ("text", "label"), ("The ball.", "a"))
    rows = [("The", "DET", 2), ("ball", "NOUN", 0), (".", "PUNCT", 2)]
    lines = (f"{n}\t{w}\t_\t{t}\t_\t_\t{h}\tx\t_\t_" for n, (w, t, h) in enumerate(rows, start=1))
    (raw / "t.conllu").write_text("\n".join(lines) + "\n\n")
    prepare(options(raw, text2_column="", train_conllu=raw / "t.conllu"))
    assert rows_of(raw / "out", "train", "heads0") == [[2, 0, 2]]
    assert rows_of(raw / "out", "train", "pos0") == [
        LAYERS["pos"].inventory.ids([t for _, t, _ in rows])
    ]


def test_words_that_end_in_a_sign_are_known() -> None:
    assert [*filter(ends_in_punctuation, (*GLUED, *NOT_GLUED))] == [*GLUED]


@pytest.mark.parametrize("tokenize", ["", "whitespace"])
def test_the_log_says_how_many_words_end_in_a_sign(tokenize, raw, nlp, caplog) -> None:
    """And the manifest does not: folders of earlier releases stay as they are, byte for byte."""
    caplog.set_level(logging.INFO)
    manifest = prepare(options(raw, tokenize=tokenize))
    lines = (raw / "train.tsv").read_text().splitlines()[1:]
    texts = [text for line in lines for text in line.split("\t")[:2]]
    words = [word for text in texts for word in (text.split() if tokenize else twin(nlp, text)[0])]
    signs = [unicodedata.category(word[-1])[0] == "P" for word in words]
    inner = [any(unicodedata.category(c)[0] != "P" for c in word) for word in words]
    expected, total = sum(map(all, zip(signs, inner))), manifest.splits["train"]["words"]
    assert total == len(words) if tokenize else total <= len(words)
    (said,) = (text for text in caplog.messages if "punctuation sign" in text)
    count = int(re.match(r"train: (\d+) of", said)[1])
    assert said.endswith(f"of {total} words end in a punctuation sign, as 'ball.' does "
                         f"(--tokenize {tokenize or 'spacy'})")  # fmt: skip
    assert abs(count - expected) <= len(words) - total
    assert (count > 0.3 * total) == bool(tokenize)
    assert "sign" not in (raw / "out" / "manifest.json").read_text()


@pytest.mark.parametrize("tokenize", ["", "whitespace"])
def test_raw_text_that_is_annotated_at_blanks_is_warned_of(tokenize, raw, caplog) -> None:
    manifest = prepare(options(raw, tokenize=tokenize))
    caplog.clear()
    TextEncoder.from_folder(raw / "out", manifest)
    assert any("split at blanks" in text for text in caplog.messages) == bool(tokenize)


def test_defaults_stand_in_no_record_of_an_explicit_choice(raw) -> None:
    own = {"dataset": "cola", "destdir": "x", "raw_dir": "."}
    assert TextOptions(**own, tokenize="spacy").recorded() == TextOptions(**own).recorded()
