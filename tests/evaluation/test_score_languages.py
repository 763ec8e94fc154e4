"""The target language decides how BLEU is tokenised, however its code is written."""

from __future__ import annotations

import runpy
from importlib.metadata import metadata
from pathlib import Path
from random import Random

import pytest
import sacrebleu.tokenizers.tokenizer_ja_mecab as japanese
import sacrebleu.tokenizers.tokenizer_ko_mecab as korean
from language_forms import codes, sentences
from sacrebleu.metrics import BLEU

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.contrast_kinds import scorer
from fairseq_plugins.evaluation.example_answers import translation_counts
from fairseq_plugins.evaluation.score_report import format_report, score_files
from fairseq_plugins.evaluation.sentence_counts import metric_of
from fairseq_plugins.evaluation.translation import Corpus, TextForm, prepare, score, tokenize
from fairseq_plugins.text.raw_text import detokenize

EXPECTED = {"zh": BLEU(tokenize="zh")}
OTHER = BLEU()
CODES = [pair for pair in codes(5, 150) if pair[1] not in ("ja", "ko")]  # these need MeCab


def test_every_figure_of_a_language_is_the_same_however_its_code_is_written():
    draw = Random(7)
    assert len(CODES) > 100
    for number, (code, language) in enumerate(CODES):
        said, gold = sentences(2 * number, 2), sentences(2 * number + 1, 2)
        gold[0] = said[0] = draw.choice((said[0], gold[0]))
        metric = EXPECTED.get(language, OTHER)
        wanted = metric.corpus_score(said, [gold]).score
        system, reference = Corpus("s", said, said), Corpus("r", gold, gold)
        found = score(system, reference, lang=code)
        assert found.figures["bleu"] == wanted, code
        assert f"tok:{'zh' if language == 'zh' else '13a'}" in found.signatures["bleu"]
        assert found.figures == score(system, reference, lang=language).figures
        if number == 1:  # Moses starts slowly
            assert tokenize(said, code) == tokenize(said, language)
        one, other = (translation_counts("x", said, [gold], "bleu", c) for c in (code, language))
        assert one.examples == other.examples
        sentence = BLEU(effective_order=True, trg_lang=language).sentence_score(said[1], [gold[1]])
        assert scorer("bleu", code)(said[1], gold[1]) == sentence.score


@pytest.mark.parametrize("code", ["ko", "kor_Hang", "ko_KR", "KO"])
def test_korean_words_keep_their_blanks(code):
    text = "나는 학교에 간다 ."
    kept = detokenize(text, "moses", code)
    assert kept.startswith("나는 학교에 간다")
    found = prepare("s", [text], TextForm(code, "yes"))
    assert found.text[0].startswith("나는 학교에 간다")


@pytest.mark.parametrize(
    ("code", "extra", "place"), [("ja_XX", "ja", japanese), ("kor", "ko", korean)]
)
def test_a_missing_extra_is_one_sentence_that_says_what_to_install(code, extra, place, monkeypatch):
    monkeypatch.setattr(place, "MeCab", None)
    wanted = rf"BLEU in language '{code}' needs MeCab .*: pip install 'sacrebleu\[{extra}\]'"
    with pytest.raises(InputError, match=wanted) as caught:
        metric_of("bleu", code)
    assert "\n" not in str(caught.value)
    assert metric_of("chrf", code).corpus_score(["a"], [["a"]]).score == 100


def test_the_extras_that_the_message_names_are_there_and_ours_bring_them(monkeypatch):
    found = {}
    monkeypatch.setattr("setuptools.setup", lambda **given: found.update(given))
    runpy.run_path(str(Path(__file__).parents[2] / "setup.py"))
    for name in ("ja", "ko"):
        assert name in (metadata("sacrebleu").get_all("Provides-Extra") or [])
        assert found["extras_require"][name] == [f"sacrebleu[{name}]"]


@pytest.mark.parametrize(("code", "is_said"), [("jp", True), ("", True), ("zh_CN", False)])
def test_an_unknown_code_is_said_and_a_known_one_is_not(code, is_said, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("中国\n", encoding="utf-8")
    text = format_report(score_files([path], [path], TextForm(code)))
    assert (f"language '{code}' is not known" in text) == is_said
