"""The linear chain against sums and searches over all labels, written out, in float64."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from fairseq_plugins.nn import label_chain

LABELS, COUNTS = 3, (1, 4, 2)


@pytest.fixture
def drawn():
    """Emissions (B, L, C), labels (B, L), counts (B,), a chain, and one that forbids steps."""
    torch.manual_seed(3)
    counts = torch.tensor(COUNTS)
    rows = torch.randn(sum(COUNTS), LABELS, dtype=torch.float64)
    labels = torch.randint(LABELS, (sum(COUNTS),))
    allowed = torch.ones(LABELS + 1, LABELS + 1, dtype=torch.bool)
    allowed[0, 2] = allowed[-1, 1] = allowed[2, -1] = False
    module = label_chain.LabelChain(allowed)
    torch.nn.init.normal_(module.steps)
    free, closed = module().double()
    padded = (label_chain.padded(one, counts) for one in (rows, labels))
    return *padded, counts, free, closed


def slow_score(emissions, labels, chain):
    steps = zip([LABELS, *labels], [*labels, LABELS])
    return sum(emissions[t, y] for t, y in enumerate(labels)) + sum(chain[i, j] for i, j in steps)


def sentences(emissions, counts):
    """Yield number, emissions (L, C) and all possible labels of each sentence."""
    for number, count in enumerate(counts.tolist()):
        yield number, emissions[number, :count], [*product(range(LABELS), repeat=count)]


@pytest.mark.parametrize("closed", [False, True])
def test_sums_marginals_and_best_labels_are_those_of_all_labels(drawn, closed):
    emissions, labels, counts, *chains = drawn
    chain = chains[closed]
    wholes = label_chain.log_partition(emissions, counts, chain)
    shares = label_chain.marginals(emissions, counts, chain)
    best = label_chain.best_labels(emissions, counts, chain)
    given = label_chain.score(emissions, labels, counts, chains[0])
    for number, rows, every in sentences(emissions, counts):
        scores = torch.stack([slow_score(rows, one, chain) for one in every])
        torch.testing.assert_close(wholes[number], scores.logsumexp(0))
        count = len(rows)
        assert best[number, :count].tolist() == [*every[int(scores.argmax())]]
        chances = scores.softmax(0)
        for place, label in product(range(count), range(LABELS)):
            held = [chance for chance, one in zip(chances, every) if one[place] == label]
            torch.testing.assert_close(shares[number, place, label], sum(held))
        own = labels[number, :count].tolist()
        torch.testing.assert_close(given[number], slow_score(rows, own, chains[0]))


def test_loss_is_the_log_probability_and_reaches_every_parameter(drawn):
    emissions, labels, counts, _, _ = drawn
    module = label_chain.LabelChain(torch.ones(LABELS + 1, LABELS + 1, dtype=torch.bool))
    module.double()

    def loss(emissions, steps):
        chain = torch.func.functional_call(module, {"steps": steps}, ())[0].double()
        return label_chain.negative_log_likelihood(emissions, labels, counts, chain)

    assert (loss(emissions, module.steps) > 0).all()
    emissions.requires_grad_()
    loss(emissions, module.steps).sum().backward()
    assert module.steps.grad.abs().sum() > 0
    assert emissions.grad[0, 1:].abs().sum() == 0  # behind the last word
    twin = torch.autograd.functional.jacobian(lambda e: loss(e, module.steps).sum(), emissions)
    ahead = 1e-6 * torch.randn_like(emissions)
    change = loss(emissions + ahead, module.steps).sum() - loss(emissions, module.steps).sum()
    torch.testing.assert_close(change, (twin * ahead).sum(), atol=1e-9, rtol=1e-4)


def test_chain_of_zeros_is_a_plain_head(drawn):
    emissions, labels, counts, _, _ = drawn
    chain = torch.zeros(LABELS + 1, LABELS + 1, dtype=torch.float64)
    found = label_chain.negative_log_likelihood(emissions, labels, counts, chain)
    for number, count in enumerate(counts.tolist()):
        each = torch.nn.functional.cross_entropy(
            emissions[number, :count], labels[number, :count], reduction="sum"
        )
        torch.testing.assert_close(found[number], each)
    shares = label_chain.marginals(emissions, counts, chain)
    torch.testing.assert_close(shares[1], emissions[1].softmax(-1))
    assert label_chain.best_labels(emissions, counts, chain)[1].equal(emissions[1].argmax(-1))


def test_sentences_do_not_depend_on_their_batch(drawn):
    emissions, labels, counts, free, closed = drawn
    for function in (label_chain.log_partition, label_chain.best_labels, label_chain.marginals):
        together = function(emissions, counts, closed)
        for number, count in enumerate(counts.tolist()):
            alone = function(emissions[[number], :count], counts[[number]], closed)[0]
            found = together[number]
            torch.testing.assert_close(found[:count] if found.dim() else found, alone)
