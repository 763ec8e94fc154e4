"""Models that match pairs are trained, stopped, resumed, asked and bundled as all others are."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
from cli.commands import state_of, train_on_two
from matching_models import (
    ARCHS,
    THINGS,
    aligned_pairs,
    arguments,
    lacking_pairs,
    prepare_pairs,
    train,
)
from sklearn.linear_model import LogisticRegression
from test_layering import ABSENT

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.export import export_checkpoint as export
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.nn.quantized import QuantizedLinear

# Which toy, and how many epochs. CAFE aligns words before it reads their order: it is asked which
# words are aligned at all, where it learns with every seed.
ENOUGH = {
    "esim_tiny": (aligned_pairs, 4),
    "bimpm_tiny": (aligned_pairs, 2),
    "cafe_tiny": (lacking_pairs, 3),
}
LEARNT = 0.83  # at chance 0.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {"train": aligned_pairs(400, 1), "valid": aligned_pairs(40, 2)}
    return prepare_pairs(tmp_path_factory.mktemp("pairs"), splits)


@pytest.fixture(scope="module", params=ARCHS)
def run(request, folder, tmp_path_factory):
    """A short run of every architecture."""
    found = tmp_path_factory.mktemp(request.param) / request.param
    return train(folder, found, request.param, "--max-update", "12", "--dropout", "0.2")


def state(path) -> dict[str, torch.Tensor]:
    return torch.load(path / "checkpoint_last.pt", weights_only=False)["model"]


def texts(count: int = 40) -> list[tuple[str, str]]:
    return [row[:2] for row in aligned_pairs(count, 2)]


def test_words_alone_say_nothing_of_the_toy() -> None:
    """Whatever knows how often each word stands in either sentence is at chance."""
    bags: defaultdict[tuple, Counter] = defaultdict(Counter)
    for first, second, label in aligned_pairs(4000, 1):
        bag = tuple(sorted(first.split()))
        assert tuple(sorted(second.split())) == bag
        bags[bag][label] += 1
    valid = aligned_pairs(1000, 2)
    right = sum(
        bags[tuple(sorted(first.split()))].most_common(1)[0][0] == label
        for first, _, label in valid
    )
    assert 0.45 < right / len(valid) < 0.55


def test_no_sum_over_words_says_which_the_second_sentence_lacks() -> None:
    def counted(count: int, seed: int) -> tuple[np.ndarray, list[str]]:
        rows = lacking_pairs(count, seed)
        sides = [
            [[side.split().count(thing) for thing in THINGS] for side in row[:2]] for row in rows
        ]
        return np.array(sides).reshape(count, -1), [row[2] for row in rows]

    model = LogisticRegression(max_iter=1000).fit(*counted(4000, 1))
    assert 0.45 < model.score(*counted(1000, 2)) < 0.55


@pytest.mark.slow
@pytest.mark.parametrize("arch", ENOUGH)
def test_a_matcher_learns_what_needs_alignment(tmp_path, arch) -> None:
    toy, epochs = ENOUGH[arch]
    splits = {"train": toy(4000, 1), "valid": toy(500, 2)}
    data = prepare_pairs(tmp_path, splits)
    run = train(data, tmp_path / "run", arch, "--max-epoch", str(epochs))
    found = load(run, cpu=True).predict([row[:2] for row in splits["valid"]])
    right = [one.answer == row[2] for one, row in zip(found, splits["valid"])]
    assert sum(right) / len(right) >= LEARNT


@pytest.mark.slow
def test_a_siamese_transformer_learns_which_words_both_sentences_have(tmp_path) -> None:
    splits = {"train": lacking_pairs(2000, 1), "valid": lacking_pairs(300, 2)}
    data = prepare_pairs(tmp_path, splits)
    how = ("--max-epoch", "8", "--pair-encoding", "siamese", "--lr", "0.001")
    run = train(data, tmp_path / "run", "pair_transformer_tiny", *how)
    found = load(run, cpu=True).predict([row[:2] for row in splits["valid"]])
    right = [one.answer == row[2] for one, row in zip(found, splits["valid"])]
    assert sum(right) / len(right) >= LEARNT


@pytest.mark.slow
def test_raw_text_is_answered_as_the_prepared_split(run, folder) -> None:
    model = load(run, cpu=True)
    prepared = list(model.predict_split("valid"))
    found = model.predict(texts())
    assert [one.probabilities for one in found] == [one.probabilities for one in prepared]
    assert len({one.probabilities["same"] for one in found}) > 10
    unknown, other = model.predict([("zebra hat", "red hat"), ("gnu hat", "red hat")])
    assert unknown.probabilities == pytest.approx(other.probabilities)


@pytest.mark.slow
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(run, folder, tmp_path) -> None:
    how = (run.name, "--dropout", "0.2")
    train(folder, tmp_path / "run", *how, "--max-update", "5")
    before = state(tmp_path / "run")
    train(folder, tmp_path / "run", *how, "--max-update", "12")
    found, wanted = state(tmp_path / "run"), state(run)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    assert not all(torch.equal(before[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("int8", [False, True])
def test_a_bundle_answers_as_its_checkpoint(run, tmp_path, int8) -> None:
    export(run, tmp_path / "bundle", int8=int8)
    wanted = load(run, cpu=True, int8=int8)
    found = load(tmp_path / "bundle", cpu=True)
    assert found.predict(texts()) == wanted.predict(texts())
    kinds = {type(part) for part in found.models[0].modules()}
    assert (QuantizedLinear in kinds) == int8
    assert torch.nn.Linear not in kinds
    plain = load(run, cpu=True).predict(texts())
    shares = [[p.probabilities["same"] for p in part] for part in (found.predict(texts()), plain)]
    assert (shares[0] == shares[1]) == (not int8)
    assert torch.tensor(shares[0]).sub(torch.tensor(shares[1])).abs().max() < 0.05


ALONE = """
import json, sys, torch
{absent}
from fairseq_plugins import load
made = load({bundle!r})
print(json.dumps([p.probabilities for p in made.predict({texts!r})]))
assert "fairseq" not in sys.modules
assert "torch._dynamo" not in sys.modules  # which takes seconds
"""


@pytest.mark.slow
def test_a_bundle_needs_no_fairseq(run, tmp_path) -> None:
    export(run, tmp_path / "bundle")
    absent = ABSENT.format(absent=("fairseq", "omegaconf", "pandas", "hydra"))
    given = [list(pair) for pair in texts(4)]
    code = ALONE.format(absent=absent, bundle=str(tmp_path / "bundle"), texts=given)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    wanted = [one.probabilities for one in load(run, cpu=True).predict(given)]
    assert json.loads(done.stdout) == wanted


def test_formats_of_encoders_are_refused(run, tmp_path) -> None:
    for form in ("huggingface", "huggingface-encoder", "onnx"):
        with pytest.raises(InputError, match="is no encoder of a known family; .* --format bundle"):
            export(run, tmp_path / form, form=form)


def test_another_vocabulary_is_refused(run, tmp_path) -> None:
    rows = aligned_pairs(30, 1)
    other = prepare_pairs(tmp_path, {"train": rows, "valid": rows}, lowercase=True, min_count=9)
    with pytest.raises(InputError, match="another vocabulary"):
        load(run, other, cpu=True)


@pytest.mark.slow
def test_two_processes_are_one(run, folder, tmp_path) -> None:
    how = "--lr 0.01 --max-epoch 1 --batch-size 8".split()
    train(folder, tmp_path / "one", run.name, *how, "--update-freq", "2")
    log = train_on_two(arguments(folder, tmp_path / "two", run.name, *how))
    assert "as rank 1" in log
    first, second = (state_of(tmp_path / name / "checkpoint_last.pt") for name in ("one", "two"))
    torch.testing.assert_close(second["model"], first["model"], rtol=1e-3, atol=1e-4)
