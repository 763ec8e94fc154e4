"""A training step waits for an accelerator once, for what is logged; plain models are one graph."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from fairseq.logging import metrics
from host_waits import HostWaits, without_autocast
from trees import on_an_accelerator

from benchmarks.gpu.cases import CASES, TINY, Case
from fairseq_plugins.nn import entity_spans
from fairseq_plugins.nn.heads import LabelHead
from fairseq_plugins.nn.matching import Pair
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.padded_model import PaddedModel

READ = {"character_hidden_size": 8, "character_embedding_size": 4}
ALL = {
    **CASES,
    "BiMPM, characters": Case("BiMPM, characters", "bimpm", READ, texts=2),
    "BERT-MRC as released": Case("BERT-MRC as released", "bert_mrc_released", target="entities"),
    "SemBERT, words": Case("SemBERT, words", "bert_sembert", target="word_labels"),
}
SOUGHT = ["BERT-MRC", "BERT-MRC as released"]
# which waited most, each in its way; the others in CI
WAITED = ["plain", "SLA, dropout separate", "coattention, literal, LSTM", "SemBERT, words"]
WAITED += ["BERT-MRC", "BiMPM, characters", "pair transformer, siamese"]
WAITED += ["translation, target factors"]
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ALL if name not in WAITED]


@pytest.mark.parametrize("name", [*WAITED, *OTHERS])
def test_training_step_waits_once_for_what_is_logged(name):
    trial = ALL[name].trial(TINY, dropout=0.1)
    criterion, logged = trial.criterion, trial.criterion(trial.model, trial.sample)[2]
    there = trial.to("meta")
    with without_autocast(), HostWaits() as waits:
        loss, size, output = criterion(there.model, there.sample)
        loss.backward()
    assert waits.found == []
    assert isinstance(size, int)
    assert output.keys() == logged.keys()
    with HostWaits("cpu") as waits, metrics.aggregate():
        criterion.reduce_metrics([logged, logged])
    assert len(waits.found) <= 1


def test_waits_are_noticed():
    with HostWaits() as waits, pytest.raises(NotImplementedError):
        entity_spans.pairs_of(*(torch.ones(3, 2, device="meta"), torch.ones(1, device="meta")))
    assert [found.split()[1] for found in waits.found] == ["nonzero"]


def with_known(trial, name, value):
    """Return a trial of which the host knows something else."""
    known = {**trial.sample["net_input"]["known"], name: value}
    inputs = {**trial.sample["net_input"], "known": known}
    return replace(trial, sample={**trial.sample, "net_input": inputs})


OF_ANOTHER = {
    "lengths": ("plain", lambda lengths: lengths[::-1]),
    "firsts": ("BiMPM, characters", lambda firsts: firsts[::-1]),
    "distinct": ("BiMPM, characters", lambda distinct: distinct[1:]),
    "runs": ("SemBERT, words", lambda runs: runs[::-1]),
    "run_sizes": ("SemBERT, words", lambda sizes: sizes + 9),
    "word_counts": ("BERT-MRC", lambda counts: counts + 1),
}


@pytest.mark.parametrize("known", OF_ANOTHER)
def test_what_is_known_of_another_batch_is_refused(known):
    name, change = OF_ANOTHER[known]
    trial = ALL[name].trial(TINY)
    value = trial.sample["net_input"]["known"][known]
    with pytest.raises(ValueError, match="is of another"):
        with_known(trial, known, change(value)).loss()


@pytest.mark.parametrize(("name", "known"), [("plain", "lengths"), ("BERT-MRC", "word_counts")])
def test_an_accelerator_refuses_what_is_known_of_other_rows(name, known):
    trial = ALL[name].trial(TINY).to("meta")
    value = trial.sample["net_input"]["known"][known]
    with HostWaits() as waits, pytest.raises(ValueError, match="is of another"):
        with_known(trial, known, value[1:]).loss()
    assert waits.found == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "ModernBERT, SLA", "DeBERTa, SLA", "padded"])
@pytest.mark.parametrize("training", [True, False])
def test_model_is_one_graph(name, training):
    trial = CASES["plain" if name == "padded" else name].trial(TINY, dropout=0.1).to("meta")
    model, inputs = trial.model.train(training), trial.sample["net_input"]
    if name == "padded":
        model = PaddedModel(model.encoder, LabelHead(TINY.width, 2)).to("meta").train(training)
        tokens = inputs["src_tokens"]
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    torch._dynamo.reset()
    found = torch._dynamo.explain(model)(**inputs)
    assert (found.graph_count, found.graph_break_count) == (1, 0)
    if name.endswith("SLA") and not training:  # a processor's way has breaks, and equal results
        trial = CASES[name].trial(TINY)
        model, inputs = trial.model.eval(), trial.sample["net_input"]
        wanted = model(**inputs)[0]
        torch.testing.assert_close(torch.compile(model, backend="eager")(**inputs)[0], wanted)


@pytest.mark.parametrize("name", SOUGHT)
def test_all_pairs_teach_what_candidates_teach(name, monkeypatch):
    trial = ALL[name].trial(TINY)
    plain = losses_of(trial)
    on_an_accelerator(monkeypatch)
    sizes = []
    judge = entity_spans.EntityReader._judge
    monkeypatch.setattr(
        entity_spans.EntityReader,
        "_judge",
        lambda *given: sizes.append(len(given[-1])) or judge(*given),
    )
    for part, other in zip(losses_of(trial), plain):
        torch.testing.assert_close(part, other)
    counts = trial.sample["net_input"]["word_counts"]
    assert sizes == [int((counts * (counts + 1) // 2).sum())]
    if trial.model.head.match_out is not None:  # so many pairs are not judged for nothing
        monkeypatch.setattr(entity_spans, "AT_ONCE", sizes[0] - 1)
        losses_of(trial)
        assert max(sizes[1:]) < sizes[0]


def losses_of(trial):
    """Return the losses of a step, and the gradient of all parameters."""
    trial.model.zero_grad()
    loss, _, output = trial.criterion(trial.model, trial.sample)
    loss.backward()
    return loss.detach(), output["loss_span"], *(p.grad for p in trial.model.parameters())


@pytest.mark.slow
def test_sides_and_steps_of_known_sizes_compile():
    inputs = ALL["BiMPM"].trial(TINY).sample["net_input"]

    def rows(tokens, segments, places, known):
        pair = Pair.of(BatchLayout.of(tokens.eq(0), places, known=known), segments)
        return pair.rows, pair.steps.rows

    names = ("src_tokens", "segments", "token_positions", "known")
    given = [inputs[name] for name in names]
    torch._dynamo.reset()
    for found, expected in zip(torch.compile(rows, backend="eager")(*given), rows(*given)):
        assert torch.equal(found, expected)
