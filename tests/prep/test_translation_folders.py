"""What a prepared folder holds: splits, dictionaries, models, policies, annotations given."""

from __future__ import annotations

from pathlib import Path

import pytest
from raw_corpora import (
    contents,
    invented_pairs,
    make_options,
    stream_rows,
    tag,
    write_lines,
    write_pairs,
)

from fairseq_plugins.data.dictionaries import load_dictionary
from fairseq_plugins.prep import translation
from fairseq_plugins.prep.manifest import Manifest
from fairseq_plugins.prep.translation import prepare
from fairseq_plugins.syntax.labels import FEATURES, SPECIAL_ID

WORDS = {"tokenizer": "pretokenized", "subwords": "none"}


@pytest.fixture
def corpus(tmp_path, rule_tagger) -> Path:
    """Training, two valid and one test file."""
    write_pairs(tmp_path / "train", invented_pairs(40))
    write_pairs(tmp_path / "valid", invented_pairs(8, seed=1))
    write_pairs(tmp_path / "other", invented_pairs(5, seed=2))
    write_pairs(tmp_path / "test", [*invented_pairs(3, seed=3), ("", ""), ("x", ""), ("", "y")])
    return tmp_path


def symbols(folder: Path, lang: str, split: str) -> list[str]:
    """Return a split's rows as text, unknown words as ``<unk>``, without ``</s>``."""
    dictionary = load_dictionary(folder / f"dict.{lang}.txt")
    rows = stream_rows(folder, split, lang)
    return [" ".join(dictionary[i] for i in row[:-1]) for row in rows]


def labels(folder: Path, feature: str, split: str) -> list[list[str]]:
    """Return a split's feature labels, without that of ``</s>``."""
    rows = stream_rows(folder, split, f"en.{feature}")
    assert all(row[-1] == SPECIAL_ID for row in rows)
    return [[FEATURES[feature].symbols[i] for i in row[:-1]] for row in rows]


def row(number: str, form: str, upos: str = "NOUN") -> str:
    """Return a CoNLL-U row."""
    return "\t".join([number, form, "_", upos, "_", "_", "0", "root", "_", "_"])


def write_conllu(path: Path, sentences: list[list[tuple[str, str]]]) -> None:
    """Write sentences of (form, tag)."""
    blocks = []
    for k, sentence in enumerate(sentences):
        rows = [row(str(i), form, upos) for i, (form, upos) in enumerate(sentence, 1)]
        blocks.append("\n".join([f"# sent_id = {k}", *rows]) + "\n")
    path.write_text("\n".join(blocks), encoding="utf-8")


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
        assert list(counts["tokens"]) == ["en", "de", "en.pos", "en.case", "en.subword"]
        for stream, ids in counts["tokens"].items():
            assert sum(map(len, stream_rows(corpus / "out", split, stream))) == ids
    assert Manifest.load(corpus / "out") == manifest


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
    assert stream_rows(corpus / "out", "test", "en.pos")[3] == [SPECIAL_ID]


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
    lines = (corpus / "out" / "dict.en.case.txt").read_text().splitlines()
    counts = {name: int(n) for name, n in (line.split(" ") for line in lines)}
    ids = [i for row in stream_rows(corpus / "out", "train", "en.case") for i in row]
    symbols_ = FEATURES["case"].symbols
    assert counts == {symbol: ids.count(i) for i, symbol in enumerate(symbols_)}
    assert counts["<pad>"] == 0
    assert counts["<special>"] == 40


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
    assert list(manifest.splits["train"]["tokens"]) == ["en", "en.pos", "en.case", "en.subword"]
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


class TestConllu:
    """Annotations given beside the text."""

    @pytest.fixture
    def text(self, tmp_path) -> Path:
        write_pairs(
            tmp_path / "t", [("Don't go .", "Geh nicht ."), ("", ""), ("in New York", "da")]
        )
        write_conllu(
            tmp_path / "t.en.conllu",
            [
                [("Do", "AUX"), ("n't", "PART"), ("go", "VERB"), (".", "PUNCT")],
                [],
                [("in", "ADP"), ("New York", "PROPN")],
            ],
        )
        return tmp_path

    def options(self, text: Path, **values):
        return make_options(text / "out", testpref=text / "t", conllu=True, **values)

    def given(self, text: Path) -> dict[str, Path]:
        """Models for a folder without training text."""
        prepare(make_options(text / "m", trainpref=text / "t", features="", **WORDS))
        return {"srcdict": text / "m" / "dict.en.txt", "tgtdict": text / "m" / "dict.de.txt"}

    def test_tags_are_taken_by_character_offsets(self, text) -> None:
        manifest = prepare(self.options(text, **WORDS, **self.given(text)))
        assert labels(text / "out", "pos", "test") == [
            ["AUX", "VERB", "PUNCT"],
            [],
            ["ADP", "PROPN", "PROPN"],
        ]
        assert manifest.alignment["test"] == {"repaired_lines": 2, "repaired_words": 3}
        assert manifest.annotator_id == "conllu -"

    def test_words_of_raw_text_are_those_of_the_annotation(self, text, model_files) -> None:
        options = self.options(
            text, tokenizer="none", bpe_codes=model_files["codes"], **self.given(text)
        )
        prepare(options)
        rows = labels(text / "out", "pos", "test")
        assert rows[0][0] == "AUX"
        assert rows[0][-1] == "PUNCT"
        assert len(rows[0]) == len(labels(text / "out", "case", "test")[0])

    def test_other_characters_are_matched_word_by_word(self, text) -> None:
        sentences = [[("Dont", "X"), ("go", "VERB"), (".", "PUNCT")], [], [("nothing", "NOUN")]]
        write_conllu(text / "t.en.conllu", sentences)
        manifest = prepare(self.options(text, **WORDS, **self.given(text)))
        assert labels(text / "out", "pos", "test")[0] == ["X", "VERB", "PUNCT"]
        assert labels(text / "out", "pos", "test")[2] == ["X", "X", "X"]
        assert manifest.alignment["test"] == {"failed_lines": 2, "repaired_words": 6}

    def test_numbers_of_sentences_are_compared(self, text) -> None:
        write_conllu(text / "t.en.conllu", [[("Do", "AUX")], []])
        with pytest.raises(ValueError, match=r"t.en has 3 lines but .*t.en.conllu has 2 sentences"):
            prepare(self.options(text, **WORDS, **self.given(text)))

    def test_bad_row_is_named(self, text) -> None:
        path = text / "t.en.conllu"
        path.write_text(path.read_text().replace("VERB", "VRB"))
        with pytest.raises(
            ValueError, match=r"t.en.conllu:4: 'VRB' is no universal part of speech"
        ):
            prepare(self.options(text, **WORDS, **self.given(text)))


class TestPolicy:
    """``--on-misalignment``: the second of three lines has a word that is two to the annotation."""

    @pytest.fixture
    def text(self, tmp_path) -> Path:
        write_pairs(tmp_path / "t", [("a b", "c d"), ("don't go", "geh nicht"), ("e f", "g h")])
        two = [("do", "AUX"), ("n't", "PART"), ("go", "VERB")]
        same = [[("a", "DET"), ("b", "NOUN")], two, [("e", "DET"), ("f", "NOUN")]]
        write_conllu(tmp_path / "t.en.conllu", same)
        return tmp_path

    def options(self, text: Path, policy: str, split: str = "trainpref", **values):
        models = {**WORDS, "srcdict": None, "tgtdict": None} | values
        return make_options(
            text / "out", conllu=True, on_misalignment=policy, **{split: text / "t"}, **models
        )

    def test_repair_keeps_and_counts(self, text) -> None:
        manifest = prepare(self.options(text, "repair"))
        assert manifest.splits["train"]["lines"] == 3
        assert manifest.alignment["train"] == {"repaired_lines": 1, "repaired_words": 1}
        assert labels(text / "out", "pos", "train")[1] == ["AUX", "VERB"]

    def test_error_names_the_line(self, text) -> None:
        with pytest.raises(ValueError, match=r"t.en:2: 1 words do not match.*--on-misalignment"):
            prepare(self.options(text, "error"))

    def test_skip_drops_the_training_pair(self, text) -> None:
        manifest = prepare(self.options(text, "skip"))
        assert manifest.alignment["train"] == {"skipped_lines": 1}
        assert symbols(text / "out", "en", "train") == ["a b", "e f"]
        assert symbols(text / "out", "de", "train") == ["c d", "g h"]
        assert labels(text / "out", "pos", "train") == [["DET", "NOUN"]] * 2

    def test_skip_drops_nothing_of_a_test_set(self, text) -> None:
        prepare(make_options(text / "m", trainpref=text / "t", features="", **WORDS))
        dictionaries = {
            f"{side}dict": text / "m" / f"dict.{lang}.txt"
            for side, lang in (("src", "en"), ("tgt", "de"))
        }
        manifest = prepare(self.options(text, "skip", "testpref", **dictionaries))
        assert manifest.splits["test"]["lines"] == 3
        assert manifest.alignment["test"] == {"repaired_lines": 1, "repaired_words": 1}

    @pytest.mark.parametrize("policy", ["repair", "skip", "error"])
    def test_straddling_subwords_follow_the_policy(self, policy, text, tmp_path) -> None:
        # in untokenised text "don't" is do | n't, and the codes make "don" and "'t" of it
        codes = tmp_path / "codes"
        codes.write_text("#version: 0.2\nd o\ndo n\n' t</w>\n")
        options = self.options(
            text, policy, tokenizer="none", subwords="subword_nmt", bpe_codes=codes
        )
        if policy == "error":
            with pytest.raises(ValueError, match=r"t.en:2: 1 subwords do not match"):
                prepare(options)
            return
        manifest = prepare(options)
        if policy == "skip":
            assert manifest.alignment["train"] == {"skipped_lines": 1}
            return
        assert manifest.alignment["train"] == {"repaired_lines": 1, "repaired_subwords": 1}
        assert symbols(text / "out", "en", "train")[1] == "don@@ 't g@@ o"
        assert labels(text / "out", "pos", "train")[1] == ["AUX", "PART", "VERB", "VERB"]
        assert labels(text / "out", "subword", "train")[1] == ["O", "O", "B", "E"]

    def test_policies_drop_nothing_when_all_fits(self, text) -> None:
        for policy in ("error", "skip", "repair"):
            write_conllu(
                text / "t.en.conllu",
                [[("a", "DET"), ("b", "NOUN")], [("don't", "AUX"), ("go", "VERB")]]
                + [[("e", "DET"), ("f", "NOUN")]],
            )
            options = self.options(text, policy)
            options.destdir = str(text / policy)
            assert prepare(options).alignment["train"] == {}


def test_tools_without_a_version_are_left_out(monkeypatch) -> None:
    asked = []

    def version(name: str) -> str:
        asked.append(name)
        if name in ("fairseq-fixed", "spacy"):
            raise translation.importlib.metadata.PackageNotFoundError(name)
        return "7"

    monkeypatch.setattr(translation.importlib.metadata, "version", version)
    found = translation._versions()
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
    with pytest.raises(ValueError, match=r"train: every line was dropped: {'too_long': 40}"):
        prepare(make_options(corpus / "out", **options))
