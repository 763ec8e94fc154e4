"""``--like FOLDER``, and models and dictionaries that do not fit the text."""

from __future__ import annotations

import json
import shutil

import pytest
from raw_corpora import contents, invented_pairs, make_options, stream_rows, write_pairs

from fairseq_plugins.data.dictionaries import load_dictionary, token_ids
from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes.like import options_of, settings_of
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.text.raw_text import line_reader
from fairseq_plugins.text.segment import load_segmenter
from fairseq_plugins.text.source_encoder import SourceEncoder

WAYS = [
    {"bpe_vocabulary_threshold": 4, "normalizer": "moses", "features": "case,pos"},
    {"subwords": "sentencepiece", "bpe_size": 90, "tokenizer": "none", "features": ""},
    {"subwords": "none", "tokenizer": "pretokenized", "joined_dictionary": True},
]


@pytest.fixture
def corpus(tmp_path, rule_tagger):
    """A training and a test text."""
    write_pairs(tmp_path / "train", invented_pairs(60))
    write_pairs(
        tmp_path / "test", [*invented_pairs(6, seed=9), ("", ""), ("The \u201cdog\u201d", "x")]
    )
    return tmp_path


def old_folder(corpus, **values):
    """Prepare the training text."""
    values = {"testpref": corpus / "test", **values}
    prepare(make_options(corpus / "old", trainpref=corpus / "train", **values))
    return corpus / "old"


def like(corpus, name="new", **values):
    """Options that prepare the test text like the old folder."""
    given = {"destdir": corpus / name, "testpref": corpus / "test", "like": corpus / "old"}
    return options_of({k: str(v) for k, v in given.items()} | {"workers": 1} | values)


PARTS = "The \U0001f469 and \U0001f52c see \u0645\u06cc \u062e\u0648 or \u0937 \u0915"
JOINED = "\U0001f469\u200d\U0001f52c", "\u0937\u200d\u0915"  # emoji, Hindi
SIGNED = f"The {JOINED[0]} see \u0645\u06cc\u200c\u062e\u0648 or {JOINED[1]}"  # and Persian
GIVEN = {"subword_nmt": "bpe_codes", "sentencepiece": "sentencepiece_model"}


def cut(folder):
    """How the folder cuts SIGNED as raw text, and as a test set."""
    manifest = read_manifest(folder)
    found = SourceEncoder.from_folder(folder, manifest).encode([SIGNED])[0].tokens
    dictionary = load_dictionary(folder / "dict.en.txt")
    assert stream_rows(folder, "test", "en") == [token_ids(dictionary, found)]
    return found, [side.get("sequences") for side in manifest.segmentation.values()]


@pytest.mark.parametrize("way", [{"bpe_size": 20}, *WAYS[1:]])
def test_sequences_stay_whole_where_a_folder_learnt_them(corpus, way) -> None:
    way = {**way, "features": ""}
    write_pairs(corpus / "test", [(SIGNED, SIGNED)])
    for line, recorded in ((PARTS, None), (SIGNED, True)):
        write_pairs(corpus / "train", [*invented_pairs(60), *[(line, line)] * 9])
        found, record = cut(old_folder(corpus, overwrite=True, **way))
        assert record == [recorded] * 2
        prepare(like(corpus, overwrite=True))
        assert cut(corpus / "new") == (found, record)
        if recorded:
            assert all(any(one in token for token in found) for one in JOINED)
    if option := GIVEN.get(way.get("subwords", "subword_nmt")):  # known elsewhere: as libraries cut
        side = read_manifest(corpus / "old").segmentation["source"]
        given = shutil.copy(corpus / "old" / side["model"], corpus / "given")
        elsewhere = {"trainpref": corpus / "train", "testpref": corpus / "test", option: given}
        prepare(make_options(corpus / "plain", **way, **elsewhere))
        read = line_reader(side["tokenizer"], "none", "en")(SIGNED)
        plain = load_segmenter(side["subwords"], given).segment(read)[0]
        assert cut(corpus / "plain") == (plain, [None] * 2)
        assert not any(one in token for token in plain for one in JOINED)


@pytest.mark.parametrize("way", WAYS)
def test_a_test_set_like_a_folder_has_the_bytes_of_its_own(corpus, way) -> None:
    old = old_folder(corpus, **way)
    manifest = prepare(like(corpus))
    before, after = contents(old), contents(corpus / "new")
    counted = {FILE_NAME, *(f"dict.en.{name}.txt" for name in ("pos", "case", "subword"))}
    same = after.keys() - counted
    assert {name for name in same if name.startswith("test.")}
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    first = read_manifest(old)
    assert (manifest.segmentation, manifest.heads) == (first.segmentation, first.heads)
    assert manifest.features == first.features
    assert not any(name.startswith("train") for name in after)


def test_trees_are_taken(corpus) -> None:
    old = old_folder(corpus, features="")
    body = json.loads((old / FILE_NAME).read_text(encoding="utf-8"))
    (old / FILE_NAME).write_text(json.dumps(body | {"heads": True}), encoding="utf-8")
    assert like(corpus).parse


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tokenizer": "none"}, r"--tokenizer none contradicts --like .*old.* 'moses'"),
        ({"features": "case"}, r"--features case contradicts --like .*'pos,case,subword'"),
        ({"source_lang": "fr"}, r"--source-lang fr contradicts --like"),
        ({"parse": True}, r"--parse True contradicts --like"),
        ({"spacy_model": "xx_other"}, r"--spacy-model xx_other contradicts --like"),
    ],
)
def test_contradictions_are_refused(corpus, given, message) -> None:
    old_folder(corpus)
    with pytest.raises(InputError, match=message):
        like(corpus, **given)


def test_options_that_agree_are_taken(corpus) -> None:
    old = old_folder(corpus)
    copy = shutil.copy(old / "codes.bpe", corpus)
    given = {"tokenizer": "moses", "features": "case,subword,pos", "spacy_model": "bundled"}
    assert like(corpus, **given, bpe_codes=str(copy)).tokenizer == "moses"
    (corpus / "codes.bpe").write_text("#version: 0.2\na b\n", encoding="utf-8")
    with pytest.raises(InputError, match="--bpe-codes .* contradicts --like"):
        like(corpus, bpe_codes=str(copy))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"segmentation": {"source": {"subwords": "none"}}}, "'none' subwords have no model like"),
        ({"segmentation": {"source": {"subwords": ["x"]}}}, "'source' says .* for 'subwords'"),
        ({"splits": None}, "names no split"),
        ({"segmentation": None}, "segmentation lacks 'source'"),
        ({"options": {"spacy_model": ["x"]}}, "give --spacy-model"),
    ],
)
def test_manifests_of_no_known_form_are_refused(corpus, part, message) -> None:
    old = old_folder(corpus)
    body = json.loads((old / FILE_NAME).read_text(encoding="utf-8"))
    for name, values in part.items():
        if values is None:
            body |= {name: {}}
        for key, value in (values or {}).items():
            inner = isinstance(value, dict)
            body[name][key] = body[name][key] | value if inner else value
    (old / FILE_NAME).write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        like(corpus)


def test_languages_come_from_the_command_line_or_a_folder(corpus) -> None:
    with pytest.raises(InputError, match="--source-lang and --target-lang must be given, unless"):
        options_of({"destdir": "x", "testpref": "y", "like": None})
    with pytest.raises(FileNotFoundError, match=r"manifest\.json is missing"):
        options_of({"destdir": "x", "testpref": "y", "like": str(corpus)})


def test_a_pipeline_of_somebodys_place_must_be_named(corpus) -> None:
    old = old_folder(corpus)
    body = json.loads((old / FILE_NAME).read_text(encoding="utf-8"))
    for model in ("/somewhere/pipeline", "../pipeline", str(corpus)):
        body["options"]["spacy_model"] = model
        (old / FILE_NAME).write_text(json.dumps(body), encoding="utf-8")
        with pytest.raises(InputError, match="give --spacy-model"):
            like(corpus)
        assert like(corpus, spacy_model=model).spacy_model == model


def given_of(old) -> dict[str, str]:
    """The models and dictionaries of a folder, one by one, without --like."""
    return {k: v for k, v in settings_of(old).items() if k in ("bpe_codes", "srcdict", "tgtdict")}


def test_models_of_a_folder_cut_otherwise_are_refused(corpus) -> None:
    old = old_folder(corpus)
    for values, message in (
        ({"tokenizer": "pretokenized"}, "--tokenizer 'moses', not 'pretokenized'"),
        ({"normalizer": "moses"}, "--normalizer 'none', not 'moses'"),
    ):
        options = make_options(corpus / "x", testpref=corpus / "test", **given_of(old), **values)
        with pytest.raises(InputError, match=f"codes.bpe is of a folder prepared with {message}"):
            prepare(options)
        assert not (corpus / "x").exists()
        link = corpus / "link"
        link.symlink_to(old / "dict.en.txt")
        options = make_options(corpus / "x", trainpref=corpus / "train", srcdict=link, **values)
        with pytest.raises(InputError, match=rf"--srcdict .*link.*{message}.*copy it elsewhere"):
            prepare(options)
        link.unlink()
        elsewhere = {k: shutil.copy(v, corpus) for k, v in given_of(old).items()}
        prepare(make_options(corpus / "y", testpref=corpus / "test", **elsewhere, **values))
        shutil.rmtree(corpus / "y")


def test_codes_without_their_vocabulary_are_refused(corpus) -> None:
    old = old_folder(corpus, bpe_vocabulary_threshold=4)
    with pytest.raises(InputError, match="a vocabulary for its codes 'vocab.en', not 'none'"):
        prepare(make_options(corpus / "x", testpref=corpus / "test", **given_of(old)))


def test_another_tagger_is_refused_where_nothing_is_trained(corpus) -> None:
    old = old_folder(corpus)
    body = json.loads((old / FILE_NAME).read_text(encoding="utf-8"))
    body["annotator"]["hash"] = "0123"
    (old / FILE_NAME).write_text(json.dumps(body), encoding="utf-8")
    for options in (
        make_options(corpus / "x", testpref=corpus / "test", **given_of(old)),
        like(corpus, "x"),
    ):
        with pytest.raises(InputError, match="prepared with the annotator '.* 0123', not"):
            prepare(options)
    new = make_options(corpus / "z", trainpref=corpus / "train", **given_of(old))
    assert prepare(new).splits  # another system may have another tagger


def test_a_file_beside_any_other_manifest_is_taken(corpus) -> None:
    old = old_folder(corpus)
    for content in ('{"format": "other"}', "no JSON", "[]"):
        (old / FILE_NAME).write_text(content, encoding="utf-8")
        options = make_options(corpus / "x", testpref=corpus / "test", **given_of_files(old))
        assert prepare(options).splits
        shutil.rmtree(corpus / "x")


def given_of_files(old) -> dict[str, str]:
    """The same where there is no manifest to tell."""
    return {
        "bpe_codes": str(old / "codes.bpe"),
        "srcdict": str(old / "dict.en.txt"),
        "tgtdict": str(old / "dict.de.txt"),
    }
