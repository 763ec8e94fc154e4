"""The speed benchmark: its table of cases, what it measures, and that every case runs."""

from __future__ import annotations

import argparse

import numpy as np
import pytest
from prepared_text import examples, prepare

from benchmarks.gpu.figures import read
from benchmarks.gpu.speed import PRESET
from benchmarks.speed import __main__ as command
from benchmarks.speed import batches, text, turns
from benchmarks.speed.cases import CASES

SETTING = {"compile": False, "precision": "float32", "device": "cpu", "max_tokens": 0}
SETTING |= {
    "size": "tiny",
    "steps": 3,
    "batch_size": 4,
    "dropout": 0.1,
    "asks": False,
    "family": "bert",
}


def setting(batches, **own):
    return argparse.Namespace(**{**SETTING, "batches": batches, **own})


def test_cases_have_their_bars_and_take_their_usual_batches():
    places = [("base", "cpu"), ("base", "cuda"), ("minilm", "cpu")]
    settings = [setting("8x128", size=size, device=device) for size, device in places]
    assert [CASES["sla"].bar(one) for one in settings] == ["<= 1.10", "<= 1.15", ""]
    assert [CASES["dabert"].bar(one) for one in settings] == ["<= 1.15", "<= 1.25", ""]
    assert [CASES["plain"].bar(setting(name)) for name in ("8x128", ".")] == ["<= 1.00", "<= 0.70"]
    assert all(case.kind.takes(name) for case in CASES.values() for name in case.kind.batches)
    assert all(command.plan(command.parse_args(words.split())) for words in PRESET)


@pytest.mark.parametrize(("name", "ratio"), [("sla", 2.0), ("esim", 0.5)])
def test_system_with_twice_the_seconds_misses_its_bar(name, ratio):
    case, given = CASES[name], setting("8x128", size="base")
    seconds = {case.system: [0.4, 0.2, 0.6] * 3, case.rival: [0.2, 0.1, 0.3] * 3}
    found = command.speed_figure(case, given, seconds, 8.0)
    assert (found.figure, found.holds) == (pytest.approx(ratio), False)
    assert "20 over 40 tokens a second" in found.note
    fewer = {name: values[:6] for name, values in seconds.items()}
    assert command.speed_figure(case, given, fewer, 8.0).holds is None


def test_systems_take_turns_and_do_the_same_work(monkeypatch):
    done = []
    monkeypatch.setattr(turns, "timer", lambda: sum(cost for _, cost in done))

    def system(name, cost, tokens=5):
        return turns.System(name, lambda batch: done.append((name, cost * batch)) or tokens)

    found = turns.measure([system("a", 1), system("b", 3)], [1, 3], 2)
    assert found == ({"a": [2, 2], "b": [6, 6]}, 5)
    assert "".join(name for name, _ in done) == "abbabaababba"
    with pytest.raises(RuntimeError, match="from the same batches"):
        turns.measure([system("a", 1), system("b", 1, 6)], [1], 1)


def test_masks_are_those_of_their_numpy_twin():
    (batch,) = batches.batches(setting("3x40"))
    inputs = batch["net_input"]
    found = text.RULE(inputs["word_of"], inputs["segments"], inputs["heads"])
    assert not found.all()
    assert np.array_equal(found, text.twin(batch))


@pytest.mark.parametrize("family", ["bert", "deberta-v2", "modernbert", "mpnet"])
def test_a_plain_encoder_is_compared_with_its_equal_only(monkeypatch, family):
    monkeypatch.setattr(batches, "VOCABULARY", 60)
    given = setting("2x5", family=family)
    (batch,) = batches.batches(given)
    made = text.models([text.HUGGING_FACE, text.PLAIN], given, batch)
    text.check_equal(made, batch)
    made[text.PLAIN].model.head.out.bias.data += 1.0
    with pytest.raises(RuntimeError, match="differ by 1"):
        text.check_equal(made, batch)


def test_batches_are_spread_over_a_folder(tmp_path):
    folder = str(prepare(tmp_path, "classes", {"train": examples("classes", 33)}))
    found = batches.batches(setting(folder))
    starts = [sorted(batch["id"].tolist()) for batch in found]
    assert starts == [list(range(at, at + 4)) for at in (0, 8, 20)]
    with pytest.raises(ValueError, match="--steps is 9"):
        batches.batches(setting(folder, steps=9))
    with pytest.raises(SystemExit, match="no chosen case"):
        command.plan(command.parse_args(["coattention", "--batches", folder]))


@pytest.mark.long
@pytest.mark.parametrize("more", ["", "--memory --batches 2x64"])
def test_every_case_runs_at_tiny_size(tmp_path, more):
    output = tmp_path / "figures.jsonl"
    chosen = ["dabert"] if more else [name for name in CASES if name != "compiled"]
    command.main([*chosen, *f"--tiny --device cpu --output {output} {more}".split()])
    found = {line["what"].partition(",")[0]: line["figure"] for line in read(output)}
    assert [*found] == [f"{CASES[name].system} over {CASES[name].rival}" for name in chosen]
    assert all(0 < figure < 1000 for figure in found.values())
