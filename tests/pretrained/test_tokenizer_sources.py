"""Vocabularies of every family, read from every form of directory, against other programs."""

from __future__ import annotations

import io
import json
import random
import re
import unicodedata
from base64 import b64decode, b64encode

import numpy as np
import pytest
import transformers
from fairseq.data import Dictionary
from fairseq.data.encoders.gpt2_bpe_utils import get_encoder
from family_directories import (
    FORMS,
    TEXT,
    byte_pairs,
    configure,
    fairseq_roberta,
    family_of,
    roberta,
    write_json,
)
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizer_twins import odd_lines, theirs, tokenizer_of
from tokenizers import Tokenizer
from tokenizers.models import BPE

from fairseq_plugins.errors import InputError
from fairseq_plugins.pretrained.directory import find_family
from fairseq_plugins.pretrained.families import FAMILIES, SENTENCEPIECE
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings, tokenizer_files
from fairseq_plugins.pretrained.tokenizer_models import steps_of
from fairseq_plugins.pretrained.tokenizer_sources import MODELS, _cleaning, read_vocabulary
from fairseq_plugins.pretrained.vocabulary import Vocabulary


def own_pieces(path):
    """Return what cuts a line by sentencepiece itself, after the steps that are no part of it."""
    name = next(name for name in MODELS if (path / name).is_file())
    model = SentencePieceProcessor(model_file=str(path / name))
    body = {"type": "Sequence", "normalizers": _cleaning(path, find_family(path))}
    plain = json.loads(Tokenizer(BPE()).to_str()) | {"normalizer": body}
    before = Tokenizer.from_str(json.dumps(plain)).normalizer

    def cut(line):
        ids = model.encode(before.normalize_str(line))
        return [model.id_to_piece(i) for i in ids]

    return cut


LINES = odd_lines(2000)
DECOMPOSED = [
    "Vi\u1ec7t",
    "Nam",
    "\u0111\u01b0\u1ee3c",
    "\ud55c\uad6d\uc5b4",
    "\u30ac\u30ae\u30b0",
    "caf\u00e9",
]
DECOMPOSED += [
    "\u01d5ber",
    "\u0643\u0650\u062a\u064e\u0627\u0628\u064c",
    "\u0623\u0653",
    "\u24d8\u05b4",
    "\U0001f600\ufe0f",
    "\u0928\u0940",
]
BLANK = "\u00a0\u3000\t\u2003\u0085\u2581"  # which some models leave
MARKS = ["", "", "\u0301", "\u0301\u0302", "\u05b4", "\u0653", "\u200d", "\x85"]


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("xlm-roberta", {}),
        ("albert", {}),
        ("albert", {"do_lower_case": False, "keep_accents": True}),
    ],
    ids=str,
)
def test_decomposed_text_is_cut_as_sentencepiece_does(tmp_path, form, options) -> None:
    path = FORMS[form](tmp_path / "model", **options)
    ours, own, rng = tokenizer_of(path), own_pieces(path), random.Random(8)
    pieces = read_vocabulary(path).pieces
    for _ in range(200):
        words = ["".join(rng.choice(DECOMPOSED) + rng.choice(MARKS)) for _ in range(5)]
        words = [unicodedata.normalize(rng.choice(["NFD", "NFC", "NFKD"]), word) for word in words]
        text = "".join(word + rng.choice([" ", " ", "", "  "]) for word in words)
        ids, spans = ours.encode_text(text)
        assert [pieces[i] for i in ids] == own(text), ascii(text)
        edges = [place for span in spans for place in span]
        assert all(0 <= place <= len(text) for place in edges)
        assert [begin for begin, _ in spans] == sorted(begin for begin, _ in spans)
        words = text.split(" ")
        given, word_of = ours.encode_words([word for word in words if word])
        assert [pieces[i] for i in given] == own(" ".join(filter(None, words)))
        assert word_of == sorted(word_of)
    place = ours.encode_text("a Vie\u0323\u0302t b")[1]
    assert place[0][0] == 0
    assert place[-1] == (9, 10)


OPTIONS = [
    *((form, {}) for form in FORMS if "fairseq" not in form),
    ("roberta", {"add_prefix_space": True}),
    ("albert", {"do_lower_case": False, "keep_accents": True}),
    ("deberta-v2", {"do_lower_case": True}),
]


@pytest.mark.parametrize(("form", "options"), OPTIONS, ids=str)
def test_tokens_are_those_of_transformers(tmp_path, form, options) -> None:
    path = FORMS[form](tmp_path / "model", **options)
    reference, ours = theirs(form).from_pretrained(path), tokenizer_of(path)
    expected = reference(LINES, add_special_tokens=False)["input_ids"]
    own = own_pieces(path) if FAMILIES[form].scheme == SENTENCEPIECE else None
    differing = [
        line
        for line, ids in zip(LINES, expected)
        if line.strip() and ours.encode_text(line)[0] != ids
    ]
    if own:  # where `tokenizers` reads a table of characters otherwise than the model
        pieces = read_vocabulary(path).pieces
        assert [[pieces[i] for i in ours.encode_text(line)[0]] for line in differing] == [
            *map(own, differing)
        ]
        assert len(differing) < 30 or form == "deberta-v2"  # which transformers gives no table
    else:
        assert differing == []
    names = [*read_vocabulary(path).pieces]
    assert reference.convert_ids_to_tokens(list(range(len(names)))) == names


@pytest.mark.parametrize("form", FORMS)
def test_written_files_give_the_same_here_and_in_transformers(tmp_path, form) -> None:
    path = FORMS[form](tmp_path / "model")
    vocabulary, settings = read_vocabulary(path), read_tokenizer_settings(path)
    again = tmp_path / "again"
    again.mkdir()
    for name, content in tokenizer_files(vocabulary, settings, 512).items():
        (again / name).write_bytes(content)
    write_json(again / "config.json", {"model_type": family_of(form)})
    assert read_vocabulary(again).content == vocabulary.content
    assert read_tokenizer_settings(again) == settings
    assert Vocabulary(vocabulary.content, family=vocabulary.family).pieces == vocabulary.pieces
    reference, ours = transformers.AutoTokenizer.from_pretrained(again), tokenizer_of(path)
    own, row = vocabulary.family.specials, vocabulary.family.row
    first, second = (ours.encode_text(text)[0] for text in ("The cat", "the second one"))
    frame = row.frame(vocabulary.indices[own.cls], vocabulary.indices[own.sep], 2)
    pair = [*frame[0], *first, *frame[1], *second, *frame[2]]
    for text in (*TEXT[:5], "a  b   c" + " " * 60 + "d\n  e "):
        found = reference(text, add_special_tokens=False)["input_ids"]
        assert ours.encode_text(text)[0] == found, text
    assert reference("The cat", "the second one")["input_ids"] == pair
    assert reference.mask_token == own.mask
    assert reference.pad_token_id == vocabulary.indices[own.pad]


def test_deberta_has_the_ids_of_its_model_and_cuts_at_signs_by_its_settings(tmp_path) -> None:
    for split in (True, False):
        path = FORMS["deberta-v2"](tmp_path / str(split), split_by_punct=split)
        model, ours = SentencePieceProcessor(model_file=str(path / "spm.model")), tokenizer_of(path)
        own = [model.id_to_piece(i) for i in range(model.get_piece_size())]
        assert read_vocabulary(path).pieces == [*own, "[MASK]"]
        texts = [*TEXT[:5], "a.b.c (cats), don't!? -- sat...", "mat -- dog"]
        for text in texts:
            parts = re.split(r"([^\w\s])", text) if split else [text]
            assert ours.encode_text(text)[0] == sum(map(model.encode, parts), []), text
        reference = theirs("deberta-v2").from_pretrained(path)
        reference.save_pretrained(path)
        ours = tokenizer_of(path)
        for text in texts:  # transformers leaves marks alone behind words, and has no table
            found = reference(text, add_special_tokens=False)["input_ids"]
            assert ours.encode_text(text)[0] == found, text


def test_runs_of_blanks_are_subwords_only_if_they_are_added(tmp_path) -> None:
    words = ["<|end|>", "[unused0]", "|||IP|||"]
    path = FORMS["modernbert"](tmp_path / "model", words)
    vocabulary, body = read_vocabulary(path), json.loads((path / "tokenizer.json").read_text())
    ours, reference = tokenizer_of(path), theirs("modernbert").from_pretrained(path)
    runs = {size: vocabulary.indices[" " * size] for size in range(2, 25)}
    assert vocabulary.parts.runs == tuple(" " * size for size in range(24, 1, -1))
    for size in range(1, 60):
        for text in (f"cat{' ' * size}sat", f"{' ' * size}cat\n{' ' * size}", f"\t{' ' * size}sat"):
            ids, spans = ours.encode_text(text)
            assert ids == reference(text, add_special_tokens=False)["input_ids"], size
            assert {*runs.values()} & {*ids} or size == 1
            assert all(text[begin:end].strip() for begin, end in spans)
    found, ids, word_of = ours.encode_raw("cat     sat", characters=False)
    assert (found.kept, word_of[ids.index(runs[5])]) == (["cat", "sat"], 1)
    body["added_tokens"] = [one for one in body["added_tokens"] if not one["content"].isspace()]
    body["model"]["vocab"] |= {" " * size: number for size, number in runs.items()}
    write_json(path / "tokenizer.json", body)
    plain = tokenizer_of(path)
    assert not {*runs.values()} & {*plain.encode_text("cat     sat")[0]}
    assert plain.encode_text(TEXT[0]) == ours.encode_text(TEXT[0])


def test_fairseq_roberta_has_the_ids_of_fairseq(tmp_path) -> None:
    path = fairseq_roberta(tmp_path)
    encoder = get_encoder(path / "encoder.json", path / "vocab.bpe")
    dictionary = Dictionary.load(str(path / "dict.txt"))
    mask = dictionary.add_symbol("<mask>")
    ours, vocabulary = tokenizer_of(path), read_vocabulary(path)
    assert (len(vocabulary), vocabulary.indices["<mask>"]) == (len(dictionary), mask)
    for line in LINES[:300]:
        if line.strip():
            symbols = map(str, encoder.encode(line))
            assert ours.encode_text(line)[0] == [dictionary.index(one) for one in symbols], line


@pytest.mark.parametrize("form", ["xlm-roberta", "xlm-roberta of fairseq"])
def test_xlm_roberta_has_the_pieces_of_sentencepiece(tmp_path, form) -> None:
    path = FORMS[form](tmp_path / "model")
    reference = SentencePieceProcessor(model_file=str(path / "sentencepiece.bpe.model"))
    ours, vocabulary = tokenizer_of(path), read_vocabulary(path)
    for line in ("The cat sat on the mat", "na\u00efve \ufb01rst \u5317\u4eac\u5927\u5b66  1984!"):
        found = [vocabulary.pieces[i] for i in ours.encode_text(line)[0]]
        spelled = [reference.id_to_piece(i) for i in reference.encode(line)]
        assert found == spelled
    if "fairseq" in form:
        dictionary = Dictionary.load(str(path / "dict.txt"))
        assert vocabulary.pieces == [*dictionary.symbols, "<mask>"]


def test_the_family_is_read_from_the_directory(tmp_path) -> None:
    for number, form in enumerate(FORMS):
        assert find_family(FORMS[form](tmp_path / str(number))).name == family_of(form)
    write_json(tmp_path / "config.json", {"model_type": "gpt2"})
    with pytest.raises(InputError, match=r"model_type is 'gpt2'; choices: bert, roberta, xlm"):
        find_family(tmp_path)


def trained(path, **options):
    """Write XLM-R's sentencepiece model, trained with further options."""
    model = io.BytesIO()
    how = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1, "vocab_size": 180} | options
    SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_writer=model,
        character_coverage=1.0,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **how,
    )
    configure(path, "xlm-roberta")
    (path / MODELS[0]).write_bytes(model.getvalue())
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"add_dummy_prefix": False}, "was made without add_dummy_prefix; such models are not"),
        ({"remove_extra_whitespaces": False}, "without remove_extra_whitespaces"),
        ({"treat_whitespace_as_suffix": True}, "with treat_whitespace_as_suffix"),
        ({"byte_fallback": True, "vocab_size": 400}, "with byte_fallback"),
        ({"user_defined_symbols": ["\u2460"]}, "with the symbol '\u2460'"),
    ],
)
def test_models_that_treat_blanks_otherwise_are_refused(tmp_path, options, message) -> None:
    with pytest.raises(InputError, match=message):
        read_vocabulary(trained(tmp_path, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"user_defined_symbols": ["[E1]", "(", "cat"]},
        {"normalization_rule_name": "nfkc_cf"},
        {"normalization_rule_name": "identity"},
    ],
)
def test_models_of_other_options_cut_as_sentencepiece_does(tmp_path, options) -> None:
    path = trained(tmp_path, **options)
    ours, own = tokenizer_of(path), own_pieces(path)
    pieces = read_vocabulary(path).pieces
    for line in [line.replace("the", "[E1] (cats") for line in LINES[:100]] + TEXT[:10]:
        if not {*BLANK} & {*line}:
            assert [pieces[i] for i in ours.encode_text(line)[0]] == own(line), ascii(line)


def _without(name):
    return lambda path: (path / name).unlink()


def _tokenizer(**changes):
    """Write a ``tokenizer.json`` with changes in its model, or beside it."""

    def edit(path) -> None:
        vocabulary = read_vocabulary(path)
        body = json.loads(vocabulary.content)
        for key, value in changes.items():
            (body["model"] if key in body["model"] else body)[key] = value
        write_json(path / "tokenizer.json", body)

    return edit


def _line(name, text):
    def edit(path) -> None:
        with (path / name).open("a", encoding="utf-8") as file:
            file.write(text)

    return edit


def _cut(name, lines):
    def edit(path) -> None:
        kept = (path / name).read_text(encoding="utf-8").splitlines(keepends=True)[:-lines]
        (path / name).write_text("".join(kept), encoding="utf-8")

    return edit


def _only_merges(path) -> None:
    roberta(path)
    configure(path, "modernbert")
    (path / "tokenizer.json").unlink()


def _table(content):
    return {"type": "Precompiled", "precompiled_charsmap": content}


EXTRA = {"id": 505, "content": "<extra>", "special": False}
BLANKS = {"id": 5, "content": "   ", "special": False, "lstrip": True}
SPLIT = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
DAMAGES = [
    ("roberta", _without("merges.txt"), FileNotFoundError, r"vocab.json is there, but no merges.t"),
    ("roberta", _without("vocab.json"), FileNotFoundError, r"no vocabulary, expected tok"),
    ("roberta", _line("merges.txt", "a b c\n"), ValueError, r"merges.txt:\d+: 'a b c' is no pair"),
    ("roberta", _line("merges.txt", "\u0120a xx\n"), ValueError, r"no vocabulary for the merge"),
    ("roberta", _tokenizer(merges=[]), ValueError, r"it has no merges"),
    ("roberta", _tokenizer(merges=5), ValueError, r"tokenizer.json is no tokeniser: .*iterable"),
    ("roberta", _tokenizer(merges=[3]), ValueError, r"tokenizer.json is no tokeniser: "),
    ("albert", _tokenizer(pre_tokenizer={"pretokenizers": 3}), ValueError, r"is no tokeniser: "),
    ("roberta", _tokenizer(dropout=0.1), ValueError, r"dropout is 0.1, expected none"),
    ("roberta", _tokenizer(type="Unigram"), ValueError, r"model is 'Unigram', roberta has BPE"),
    ("roberta", _tokenizer(pre_tokenizer=SPLIT), ValueError, r"pre_tokenizer is .*'Split'"),
    (
        "roberta",
        _tokenizer(normalizer={"type": "NFKC"}),
        ValueError,
        r"normalizer is .*, expected ",
    ),
    ("roberta", _tokenizer(added_tokens=[BLANKS]), ValueError, r"expected plain blanks"),
    ("modernbert", _tokenizer(fuse_unk=True), ValueError, r"fuse_unk is True, expected none"),
    ("modernbert", _only_merges, FileNotFoundError, r"no vocabulary, expected tokenizer.json$"),
    ("deberta-v2", _without("spm.model"), FileNotFoundError, r"or spiece.model or spm.model"),
    ("deberta-v2", _tokenizer(byte_fallback=True), ValueError, r"byte_fallback is not done here"),
    ("roberta", _tokenizer(added_tokens=[EXTRA]), ValueError, r"token '<extra>' has the id 505"),
    ("roberta", _tokenizer(added_tokens=[{}]), ValueError, r"an added token is {}"),
    ("roberta", _tokenizer(vocab={"a": 1}), ValueError, r"ids of the vocabulary are not 0 to 0"),
    ("roberta of fairseq", _cut("dict.txt", 3), ValueError, r"dict.txt does not fit .*: it lacks"),
    ("roberta of fairseq", _line("dict.txt", "x 1\n"), ValueError, r"'x' stands for no subword"),
    ("roberta of fairseq", _line("dict.txt", "7 1\n"), ValueError, r"'7' is there twice"),
    ("roberta of fairseq", _line("dict.txt", "7\n"), ValueError, r"'7' is no symbol with its"),
    ("xlm-roberta of fairseq", _cut("dict.txt", 2), ValueError, r"dict.txt does not fit .*lacks"),
    ("xlm-roberta of fairseq", _line("dict.txt", "q\u2603 1\n"), ValueError, r"no subword of the"),
    (
        "xlm-roberta",
        _without("sentencepiece.bpe.model"),
        FileNotFoundError,
        r"or sentencepiece.",
    ),
    ("xlm-roberta", _cut("sentencepiece.bpe.model", 0), ValueError, r"is no sentencepiece model"),
    ("xlm-roberta", _tokenizer(byte_fallback=True), ValueError, r"byte_fallback is not done here"),
    ("xlm-roberta", _tokenizer(unk_id=10**6), ValueError, r"unk_id is 1000000, no subword's"),
    ("xlm-roberta", _tokenizer(vocab=[["a", "b"]]), ValueError, r"is no subword with its score"),
    ("xlm-roberta", _tokenizer(pre_tokenizer=SPLIT), ValueError, r"expected WhitespaceSplit and M"),
    ("xlm-roberta", _tokenizer(normalizer=SPLIT), ValueError, r"normalizer .* is not known; choic"),
    (
        "albert",
        _tokenizer(added_tokens=[], vocab=[["a", 1]], unk_id=0),
        ValueError,
        r"lacks \[CLS\], \[SEP\], ",
    ),
    ("albert", _tokenizer(vocab=[["a", 1]], unk_id=0), ValueError, r"'<pad>' has the id 0"),
    (
        "albert",
        _tokenizer(normalizer=_table("AAAA!")),
        ValueError,
        r"precompiled_charsmap is no",
    ),
    (
        "albert",
        _tokenizer(normalizer=_table("/////w==")),
        ValueError,
        r"precompiled_charsmap is no",
    ),
]


@pytest.mark.parametrize(("form", "damage", "error", "message"), DAMAGES)
def test_damaged_directories_are_refused(tmp_path, form, damage, error, message) -> None:
    path = FORMS[form](tmp_path)
    if message == r"is no sentencepiece model":
        (path / "sentencepiece.bpe.model").write_bytes(b"\x0a\xff\xff\xff\xff\xffnothing")
    else:
        damage(path)
    with pytest.raises(error, match=message):
        read_vocabulary(path)


def test_a_merge_that_spells_a_special_token_is_refused(tmp_path) -> None:
    path = roberta(tmp_path)
    pieces = json.loads((path / "vocab.json").read_text(encoding="utf-8"))
    pieces["<s"] = len(pieces)
    write_json(path / "vocab.json", pieces)
    _line("merges.txt", "< s\n<s >\n")(path)
    with pytest.raises(InputError, match="the merge '<s >' makes a special token"):
        read_vocabulary(path)
    assert "<s" not in byte_pairs()[0]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_rows_say_where_texts_stand(family) -> None:
    row, lengths = family.row, [3, 2]
    for texts in (1, 2):
        frame = row.frame(-1, -2, texts)
        tokens = [*frame[0]]
        for number, special in enumerate(frame[1:]):
            assert row.begin(number, sum(lengths[:number])) == len(tokens)
            tokens += [number] * lengths[number] + special
        assert len(tokens) == row.specials(texts) + sum(lengths[:texts])
        assert np.flatnonzero(np.equal(tokens, -1)).tolist() == [0]
        assert tokens[row.border(lengths[0]) - 1] == -2


@pytest.mark.parametrize("form", ["roberta", "electra"])
def test_added_words_are_named(tmp_path, caplog, form) -> None:
    path = FORMS[form](tmp_path / "model")
    known = read_vocabulary(path)
    assert "added words" not in caplog.text
    write_json(path / "added_tokens.json", {known.pieces[9]: 9, "foobar": len(known)})
    assert read_vocabulary(path).pieces == known.pieces
    assert f"has the added words {known.pieces[9]}, foobar;" in caplog.text


def test_words_that_transformers_added_to_wordpieces_are_named(tmp_path, caplog) -> None:
    path = FORMS["distilbert"](tmp_path / "model")
    tokenizer = transformers.DistilBertTokenizerFast(str(path / "vocab.txt"))
    tokenizer.add_tokens(["foobar"])
    tokenizer.save_pretrained(path)
    read_vocabulary(path)
    assert "has the added words foobar;" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("form", ["xlm-roberta", "albert"])
def test_tables_of_characters_that_lead_outside_are_refused(tmp_path, form) -> None:
    path = FORMS[form](tmp_path / "model")
    body = json.loads(read_vocabulary(path).content)
    (step,) = (s for s in steps_of(body["normalizer"]) if s["type"] == "Precompiled")
    table = b64decode(step["precompiled_charsmap"])
    size, rng, refused = int.from_bytes(table[:4], "little"), random.Random(3), 0
    for _ in range(30):
        wrong = bytearray(table[: rng.choice([len(table), 4 + size])])
        for _ in range(rng.randrange(1, 4)):
            place = 4 * rng.randrange(1, 1 + size // 4)
            wrong[place : place + 4] = rng.choice([rng.randbytes(4), b"\xff" * 4])
        step["precompiled_charsmap"] = b64encode(wrong).decode()
        write_json(path / "tokenizer.json", body)
        try:
            tokenizer = tokenizer_of(path)
        except ValueError as error:
            refused += "precompiled_charsmap is no table" in str(error)
            continue
        for line in LINES[:200]:
            tokenizer.encode_text(line)  # ends the program where a unit leads outside
    assert 0 < refused
    for table in (bytes(4), b"\x04\0\0\0" + bytes(4)):
        step["precompiled_charsmap"] = b64encode(table).decode()
        write_json(path / "tokenizer.json", body)
        with pytest.raises(InputError, match="precompiled_charsmap is no table"):
            read_vocabulary(path)
