"""Validation by BLEU: its limit of length, and what it says of itself."""

from __future__ import annotations

import json
import logging

import pytest

from fairseq_plugins.tasks._validation_bleu import LIMIT, PAUSE, Progress, limited


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
    with pytest.raises(ValueError, match="expected a JSON object"):
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
