"""Losses of entities against loops over their definition; metrics whatever the batches."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from asked_entities import entities_of, examples, nested_folder, questions_file
from entity_tasks import make_task
from fairseq.logging import metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_text import batches, make_model

from fairseq_plugins.criterions import MrcNerCriterion
from fairseq_plugins.nn.entity_spans import EntityReader
from fairseq_plugins.targets.table import TARGETS

LABELS = ["O", "B-LOC", "I-LOC"]


class Asked(torch.nn.Module):
    """A reader of given states; float64 all along."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.head = EntityReader(4).double()
        for parameter in self.head.parameters():
            torch.nn.init.normal_(parameter)

    def forward(self, words, word_counts, marks):
        logits, extra = self.head(words, word_counts, marks)
        match = extra["match"].as_subclass(_Kept)
        return logits.as_subclass(_Kept), {**extra, "match": match, "losses": {}}


class _Kept(torch.Tensor):
    """A tensor that `float` leaves as it is, so that losses are compared in float64."""

    def float(self):
        return self.as_subclass(torch.Tensor)


def criterion(*weights):
    manifest = SimpleNamespace(target="entities", labels=LABELS)
    about = {"target": TARGETS["entities"], "scoring": {"overlap": "nested"}}
    cfg = SimpleNamespace(autocast="none")
    task = SimpleNamespace(NAME="mrc_ner", manifest=manifest, cfg=cfg, **about)
    return MrcNerCriterion(task, *weights)


def looped_loss(model, sample, weights):
    """The loss of one batch, word by word and pair by pair."""
    head, words = model.head, sample["net_input"]["words"]
    logits = (words @ head.ends.weight.T + head.ends.bias).tolist()
    marks = sample["target"].tolist()
    total, said = 0.0, []
    for row, (begins, ends) in zip(logits, marks):
        for side, mark in ((0, begins), (1, ends)):
            no, yes = row[2 * side : 2 * side + 2]
            chosen = yes if mark else no
            total += weights[side] * (math.log(math.exp(no) + math.exp(yes)) - chosen)
        said.append((row[1] > row[0], row[3] > row[2]))
    vectors = torch.cat([head.match_first.weight[0], head.match_last.weight[0]])
    losses, begin, spans = [], 0, [tuple(one) for one in sample["spans"].tolist()]
    for count in sample["net_input"]["word_counts"].tolist():
        for i in range(begin, begin + count):
            for j in range(i, begin + count):
                if (said[i][0] and said[j][1]) or (marks[i][0] and marks[j][1]):
                    match = vectors @ torch.cat([words[i], words[j]]) + head.match_first.bias
                    sign = 1 if (i, j) in spans else -1
                    losses.append(math.log1p(math.exp(-sign * float(match))))
        begin += count
    mean = sum(losses) / len(losses) if losses else 0.0
    return total + weights[2] * len(words) * mean


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.integers(0, 99),
    st.tuples(*[st.sampled_from([0.0, 0.1, 1.0, 2.5])] * 3),
)
def test_loss_is_that_of_loops(counts, seed, weights):
    generator = torch.Generator().manual_seed(seed)
    total, model = sum(counts), Asked()
    owners = [g for g, count in enumerate(counts) for _ in range(count)]
    every = [(i, j) for i in range(total) for j in range(i, total) if owners[i] == owners[j]]
    kept = torch.rand(len(every), generator=generator) < 0.2
    spans = torch.tensor([p for p, k in zip(every, kept) if k], dtype=torch.long).reshape(-1, 2)
    marks = torch.zeros(total, 2, dtype=torch.long)
    for side in range(2):
        marks[spans[:, side], side] = 1
    words = torch.randn(total, 4, generator=generator).double()
    net_input = {"words": words, "word_counts": torch.tensor(counts), "marks": marks}
    sample = {"net_input": net_input, "target": marks, "spans": spans}
    sample |= {"ntokens": total, "nsentences": 1}
    loss, size, logged = criterion(*weights)(model.train(), sample)
    assert size == total
    assert float(loss.detach()) == pytest.approx(looped_loss(model, sample, weights), abs=1e-9)
    assert logged.keys() >= {"loss", "loss_span", "right_marks"}


@pytest.mark.parametrize(
    "limits", [{"max_sentences": 1}, {"max_sentences": 7}, {"max_tokens": 200}]
)
def test_metrics_are_those_of_the_whole_split_whatever_the_batches(tmp_path, limits):
    parts = {"train": examples(20), "valid": examples(30, 5)}
    folder = nested_folder(tmp_path / "data", parts)
    task = make_task(folder, questions_file(tmp_path / "q.tsv"), scores_by_label=True)
    torch.manual_seed(2)
    model = make_model(task, "bert_mrc_tiny")
    model.head.ends.bias.data.copy_(torch.tensor([0.0, 0.1, 0.0, 0.1]))  # most words, most pairs
    model.head.match_first.bias.data.fill_(0.2)
    task.load_dataset("valid")
    criterion = MrcNerCriterion(task)
    with torch.no_grad(), metrics.aggregate() as found:
        outputs = [criterion(model, one)[2] for one in batches(task, "valid", **limits)]
        task.reduce_metrics(outputs, criterion)
    said, gold = [], []
    whole = next(iter(batches(task, "valid", max_sentences=100)))
    from fairseq_plugins.targets.entities import entities_of as found_of

    with torch.no_grad():
        how = task.inputs.questions.labels, task.inputs.overlap
        said = found_of(model(**whole["net_input"]), whole, *how)
    gold = [entities_of(parts["valid"][i]) for i in whole["id"].tolist()]
    expected = TARGETS["entities"].score(gold, said, task.manifest.labels)
    each = TARGETS["entities"].by_label(gold, said, task.manifest.labels)
    assert sum(value for name, value in each.items() if name.startswith("support")) > 0
    expected |= each
    values = found.get_smoothed_values()
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    assert sum(map(len, said)) > 0
