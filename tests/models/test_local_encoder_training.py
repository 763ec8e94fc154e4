"""Local attention in the translation encoder: trainings, and what only it can learn."""

from __future__ import annotations

import pytest
import torch
from prepared import make_model, make_task, prepare, random_pairs, train


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    pairs = random_pairs(12, longest=12)
    return make_task(
        prepare(tmp_path_factory.mktemp("parsed"), {"train": pairs}, joined=True, parse=True)
    )


TRAIN = ("--arch", "syntax_transformer_tiny", "--criterion", "cross_entropy", "--max-update", "4")
TRAIN += ("--batch-size", "4", "--lr", "0.01", "--disable-validation", "--seed", "3")


@pytest.mark.slow
def test_training_saves_and_resumes(task, tmp_path):
    sla = (*TRAIN, "--encoder-attention", "sla", "--tree-threshold", "1", "--gate-bias-init", "-1")
    straight = torch.load(train(task.folders[0], tmp_path / "a", *sla), weights_only=True)
    assert straight["cfg"]["model"]["encoder_attention"] == "sla"
    assert straight["cfg"]["model"]["annotator"] == "toy 1 abc"
    half = [*sla, "--max-update", "2"]
    train(task.folders[0], tmp_path / "b", *half)
    resumed = torch.load(train(task.folders[0], tmp_path / "b", *sla), weights_only=True)
    moved = 0
    for name, weight in straight["model"].items():
        assert torch.equal(weight, resumed["model"][name]), name
        moved += ".gate.bias" in name and bool((weight != -1).any())
    assert moved == 2


def test_training_starts_from_a_plain_checkpoint(task, tmp_path):
    plain = train(task.folders[0], tmp_path / "plain", *TRAIN)
    options = ["--encoder-attention", "sla", "--finetune-from-model", str(plain), "--lr", "1e-9"]
    found = torch.load(train(task.folders[0], tmp_path / "sla", *TRAIN, *options))
    for name, weight in torch.load(plain)["model"].items():
        torch.testing.assert_close(found["model"][name], weight)


@pytest.mark.long
@pytest.mark.parametrize("attention", ["sla", "wla", "none"])
def test_only_syntax_finds_what_only_the_tree_tells(task, attention):
    """The target is the head of the last word; words say nothing of it."""
    torch.manual_seed(0)
    tree = {"tree_threshold": 1, "tree_neighbours": "none"} if attention == "sla" else {}
    options = {"encoder_attention": attention, "features": "none", "encoder_embed_dim": 32}
    model = make_model(task, **options, **tree).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    rate = 0.0
    for _ in range(400):
        net, target = head_questions(task, 32)
        logits = model(**net)[0][:, 0]
        rate = 0.9 * rate + 0.1 * (logits.argmax(-1) == target).float().mean().item()
        loss = torch.nn.functional.cross_entropy(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rate > 0.98:
            break
    assert rate > 0.7 if attention == "sla" else rate < 0.45  # by chance 0.2


def head_questions(task, count):
    """Six different words in any order; the last depends on any other, and they on the first."""
    symbols = torch.arange(4, 10)
    words = torch.stack([symbols[torch.randperm(6)] for _ in range(count)])  # (B, 6)
    chosen = torch.randint(0, 5, (count,))
    tokens = torch.cat([words, torch.full((count, 1), task.src_dict.eos())], 1)  # (B, 7)
    factors = torch.ones(count, 7, 5, dtype=torch.long)
    factors[..., 3] = torch.tensor([1, 2, 3, 4, 5, 6, 0])
    factors[:, 5, 4] = chosen + 1
    factors[:, 6, 4] = 0
    net = {"src_tokens": tokens, "src_lengths": torch.full((count,), 7), "src_factors": factors}
    net["prev_output_tokens"] = torch.full((count, 1), task.tgt_dict.eos())
    return net, words.gather(1, chosen[:, None])[:, 0]
