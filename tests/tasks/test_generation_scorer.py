"""The last line of ``fairseq-generate`` is sacreBLEU of plain text, in the target language."""

from __future__ import annotations

import sys

import pytest
import sacrebleu.tokenizers.tokenizer_ja_mecab as japanese
from fairseq.scoring import build_scorer
from language_forms import codes, sentences
from omegaconf import OmegaConf
from sacrebleu.metrics import BLEU

from fairseq_plugins.tasks._generation import score_plain_text


@pytest.fixture
def scorer_of(monkeypatch):
    """Return the scorer that a command of some words makes for a language."""

    def make(lang, *words, **more):
        monkeypatch.setattr(sys, "argv", ["fairseq-generate", *words])
        whole = OmegaConf.create(
            {"scoring": {"_name": "wer"}, "task": {}, "optimizer": None, **more}
        )
        OmegaConf.set_struct(whole, True)
        score_plain_text(whole.task, lang)
        return whole.scoring

    return make


def test_the_line_is_what_sacrebleu_says_of_the_text(scorer_of):
    for number, (code, language) in enumerate(codes(4, 150)):
        if language in ("ja", "ko"):  # these need MeCab
            continue
        said, gold = sentences(2 * number, 3), sentences(2 * number + 1, 3)
        gold[2] = said[2]
        scorer = build_scorer(scorer_of(code), None)
        for pair in zip(gold, said):
            scorer.add_string(*pair)
        wanted = BLEU(trg_lang=language).corpus_score(said, [gold])
        assert scorer.result_string() == wanted.format()


@pytest.mark.parametrize("words", [["--scoring", "wer"], ["--scoring=wer"]])
def test_a_scorer_that_is_named_stays(scorer_of, words):
    assert scorer_of("zh", *words)._name == "wer"


def test_trainings_record_what_they_were_given(scorer_of):
    assert scorer_of("zh", optimizer={"_name": "adam"}, checkpoint={})._name == "wer"


def test_nothing_stops_for_a_tokeniser_that_is_missing(scorer_of, monkeypatch, caplog):
    monkeypatch.setattr(japanese, "MeCab", None)
    assert scorer_of("ja")._name == "wer"
    assert "will be BLEU of subwords: BLEU in language 'ja' needs MeCab" in caplog.text


def test_python_that_sets_up_the_task_alone_has_no_scorer():
    score_plain_text(OmegaConf.create({"data": "x"}), "de")
