"""Matching layers against loops over words, in float64; padding and order change nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from fairseq_plugins.nn.esim import Esim
from fairseq_plugins.nn.matching import Pair, align, beside, enhance, pooled
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.recurrent import BiLSTM, Steps

SIZES = [(2, 4), (5, 1), (1, 1), (3, 3), (5, 2)]  # words of either sentence, separators included


def pair_of(sizes=SIZES, more: int = 0) -> Pair:
    """Lay pairs out as batches have them: a token in front, both sentences, and padding."""
    lengths = torch.tensor([1 + a + b for a, b in sizes])
    columns = torch.arange(int(lengths.max()) + more)
    firsts = torch.tensor([1 + a for a, _ in sizes])
    layout = BatchLayout.of(columns >= lengths[:, None])
    return Pair.of(layout, (columns >= firsts[:, None]).long())


def words_of(sizes=SIZES, width: int = 6, seed: int = 1) -> tuple[list[Tensor], list[Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    make = [
        [torch.randn(size, width, dtype=torch.float64, generator=generator) for size in side]
        for side in zip(*sizes)
    ]
    return make[0], make[1]


def loop_bilstm(layer: BiLSTM, words: Tensor) -> Tensor:
    """Read one sentence (S, D), a step at a time, in both directions."""
    found = []
    for end, order in (("", range(len(words))), ("_reverse", range(len(words) - 1, -1, -1))):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        own = {name: getattr(layer.lstm, f"{name}_l0{end}") for name in names}
        hidden = cell = torch.zeros(layer.lstm.hidden_size, dtype=words.dtype)
        states: dict[int, Tensor] = {}
        for i in order:
            gates = own["weight_ih"] @ words[i] + own["bias_ih"]
            gates = gates + own["weight_hh"] @ hidden + own["bias_hh"]
            enter, forget, new, out = gates.chunk(4)
            cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
            hidden = states[i] = out.sigmoid() * cell.tanh()
        found.append(torch.stack([states[i] for i in range(len(words))]))
    return torch.cat(found, dim=1)


def loop_aligned(a: Tensor, b: Tensor) -> Tensor:
    """Equations 11 to 13, word by word."""
    rows = []
    for i in range(len(a)):
        scores = torch.stack([a[i].dot(b[j]) for j in range(len(b))])
        shares = scores.exp() / scores.exp().sum()
        rows.append(sum(shares[j] * b[j] for j in range(len(b))))
    return torch.stack(rows)


def loop_esim(model: Esim, a: Tensor, b: Tensor) -> Tensor:
    a, b = loop_bilstm(model.encoder, a), loop_bilstm(model.encoder, b)
    vectors = []
    for own, other in ((a, b), (b, a)):
        aligned = loop_aligned(own, other)
        rows = [
            torch.cat([own[i], aligned[i], own[i] - aligned[i], own[i] * aligned[i]])
            for i in range(len(own))
        ]
        compared = [model.compare(row).clamp(min=0) for row in rows]
        composed = loop_bilstm(model.composer, torch.stack(compared))
        vectors += [sum(composed) / len(composed), torch.stack([*composed]).max(0).values]
    return model.pool(torch.cat(vectors)).tanh()


def test_a_bilstm_reads_each_sentence_step_by_step() -> None:
    layer = BiLSTM(6, 4).double()
    first, _ = words_of()
    rows = torch.cat(first).requires_grad_()
    steps = Steps.of(torch.tensor([len(one) for one in first]))
    found = layer(rows, steps)
    parts = rows.split([len(one) for one in first])
    wanted = torch.cat([loop_bilstm(layer, one) for one in parts])
    torch.testing.assert_close(found, wanted)
    ends = [torch.cat([s[-1, :4], s[0, 4:]]) for s in (loop_bilstm(layer, one) for one in parts)]
    torch.testing.assert_close(layer.ends(rows, steps), torch.stack(ends))
    weights = torch.randn_like(found)
    ours, twins = (torch.autograd.grad((x * weights).sum(), rows)[0] for x in (found, wanted))
    torch.testing.assert_close(ours, twins)


def test_alignment_enhancement_and_pooling_are_those_of_the_paper() -> None:
    first, second = words_of()
    pair, words = pair_of(more=3), torch.cat([*first, *second])
    aligned = [loop_aligned(a, b) for a, b in zip(first, second)]
    aligned += [loop_aligned(b, a) for a, b in zip(first, second)]
    found = align(pair, words)
    torch.testing.assert_close(found, torch.cat(aligned))
    rows = [torch.cat([x, y, x - y, x * y]) for x, y in zip(words, torch.cat(aligned))]
    torch.testing.assert_close(enhance(words, found), torch.stack(rows))
    sides = [[torch.cat([x.mean(0), x.amax(0)]) for x in side] for side in (first, second)]
    wanted = torch.stack([torch.cat([a, b]) for a, b in zip(*sides)])
    torch.testing.assert_close(beside(pooled(pair, words)), wanted)


def test_esim_is_the_loop_over_its_equations() -> None:
    torch.manual_seed(1)
    model = Esim(6, 5, dropout=0.0).double()
    first, second = words_of()
    words = torch.cat([*first, *second])
    found = model(words, pair_of())
    wanted = torch.stack([loop_esim(model, a, b) for a, b in zip(first, second)])
    torch.testing.assert_close(found, wanted)
    names, parameters = zip(*model.named_parameters())
    weights = torch.randn_like(found)
    ours, twins = (torch.autograd.grad((x * weights).sum(), parameters) for x in (found, wanted))
    for name, one, other in zip(names, ours, twins):
        torch.testing.assert_close(one, other, msg=name)
        assert one.any(), name


def test_esim_has_the_parameters_of_the_paper() -> None:
    with torch.device("meta"):
        model = nn.ModuleList([Esim(300, 300, 0.5), nn.Linear(300, 3)])
    assert sum(parameter.numel() for parameter in model.parameters()) == 4_331_103


def test_pairs_are_found_among_tokens_and_need_both_sentences() -> None:
    pair = pair_of([(2, 1), (1, 3)])
    assert pair.rows.tolist() == [1, 2, 5, 3, 6, 7, 8]
    assert pair.lengths.tolist() == [2, 1, 1, 3]
    layout = BatchLayout.of(torch.zeros(1, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match="cannot be told apart without segments"):
        Pair.of(layout, None)
    with pytest.raises(ValueError, match="a sentence without a token"):
        Pair.of(layout, torch.zeros(1, 3, dtype=torch.long))
