"""Checkpoints of before load, answer as they did, and go on with their training."""

from __future__ import annotations

import pytest
from frozen.checkpoints import (
    ROUNDED,
    TRAININGS,
    far,
    output,
    place_checkpoint,
    resume,
)
from frozen.commands import run
from frozen.workshop import read_frozen

pytestmark = pytest.mark.slow

FROZEN = read_frozen("outputs")
QUESTIONS = [(name, question) for name, made in TRAININGS.items() for question in made.ask]
RESUMED = [name for name, made in TRAININGS.items() if made.resumed]


def test_every_output_is_on_record():
    found = [(name, key) for name, made in FROZEN.items() for key in made if key != "resume"]
    assert found == QUESTIONS
    assert [name for name, made in FROZEN.items() if "resume" in made] == RESUMED


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_checkpoint_answers_as_it_did(name, question, workshop):
    assert far(FROZEN[name][question], output(workshop, name, question)) == []


@pytest.mark.parametrize("name", RESUMED)
def test_checkpoint_goes_on_with_its_training(name, workshop):
    assert far(FROZEN[name]["resume"], resume(workshop, name), ROUNDED) == []


def test_run_folder_is_translated_and_scored(workshop):
    name, after = "translation-sum", ("--", "--beam", "3", "--max-len-b", "12")
    place_checkpoint(workshop, name, "whole/checkpoint_best.pt")
    done = run("translate", "whole", "--cpu", "--split", "test1", *after, cwd=workshop.place)
    names = {path.name for path in (workshop.place / "whole").iterdir()}
    assert names >= {"generate.test1.log", "score.test1.json", "evaluation.test1.json"}
    assert "BLEU" in done.out
