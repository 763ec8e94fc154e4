"""Candidates and their logits against loops over the paper's equations."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.nn import entity_spans
from fairseq_plugins.nn.entity_spans import MATCHES, EntityReader, pairs_of, span_scores

WIDTH = 6


def reader(match="linear", dropout=0.0):
    torch.manual_seed(1)
    found = EntityReader(WIDTH, match, dropout).double()
    for parameter in found.parameters():
        torch.nn.init.normal_(parameter)
    return found.eval()


def states(words, seed=0):
    return torch.randn(words, WIDTH, generator=torch.Generator().manual_seed(seed)).double()


def looped(model, words, counts, gold=None):
    """Return start and end probabilities, and {(i, j): P(i, j)} of the candidates, one by one."""
    ends, weights = model.ends, (model.match_first, model.match_last)
    chances, said = [], []
    for state in words:
        logits = ends.weight @ state + ends.bias
        pair = [
            logits[2 * k : 2 * k + 2].exp() / logits[2 * k : 2 * k + 2].exp().sum() for k in (0, 1)
        ]
        chances.append([float(one[1]) for one in pair])
        said.append([one[1] > one[0] for one in pair])
    found, begin = {}, 0
    for count in counts:
        for i in range(begin, begin + count):
            for j in range(i, begin + count):
                both = said[i][0] and said[j][1]
                true = gold is not None and bool(gold[i][0]) and bool(gold[j][1])
                if both or true:
                    joined = torch.cat([words[i], words[j]])
                    matrix = torch.cat([one.weight for one in weights], dim=1)
                    value = matrix @ joined + model.match_first.bias
                    if model.match_out is not None:
                        value = torch.nn.functional.gelu(value)
                        value = model.match_out.weight @ value + model.match_out.bias
                    found[i, j] = float(value.sigmoid())
        begin += count
    return chances, said, found


COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(COUNTS, st.integers(0, 99), st.sampled_from(MATCHES), st.booleans())
def test_reader_is_the_papers_equations(counts, seed, match, learning):
    model, words = reader(match), states(sum(counts), seed)
    generator = torch.Generator().manual_seed(seed)
    marks = torch.randint(2, (len(words), 2), generator=generator) if learning else None
    with torch.no_grad():
        logits, extra = model(words, torch.tensor(counts), marks)
        chances, _, expected = looped(model, words, counts, marks)
    found = dict(
        zip(zip(extra["first"].tolist(), extra["last"].tolist()), extra["match"].sigmoid())
    )
    assert found.keys() == expected.keys()
    assert all(float(found[pair]) == pytest.approx(expected[pair], abs=1e-9) for pair in found)
    for row, (start, end) in zip(logits.softmax(-1), chances):
        assert row[:, 1].tolist() == pytest.approx([start, end], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.integers(0, 99))
def test_pairs_are_all_of_one_question_in_order(counts, seed):
    marks = torch.rand(sum(counts), 2, generator=torch.Generator().manual_seed(seed)) < 0.5
    owners = [number for number, count in enumerate(counts) for _ in range(count)]
    found = pairs_of(marks, torch.tensor(counts))
    expected = [
        (i, j)
        for i in range(len(owners))
        for j in range(i, len(owners))
        if owners[i] == owners[j] and marks[i, 0] and marks[j, 1]
    ]
    assert list(zip(found.first.tolist(), found.last.tolist())) == expected


@pytest.mark.parametrize("match", MATCHES)
def test_scores_are_products_and_none_below_a_half(match):
    model, counts = reader(match), [5, 4, 6]
    words = states(sum(counts), 4)
    marks = torch.ones(len(words), 2, dtype=torch.long)  # every pair is a candidate
    with torch.no_grad():
        logits, extra = model(words, torch.tensor(counts), marks)
        chances, said, expected = looped(model, words, counts, marks.tolist())
    scores = span_scores(logits, extra["first"], extra["last"], extra["match"]).tolist()
    some = 0
    for i, j, score in zip(extra["first"].tolist(), extra["last"].tolist(), scores):
        is_one = said[i][0] and said[j][1] and expected[i, j] > 0.5
        some += is_one
        product = chances[i][0] * chances[j][1] * expected[i, j]
        assert score == pytest.approx(product if is_one else 0, abs=1e-9)
    assert 0 < some < len(scores)


@pytest.mark.parametrize("match", MATCHES)
def test_every_parameter_learns(match):
    model = reader(match).train()
    words = states(12).requires_grad_()
    logits, extra = model(words, torch.tensor([7, 5]), torch.ones(12, 2))
    (logits.square().mean() + extra["match"].square().mean()).backward()
    assert all(bool(p.grad.abs().sum() > 0) for p in model.parameters())
    assert words.grad.abs().sum(1).gt(0).all()


@pytest.mark.parametrize("learning", [True, False])
def test_many_pairs_are_judged_some_at_a_time_with_the_same_result(monkeypatch, learning):
    found, sizes, judge = [], [], EntityReader._judge

    def counted(self, firsts, lasts, first, last):
        sizes.append(len(first))
        return judge(self, firsts, lasts, first, last)

    monkeypatch.setattr(EntityReader, "_judge", counted)
    for most in (1000, 7):
        monkeypatch.setattr(entity_spans, "AT_ONCE", most)
        sizes.clear()
        model, words = reader("mlp"), states(12).requires_grad_()
        with torch.set_grad_enabled(learning):
            match = model(words, torch.tensor([7, 5]), torch.ones(12, 2))[1]["match"]
        if learning:
            match.square().sum().backward()
        found.append([match, words.grad, *(p.grad for p in model.parameters())])
        assert max(sizes) == min(most, len(match))
    for one, other in zip(*found):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other)


def test_batch_without_a_candidate_still_reaches_every_parameter():
    model = reader().train()
    model.ends.weight.data.zero_()
    model.ends.bias.data.copy_(torch.tensor([1.0, -1.0, 1.0, -1.0]))
    logits, extra = model(states(5), torch.tensor([5]), torch.zeros(5, 2))
    assert len(extra["match"]) == 0
    (logits.sum() + extra["match"].sum()).backward()  # as workers that wait for each other need it
    assert all(p.grad is not None for p in model.parameters())


def test_matches_differ_and_dropout_is_of_the_second_alone():
    words, marks = states(6), torch.ones(6, 2)
    counts = torch.tensor([6])
    first = reader("linear")(words, counts, marks)[1]["match"]
    second = reader("mlp")(words, counts, marks)[1]["match"]
    assert not torch.allclose(first, second)
    dropping = {match: reader(match, 0.5).train() for match in MATCHES}
    drawn = {
        m: [one(words, counts, marks)[1]["match"] for _ in range(2)] for m, one in dropping.items()
    }
    assert torch.equal(*drawn["linear"])
    assert not torch.equal(*drawn["mlp"])
