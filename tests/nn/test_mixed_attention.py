"""What fused calls of local attention keep for the gradient, and when they are made."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.nn import functional
from trees import Row, context_of, on_an_accelerator, random_heads, run

from fairseq_plugins.nn.attention import SelfAttention
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.local_attention import Gate, LocalMixer
from fairseq_plugins.nn.masks import ALIGNED, AdditiveMask
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.tree_masks import RelationRule, TreeRule, WindowRule

WIDTH, HEADS = 64, 8
RULES = (TreeRule(1), WindowRule(2))


def layer(rules=RULES, *, dropout=0.0, separate=True) -> SelfAttention:
    gate = Gate(WIDTH, len(rules)) if rules else None
    mixer = LocalMixer(rules or RULES[:1], gate, dropout, separate=separate)
    return SelfAttention(WIDTH, HEADS, mixer)


def batch(length: int) -> tuple[torch.Tensor, AttentionContext]:
    """Two sentences, the longer one of ``length`` tokens."""
    rows = [Row(random_heads(length - 2, 1)), Row(random_heads(length // 2, 2))]
    return torch.randn(sum(len(row.words) for row in rows), WIDTH), context_of(rows)


def kept(length: int, layers: int, *, openly: bool) -> tuple[int, int]:
    """Return the bytes of distinct storages kept for the gradient: without the masks; of these."""
    states, context = batch(length)
    context = replace(context, need_weights=openly)
    modules, found = [layer() for _ in range(layers)], {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        found[storage.data_ptr()] = (storage.nbytes(), tensor)  # the tensor keeps it alive
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        for module in modules:
            states = module(states, context)
    masks = {
        mask.added.untyped_storage().data_ptr()
        for mask in (context.additive_mask(rule, context.layout.blocks[0]) for rule in RULES)
    }
    shared = sum(size for at, (size, _) in found.items() if at in masks)
    return sum(size for size, _ in found.values()) - shared, shared


def test_what_is_kept_grows_with_the_length_where_calls_are_fused(monkeypatch):
    """On a processor the kernel is fused without dropout alone, which takes no table more."""
    on_an_accelerator(monkeypatch)
    fused, openly = (
        [kept(length, 1, openly=way)[0] for length in (128, 256)] for way in (False, True)
    )
    assert fused[1] < 2.1 * fused[0]
    assert openly[1] > 3.5 * openly[0]
    assert fused[1] < openly[1] / 10


def test_layers_share_one_mask_without_heads_for_each_rule(monkeypatch):
    on_an_accelerator(monkeypatch)
    one, three = (kept(96, layers, openly=False) for layers in (1, 3))
    assert one[1] == three[1] == len(RULES) * 2 * 96 * 96 * 4  # 4 bytes a number
    assert three[0] > 2.9 * one[0]


@pytest.mark.parametrize(
    ("rules", "how", "rates"),
    [
        (RULES, {"dropout": 0.3}, [0.3] * 3),
        (RULES, {"dropout": 0.3, "training": False}, [0.0] * 3),
        (RULES, {"dropout": 0.3, "separate": False}, []),
        (RULES, {"dropout": 0.3, "separate": False, "training": False}, [0.0] * 3),
        (RULES, {"dropout": 0.3, "need_weights": True}, []),
        ((), {"dropout": 0.3, "separate": False}, [0.3]),
    ],
)
def test_an_attention_is_one_fused_call(rules, how, rates, monkeypatch):
    on_an_accelerator(monkeypatch)
    need, training = how.pop("need_weights", False), how.pop("training", True)
    calls, kernel = [], functional.scaled_dot_product_attention

    def spy(*args, dropout_p):
        calls.append(dropout_p)
        return kernel(*args, dropout_p=dropout_p)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", spy)
    states, context = batch(9)
    run(layer(rules, **how).train(training), states, context, need)
    assert calls == rates


def test_no_accelerator_is_waited_for():
    """A tensor of the meta device has no values that anybody could wait for."""
    states, context = batch(9)
    parts = {name: getattr(context, name).to("meta") for name in ("segments", "words", "heads")}
    places = (context.layout.padding_mask, context.layout.token_positions)
    there = AttentionContext(BatchLayout.of(*(part.to("meta") for part in places)), **parts)
    module = layer((*RULES, RelationRule("parent")), dropout=0.1).to("meta")
    out = module(states.to("meta"), there)
    assert out.shape == states.shape
    out.sum().backward()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_masks_of_an_accelerator_are_where_its_kernels_want_them(dtype):
    """Rows that begin elsewhere are copied at each call, and the copies are kept."""
    mask = AdditiveMask.of(torch.ones(2, 9, 9, dtype=torch.bool, device="meta"), dtype)
    assert mask.added.shape == (2, 9, 9)
    assert all(stride % ALIGNED == 0 for stride in mask.added.stride()[:-1])
    assert mask.added.dtype == dtype
    assert mask.blind.shape == (2, 9)
