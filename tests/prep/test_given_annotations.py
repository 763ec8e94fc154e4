"""Annotations given as CoNLL-U: taken by character offsets, and what happens where they differ."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from raw_corpora import labels, make_options, symbols, write_pairs

from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes.translation import prepare

WORDS = {"tokenizer": "pretokenized", "subwords": "none"}


def row(number: str, form: str, upos: str = "NOUN") -> str:
    return "\t".join([number, form, "_", upos, "_", "_", "0", "root", "_", "_"])


def write_conllu(path: Path, sentences: list[list[tuple[str, str]]]) -> None:
    blocks = []
    for k, sentence in enumerate(sentences):
        rows = [row(str(i), form, upos) for i, (form, upos) in enumerate(sentence, 1)]
        blocks.append("\n".join([f"# sent_id = {k}", *rows]) + "\n")
    path.write_text("\n".join(blocks), encoding="utf-8")


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
        given = {
            name: shutil.copy(path, text) for name, path in self.given(text).items()
        }  # a dictionary of words, which those of raw text happen to be
        options = self.options(text, tokenizer="none", bpe_codes=model_files["codes"], **given)
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
        with pytest.raises(InputError, match=r"t.en has 3 lines but .*t.en.conllu has 2 sentences"):
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
        with pytest.raises(InputError, match=r"t.en:2: 1 words do not match.*--on-misalignment"):
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
            with pytest.raises(InputError, match=r"t.en:2: 1 subwords do not match"):
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
