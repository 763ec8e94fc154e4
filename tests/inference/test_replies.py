"""What is written of a reply to a question."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fairseq_plugins.data.passages import AskedPassage
from fairseq_plugins.inference.question_answering import Reply
from fairseq_plugins.targets.answers import Answered, Candidate

CONTEXT = "Mara built the mill."
MILL = Candidate("mill", 15, 19, 3.0, 1.0, 2.0)
NOTHING = np.zeros((0, 2), int)


def record(*candidates: Candidate, threshold: float = 0.0) -> dict:
    passage = AskedPassage("q1", "What?", CONTEXT, NOTHING, NOTHING)
    return Reply(passage, Answered(candidates, 2.0, 1.0), threshold).record()


def test_an_answer_stands_with_its_place_and_odds() -> None:
    found = record(MILL)
    assert (found["id"], found["answer"], found["null_odds"]) == ("q1", "mill", -1.0)
    assert CONTEXT[found["begin"] : found["end"]] == "mill"


@pytest.mark.parametrize(("candidates", "odds"), [((MILL,), -1.0), ((), None)])
def test_silence_has_no_place_and_odds_where_there_is_a_span(candidates, odds) -> None:
    found = record(*candidates, threshold=-2.0)
    assert (found["answer"], found["begin"], found["end"]) == ("", None, None)
    assert found["null_odds"] == odds
    json.dumps(found, allow_nan=False)
