"""A ``tokenizer.json`` is read as `tokenizers` reads it, or refused; what is not done is told."""

from __future__ import annotations

import json
import random

import pytest
import transformers
from family_directories import FORMS, configure, write_json
from tokenizer_twins import odd_lines, theirs, tokenizer_of
from tokenizers import Tokenizer

from fairseq_plugins.errors import InputError
from fairseq_plugins.pretrained.families import BYTE_BPE, FAMILIES, UNSIDED
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary

NORMALIZERS = [
    {"type": "Lowercase"},
    {"type": "NFD"},
    {"type": "NFC"},
    {"type": "StripAccents"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Replace", "pattern": {"String": "\u00df"}, "content": "ss"},
]
CUTS = [
    *[{"type": "BertPreTokenizer"}] * 6,
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
]
TEXTS = [*odd_lines(25), "wait ... what?", "wei\u00df 12", "a" * 101, "\u5317\u4eac caf\u00e9"]
TEXTS += ["\u0643\u062a\u0627\u0628 \u0641\u064a", "\U0001f600 The cat", "x" * 40, "don't"]


def berts(rng):
    how = {"clean_text": rng.random() < 0.9, "handle_chinese_chars": rng.random() < 0.5}
    how |= {"strip_accents": rng.choice([None, True, False]), "lowercase": rng.random() < 0.5}
    return {"type": "BertNormalizer", **how}


def parts_of(rng):
    """Return a normaliser and a pre-tokeniser: BERT's, often, or any others."""
    steps = [berts(rng)] * (rng.random() < 0.7) + rng.sample(
        NORMALIZERS, rng.choice([0, 0, 0, 1, 3])
    )
    cuts = rng.sample(CUTS, 2)[: rng.choice([1, 1, 1, 2])]
    normalizer = {"type": "Sequence", "normalizers": steps} if len(steps) != 1 else steps[0]
    cut = {"type": "Sequence", "pretokenizers": cuts} if len(cuts) != 1 else cuts[0]
    return rng.choice([normalizer] * 9 + [None]), rng.choice([cut] * 9 + [None])


@pytest.mark.parametrize("plain", [True, False], ids=["beside vocab.txt", "alone"])
def test_wordpieces_are_cut_as_their_file_says_or_refused(tmp_path, plain) -> None:
    path = FORMS["bert"](tmp_path / "model")
    (path / "tokenizer_config.json").unlink(missing_ok=True)
    vocabulary, rng = read_vocabulary(path), random.Random(9)
    if not plain:
        (path / "vocab.txt").unlink()
    body = json.loads(Tokenizer.from_str(_wordpiece_json(vocabulary)).to_str())
    read, refused = 0, []
    for _ in range(120):
        normalizer, cut = parts_of(rng)
        model = {**body["model"]}
        model |= {"continuing_subword_prefix": "@@"} if rng.random() < 0.1 else {}
        model |= {"max_input_chars_per_word": 30} if rng.random() < 0.1 else {}
        said = body | {"normalizer": normalizer, "pre_tokenizer": cut, "model": model}
        ours, reference = both(path, said, refused)
        if ours is None:
            continue
        read += 1
        for text in TEXTS:
            assert ours.encode_text(text)[0] == reference.encode(text).ids, (said, text)
    assert 10 < read < 100
    assert all("tokenizer.json: " in one and "expected" in one for one in refused)


def both(path, said, refused):
    """Write a file; return our tokeniser, None where it is refused (which is kept), and theirs."""
    write_json(path / "tokenizer.json", said)
    reference = Tokenizer.from_file(str(path / "tokenizer.json"))
    try:
        return tokenizer_of(path), reference
    except ValueError as error:
        refused.append(str(error))
        return None, reference


def _wordpiece_json(vocabulary) -> str:
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    model |= {"max_input_chars_per_word": 100, "vocab": vocabulary.indices}
    return json.dumps({"version": "1.0", "model": model})


@pytest.mark.parametrize("form", ["roberta", "modernbert", "xlm-roberta", "albert"])
def test_other_schemes_are_cut_as_their_file_says_or_refused(tmp_path, form) -> None:
    path = FORMS[form](tmp_path / "model")
    body, rng, read = json.loads(read_vocabulary(path).content), random.Random(10), 0
    refused = []
    texts = [text for text in TEXTS if text.isascii() and text.strip() or "\U0001f600" in text]
    texts += ["wei\u00df 12", "\u5317\u4eac", "\u0643\u062a\u0627\u0628 \u0641\u064a  x"]
    for _ in range(25):
        said = {**body, "added_tokens": []}
        if rng.random() < 0.5:
            steps = rng.sample(NORMALIZERS, rng.choice([0, 1, 2]))
            said["normalizer"] = {"type": "Sequence", "normalizers": steps}
        if rng.random() < 0.4:
            mark = {"type": "Metaspace", "replacement": "\u2581", "split": rng.random() < 0.5}
            mark["prepend_scheme"] = rng.choice(["always", "first", "never"])
            bytes_ = {"type": "ByteLevel", "trim_offsets": True}
            bytes_ |= {"use_regex": rng.random() < 0.8, "add_prefix_space": rng.random() < 0.5}
            said["pre_tokenizer"] = rng.choice(
                [bytes_ if FAMILIES[form].scheme == BYTE_BPE else mark, *CUTS[6:8]]
            )
        ours, reference = both(path, said, refused)
        if ours is None:
            continue
        read += 1
        for text in texts:
            found = reference.encode(text, add_special_tokens=False).ids
            assert ours.encode_text(text)[0] == found, (said["normalizer"], text)
    assert 2 < read < 25
    assert all("tokenizer.json: " in one for one in refused)


FILES = {
    "added_tokens.json": lambda words: {word: 9000 + i for i, word in enumerate(words)},
    "special_tokens_map.json": lambda words: {"additional_special_tokens": words},
    "tokenizer_config.json": lambda words: {
        "added_tokens_decoder": {str(9000 + i): {"content": one} for i, one in enumerate(words)}
    },
}


@pytest.mark.parametrize("form", FAMILIES)
def test_added_words_of_any_kind_are_told_and_cut_as_text(tmp_path, form, caplog) -> None:
    path, rng = FORMS[form](tmp_path / "model"), random.Random(11)
    theirs(form).from_pretrained(path).save_pretrained(path)
    plain, count = tokenizer_of(path), len(read_vocabulary(path))
    for number in range(9):
        words = rng.sample(["[E1]", "<e>", "\u5317\u4eac", "\U0001f600", "cat", "na\u00efve"], 2)
        again = tmp_path / f"model{number}"
        again.mkdir()
        for file in path.iterdir():
            (again / file.name).write_bytes(file.read_bytes())
        name = rng.choice([*FILES, "tokenizer.json"])
        if name == "tokenizer.json":
            fast = theirs(form).from_pretrained(path)
            flags = {"single_word": rng.random() < 0.5, "lstrip": rng.random() < 0.5}
            flags |= {"normalized": rng.random() < 0.5, "special": rng.random() < 0.5}
            fast.add_tokens([transformers.AddedToken(word, **flags) for word in words])
            fast.save_pretrained(again)
        else:
            write_json(again / name, FILES[name](words))
        caplog.clear()
        ours = tokenizer_of(again)
        assert "has the added words" in caplog.text, name
        assert all(word in caplog.text for word in words)
        assert len(read_vocabulary(again)) in (count, count + 1, count + 2)
        text = f"The {words[0]} sat{words[1]}on"
        assert ours.encode_text(text)[0] == plain.encode_text(text)[0]


@pytest.mark.parametrize("form", FAMILIES)
def test_files_that_transformers_saves_are_read_without_a_word(tmp_path, form, caplog) -> None:
    path = FORMS[form](tmp_path / "model")
    theirs(form).from_pretrained(path).save_pretrained(tmp_path / "saved")
    configure(tmp_path / "saved", form)
    read_vocabulary(tmp_path / "saved")
    assert "its tokeniser" not in caplog.text


def test_a_vocabulary_with_a_subword_twice_is_read_beside_its_tokeniser(tmp_path) -> None:
    """Its last line counts, and ``tokenizer.json`` has a gap where the first one stands."""
    path = FORMS["bert"](tmp_path / "model")
    lines = (path / "vocab.txt").read_text(encoding="utf-8").split("\n")
    (path / "vocab.txt").write_text("\n".join([*lines[:9], lines[20], *lines[9:]]), "utf-8")
    reference = transformers.BertTokenizer(vocab=str(path / "vocab.txt"))
    reference.backend_tokenizer.save(str(path / "tokenizer.json"))
    body = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    assert max(body["model"]["vocab"].values()) == len(body["model"]["vocab"])
    ours = tokenizer_of(path)
    for text in TEXTS:
        found = reference.backend_tokenizer.encode(text, add_special_tokens=False).ids
        assert ours.encode_text(text)[0] == found, text
    body["model"]["vocab"]["The"] = 9
    write_json(path / "tokenizer.json", body)
    with pytest.raises(InputError, match="has other subwords than the file beside it"):
        read_vocabulary(path)


UNDECLARED = {  # `tokenizers` panics when it uses it
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [
        {"SpecialToken": {"id": "[X]", "type_id": 0}},
        *({"Sequence": {"id": name, "type_id": 0}} for name in "AB"),
    ],
    "special_tokens": {},
}


def template(family, ids, side):
    """Return what makes rows of a family, the second side with a number of its own."""
    own = family.specials
    behind = [(own.sep, 0)] * family.row.separators
    row = [(own.cls, 0), ("A", 0), *behind, ("B", side), (own.sep, side)]
    pair = [
        {"Sequence" if name in ("A", "B") else "SpecialToken": {"id": name, "type_id": number}}
        for name, number in row
    ]
    known = {
        name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in (own.cls, own.sep)
    }
    return {"type": "TemplateProcessing", "single": pair[:3], "pair": pair, "special_tokens": known}


@pytest.mark.parametrize("form", FAMILIES)
def test_other_rows_than_the_familys_are_told(tmp_path, form, caplog) -> None:
    path = FORMS[form](tmp_path / "model")
    saved = theirs(form).from_pretrained(path)
    saved.save_pretrained(path)
    body = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    family, ids = FAMILIES[form], read_vocabulary(path).indices
    own, one = family.specials, family.row.separators == 1
    cls, sep = [own.cls, ids[own.cls]], [own.sep, ids[own.sep]]
    rows = [
        (None, False),
        ({"type": "ByteLevel", "trim_offsets": True, "add_prefix_space": True}, False),
        ({"type": "BertProcessing", "sep": sep, "cls": cls}, not one),
        ({"type": "BertProcessing", "sep": cls, "cls": sep}, True),
        ({"type": "Nothing"}, True),
        *((template(family, ids, i), family.inputs != UNSIDED and i != one) for i in (0, 1)),
        (UNDECLARED, True),
    ]
    for processor, is_told in rows:
        write_json(path / "tokenizer.json", body | {"post_processor": processor})
        caplog.clear()
        read_vocabulary(path)
        assert ("makes rows of other special tokens" in caplog.text) == is_told, processor


@pytest.mark.parametrize(
    ("form", "config", "message"),
    [
        ("bert", {"do_basic_tokenize": False}, "do_basic_tokenize is False, expected True"),
        ("bert", {"never_split": ["[E1]"]}, r"never_split is \['\[E1\]'\], expected None"),
        ("albert", {"do_lower_case": False}, "do_lower_case is False, expected True"),
        ("albert", {"keep_accents": True}, "keep_accents is True, expected False"),
        ("xlm-roberta", {"add_prefix_space": False}, "add_prefix_space is False, expected True"),
        ("modernbert", {"add_prefix_space": True}, "add_prefix_space is True, expected False"),
        ("deberta-v2", {"split_by_punct": True}, "split_by_punct is True, expected False"),
    ],
)
def test_a_configuration_that_contradicts_its_tokeniser_is_refused(
    tmp_path, form, config, message
) -> None:
    path = FORMS[form](tmp_path / "model")
    (path / "tokenizer.json").write_bytes(
        read_vocabulary(path).content if form != "bert" else b"{}"
    )
    write_json(path / "tokenizer_config.json", config)
    with pytest.raises(InputError, match=f"tokenizer_config.json: {message}"):
        read_vocabulary(path)


def test_a_tokeniser_of_another_kind_is_told(tmp_path, caplog) -> None:
    path = FORMS["bert"](tmp_path / "model")
    for name, is_told in (("BertJapaneseTokenizer", True), ("BertTokenizerFast", False)):
        write_json(path / "tokenizer_config.json", {"tokenizer_class": name})
        caplog.clear()
        read_vocabulary(path)
        assert ("is a BertJapaneseTokenizer; here text is cut as" in caplog.text) == is_told
