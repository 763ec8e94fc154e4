"""Matching layers against loops over words, in float64; padding and order change nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from fairseq_plugins.nn.bimpm import Bimpm, Perspectives
from fairseq_plugins.nn.cafe import Cafe, FactorisationMachine, Highway
from fairseq_plugins.nn.characters import CharacterReader
from fairseq_plugins.nn.esim import Esim
from fairseq_plugins.nn.matching import Pair, align, beside, enhance, pooled
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.recurrent import PackedLSTM, Steps

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


def loop_lstm(layer: PackedLSTM, words: Tensor, end: str = "") -> Tensor:
    """Read one sentence (S, D), a step at a time, in one direction."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    own = {name: getattr(layer.lstm, f"{name}_l0{end}") for name in names}
    hidden = cell = torch.zeros(layer.lstm.hidden_size, dtype=words.dtype)
    states: dict[int, Tensor] = {}
    for i in reversed(range(len(words))) if end else range(len(words)):
        gates = own["weight_ih"] @ words[i] + own["bias_ih"]
        gates = gates + own["weight_hh"] @ hidden + own["bias_hh"]
        enter, forget, new, out = gates.chunk(4)
        cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        hidden = states[i] = out.sigmoid() * cell.tanh()
    return torch.stack([states[i] for i in range(len(words))])


def loop_bilstm(layer: PackedLSTM, words: Tensor) -> Tensor:
    return torch.cat([loop_lstm(layer, words), loop_lstm(layer, words, "_reverse")], dim=1)


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
    layer = PackedLSTM(6, 4).double()
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


def test_pairs_are_found_among_tokens_and_need_both_sentences() -> None:
    pair = pair_of([(2, 1), (1, 3)])
    assert pair.rows.tolist() == [1, 2, 5, 3, 6, 7, 8]
    assert pair.lengths.tolist() == [2, 1, 1, 3]
    layout = BatchLayout.of(torch.zeros(1, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match="cannot be told apart without segments"):
        Pair.of(layout, None)
    with pytest.raises(ValueError, match="a sentence without a token"):
        Pair.of(layout, torch.zeros(1, 3, dtype=torch.long))


def cosine(u: Tensor, v: Tensor) -> Tensor:
    return u.dot(v) / (u.dot(u).sqrt() * v.dot(v).sqrt())


def loop_perspectives(layer: Perspectives, own: Tensor, other: Tensor, end: Tensor) -> Tensor:
    """Equations 3 to 9 of Wang et al. 2017, word by word."""

    def compared(u: Tensor, v: Tensor, weight: Tensor) -> Tensor:
        return torch.stack([cosine(row * u, row * v) for row in weight])

    full, highest, attentive, chosen = layer.weight
    rows = []
    for state in own:
        shares = torch.stack([cosine(state, one) for one in other])
        mean = sum(share * one for share, one in zip(shares, other)) / shares.sum()
        every = torch.stack([compared(state, one, highest) for one in other])
        best = other[shares.argmax()]
        rows.append(
            torch.cat(
                [
                    compared(state, end, full),
                    every.max(0).values,
                    compared(state, mean, attentive),
                    compared(state, best, chosen),
                ]
            )
        )
    return torch.stack(rows)


def test_matchings_bear_small_numbers_in_half_precision() -> None:
    torch.manual_seed(1)
    layer = Perspectives(5, 3)
    own, other = (1e-3 * torch.randn(2, size, 5) for size in (3, 4))
    own[0, 2], padding = 0.0, torch.zeros(2, 4, dtype=torch.bool)
    given = [part.half().requires_grad_() for part in (own, other, other[:, 0])]
    wanted = layer(*(part.float() for part in given), padding)
    found = layer.half()(*given, padding)
    torch.testing.assert_close(found.float(), wanted, atol=1e-2, rtol=1e-2)
    found.float().square().sum().backward()
    assert all(part.grad.isfinite().all() for part in (*given, layer.weight))


def test_perspectives_start_as_matrices_of_their_size() -> None:
    """Glorot and Bengio 2010, of (l, H) each."""
    bound = (6 / (20 + 100)) ** 0.5
    for matching in Perspectives(100, 20).weight:
        assert 0.9 * bound < matching.abs().max() <= bound


def loop_bimpm(model: Bimpm, a: Tensor, b: Tensor) -> Tensor:
    a, b = loop_bilstm(model.context, a), loop_bilstm(model.context, b)
    size, ends = model.context.lstm.hidden_size, []
    for own, other in ((a, b), (b, a)):
        forward = loop_perspectives(
            model.forwards, own[:, :size], other[:, :size], other[-1, :size]
        )
        backward = loop_perspectives(
            model.backwards, own[:, size:], other[:, size:], other[0, size:]
        )
        states = loop_bilstm(model.aggregate, torch.cat([forward, backward], dim=1))
        ends += [states[-1, :size], states[0, size:]]
    return model.join(torch.cat(ends)).tanh()


def loop_machine(machine: FactorisationMachine, x: Tensor) -> Tensor:
    found, v = machine.linear(x), machine.factors
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            found = found + v[i].dot(v[j]) * x[i] * x[j]
    return found


def loop_highway(layer: Highway, x: Tensor) -> Tensor:
    x = x if layer.project is None else layer.project(x)
    for change, gate in zip(layer.maps, layer.gates):
        share = gate(x).sigmoid()
        x = share * change(x).clamp(min=0) + (1 - share) * x
    return x


def loop_cafe(model: Cafe, a: Tensor, b: Tensor) -> Tensor:
    def attended(own: Tensor, other: Tensor, layer: nn.Linear) -> Tensor:
        rows = []
        for one in own:
            key = layer(one).clamp(min=0)
            scores = torch.stack([key.dot(layer(each).clamp(min=0)) for each in other])
            rows.append((scores.exp() / scores.exp().sum()) @ other)
        return torch.stack(rows)

    a, b = (torch.stack([loop_highway(model.encoder, one) for one in side]) for side in (a, b))
    vectors = []
    for own, other in ((a, b), (b, a)):
        rows = []
        aligned = (attended(own, other, model.across), attended(own, own, model.within))
        for i in range(len(own)):
            numbers = []
            for k, found in enumerate(aligned):
                compared = (torch.cat([own[i], found[i]]), own[i] - found[i], own[i] * found[i])
                numbers += [
                    loop_machine(model.machines[3 * k + n], x) for n, x in enumerate(compared)
                ]
            rows.append(torch.cat([own[i], *numbers]))
        states = loop_lstm(model.reader, torch.stack(rows))
        vectors.append(torch.cat([states.mean(0), states.amax(0)]))
    p, q = vectors
    return loop_highway(model.join, torch.cat([p, q, p - q, p * q]))


LOOPS = {
    "esim": (lambda: Esim(6, 5, 0.0), loop_esim),
    "bimpm": (lambda: Bimpm(6, 5, 0.0, 3), loop_bimpm),
    "cafe": (lambda: Cafe(6, 5, 0.0, 2), loop_cafe),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_matcher_is_the_loop_over_its_equations(name) -> None:
    torch.manual_seed(1)
    make, loop = LOOPS[name]
    model = make().double()
    first, second = words_of()
    words = torch.cat([*first, *second])
    found = model(words, pair_of())
    wanted = torch.stack([loop(model, a, b) for a, b in zip(first, second)])
    torch.testing.assert_close(found, wanted)
    names, parameters = zip(*model.named_parameters())
    weights = torch.randn_like(found)
    ours, twins = (torch.autograd.grad((x * weights).sum(), parameters) for x in (found, wanted))
    for name, one, other in zip(names, ours, twins):
        torch.testing.assert_close(one, other, msg=name)
        assert one.any(), name


def test_sizes_of_the_papers_make_these_numbers_of_parameters() -> None:
    """ESIM as printed (4.3 million); see `nn.bimpm` and `nn.cafe` about the others."""
    with torch.device("meta"):
        found = {
            "esim": nn.ModuleList([Esim(300, 300, 0.5), nn.Linear(300, 3)]),
            "bimpm": nn.ModuleList([Bimpm(350, 100, 0.1, 20), nn.Linear(200, 3)]),
            "cafe": nn.ModuleList([Cafe(350, 300, 0.2, 10), nn.Linear(300, 3)]),
        }
    counts = {name: sum(p.numel() for p in model.parameters()) for name, model in found.items()}
    assert counts == {"esim": 4_331_103, "bimpm": 668_003, "cafe": 2_485_509}


def test_characters_are_read_word_by_word() -> None:
    words = ["[PAD]", "a", "b", "abba", "ab"]
    reader = CharacterReader(words, 3, 4).double()
    tokens = torch.tensor([3, 1, 3, 4])
    found = reader(tokens)
    letters = sorted({*"".join(words)})
    for row, token in zip(found, tokens):
        ids = torch.tensor([letters.index(letter) for letter in words[token]])
        torch.testing.assert_close(row, loop_lstm(reader.lstm, reader.table(ids))[-1])
    assert {name.split(".")[0] for name in reader.state_dict()} == {"table", "lstm"}
