"""Validation by BLEU: its limit of length, and what it says of itself."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import pytest
import sacrebleu.tokenizers.tokenizer_ja_mecab as japanese
import torch
from fairseq.data import Dictionary
from language_forms import codes, sentences
from sacrebleu.metrics import BLEU

from fairseq_plugins.errors import InputError
from fairseq_plugins.tasks._validation_bleu import (
    LIMIT,
    PAUSE,
    Progress,
    bleu_of,
    limited,
    metric_for,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, LIMIT),
        ("{}", LIMIT),
        ('{"beam": 2}', {"beam": 2, **LIMIT}),
        ('{"max_len_b": 4}', {"max_len_b": 4}),
        ('{"max_len_a": 1}', {"max_len_a": 1}),
    ],
)
def test_searches_have_a_limit_of_length_unless_one_is_given(given, expected):
    assert json.loads(limited(given)) == expected
    assert limited(limited(given)) == limited(given)  # a resumed run reads its own record


@pytest.mark.parametrize("given", ["beam 4", "[4]", "4"])
def test_other_arguments_than_an_object_are_refused(given):
    with pytest.raises(InputError, match="expected a JSON object"):
        limited(given)


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(caplog):
    """A clock, with the log open."""
    caplog.set_level(logging.INFO)
    return Clock()


def test_the_first_validation_says_what_it_does_and_the_second_not(clock, caplog):
    progress = Progress(limited('{"beam": 4}'), has_bar=False, clock=clock)
    progress.begin(1014)
    (line,) = caplog.messages
    assert "translates 1014 sentences for BLEU: beam 4, at most 2 x source + 20 subwords" in line
    progress.begin(1014)
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(("given", "said"), [('{"max_len_b": 7}', "7"), ("{}", "2 x source + 20")])
def test_the_limit_that_holds_is_said(given, said, clock, caplog):
    Progress(limited(given), has_bar=False, clock=clock).begin(3)
    assert f"beam 5, at most {said} subwords" in caplog.text


def test_a_long_validation_says_rate_and_time_left_at_times(clock, caplog):
    progress = Progress(limited("{}"), has_bar=False, clock=clock)
    progress.begin(100)
    said = []
    for _ in range(10):
        clock.now += PAUSE / 4
        progress.step(10)
        said = caplog.messages[1:]
    assert said == [
        "validation BLEU: 40 of 100 sentences, 4.0/s, 15 s left",
        "validation BLEU: 80 of 100 sentences, 4.0/s, 5 s left",
    ]


def test_nothing_more_is_said_under_a_bar_or_outside_of_a_validation(clock, caplog):
    for progress in (Progress("{}", has_bar=True, clock=clock), Progress("{}", False, clock)):
        clock.now += 10 * PAUSE
        progress.step(10)  # no validation has begun: fairseq-validate
        assert not caplog.messages
    progress = Progress("{}", has_bar=True, clock=clock)
    progress.begin(100)
    clock.now += 10 * PAUSE
    progress.step(10)
    assert len(caplog.messages) == 1


def batch_of(said, gold):
    """A task that writes characters one by one, a batch with its references, and hypotheses."""
    words = Dictionary()
    rows = [
        torch.tensor([words.add_symbol(one) for one in text.replace(" ", "_")] + [words.eos()])
        for text in (*said, *gold)
    ]
    decode = SimpleNamespace(decode=lambda text: text.replace(" ", "").replace("_", " "))
    cfg = SimpleNamespace(eval_bleu_remove_bpe=None, eval_bleu_print_samples=False)
    task = SimpleNamespace(tgt_dict=words, tokenizer=decode, cfg=cfg)
    padded = torch.nn.utils.rnn.pad_sequence(
        rows[len(said) :], batch_first=True, padding_value=words.pad()
    )
    return task, {"target": padded}, [[{"tokens": row}] for row in rows[: len(said)]]


def test_the_target_language_decides_in_validation_as_in_score():
    """Counts of batches, which fairseq adds up, are those of sacreBLEU on the same text."""
    for number, (code, language) in enumerate(codes(9, 150)):
        if language in ("ja", "ko"):  # these need MeCab
            continue
        said, gold = sentences(2 * number, 3), sentences(2 * number + 1, 3)
        gold[1] = said[1]
        task, sample, found = batch_of(said, gold)
        found = bleu_of(task, metric_for(code, tokenized=False), sample, found)
        wanted = BLEU(tokenize="zh" if language == "zh" else "13a").corpus_score(said, [gold])
        assert (found.counts, found.totals) == (wanted.counts, wanted.totals)
        assert (found.sys_len, found.ref_len) == (wanted.sys_len, wanted.ref_len)


def test_unknown_words_match_nothing():
    task, sample, found = batch_of(["ab"], ["ab"])
    sample["target"][0, 0] = found[0][0]["tokens"][0] = task.tgt_dict.unk()
    assert bleu_of(task, metric_for("de", tokenized=False), sample, found).counts[0] == 0


def test_tokenised_bleu_and_unknown_languages(caplog):
    assert metric_for("zh", tokenized=True).tokenizer.signature() == "none"
    assert not caplog.messages
    assert metric_for("jp", tokenized=False).tokenizer.signature() == "13a"
    assert "language 'jp' is not known" in caplog.text


def test_a_missing_tokeniser_is_said_before_anything_is_trained(monkeypatch):
    monkeypatch.setattr(japanese, "MeCab", None)
    with pytest.raises(InputError, match="pip install"):
        metric_for("ja_JP", tokenized=False)
