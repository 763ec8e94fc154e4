"""Classes that are far from equally frequent: weights in training, checkpoints and resumed runs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cli.commands import state_of
from omegaconf import OmegaConf
from prepared_text import examples, make_model, make_task, prepare, train

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.training_datasets import balanced_order
from fairseq_plugins.errors import InputError

LAST = "checkpoint_last.pt"


def noisy(count: int, yes: int) -> list[Example]:
    """Make texts, each fifth with "good"; the first ``yes`` of these alone are of class "yes"."""
    made = []
    for i in range(count):
        label = "yes" if i % 5 == 0 and i < 5 * yes else "no"
        text = "bad garden" if i % 5 else "good night"
        made.append(Example(str(i), (text,), label=label, line=i + 1))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of 150 texts 3 are "yes", and 27 others look the same."""
    splits = {"train": noisy(150, 3), "valid": noisy(20, 4)}
    return prepare(tmp_path_factory.mktemp("bin") / "classes", "classes", splits)


def recall_of(run) -> float:
    (meters,) = (
        {name: meter for split, name, _, meter in state["extra_state"]["metrics"]["valid"]}
        for state in [state_of(run / LAST)]
    )
    matrix = meters["_confusion"]["sum"]
    return float(matrix[1, 1] / matrix[1].sum())


def trained(folder, save_dir, *more: str):
    options = "--max-update 30 --validate-after-updates 30 --no-epoch-checkpoints --seed 3 "
    options += "--lr 0.01 --num-attention-heads 2"
    return train(folder, save_dir, *options.split(), *more)


def test_weights_decide_whether_a_rare_class_is_found(folder, tmp_path):
    assert recall_of(trained(folder, tmp_path / "plain")) == 0
    run = trained(folder, tmp_path / "run", "--class-weights", "balanced")
    assert recall_of(run) == 1
    assert state_of(run / LAST)["cfg"]["criterion"]["class_weights"] == f"{150 / 294!r},25.0"


def test_a_resumed_run_needs_no_file_of_weights(folder, tmp_path):
    path = tmp_path / "weights"
    path.write_text("no 1\nyes 20\n")
    more = ["--class-weights", str(path), "--label-smoothing", "0.1"]
    straight = trained(folder, tmp_path / "straight", *more)
    run = trained(folder, tmp_path / "run", *more, "--max-update", "20")
    path.unlink()
    trained(folder, run, *more)
    one, other = (state_of(place / LAST) for place in (straight, run))
    assert one["cfg"]["criterion"]["class_weights"] == "1.0,20.0"
    assert other["cfg"]["criterion"]["class_weights"] == "1.0,20.0"
    assert all(torch.equal(one["model"][name], value) for name, value in other["model"].items())
    with pytest.raises(FileNotFoundError, match="no such file; choices: balanced"):
        trained(folder, tmp_path / "new", *more)


def test_balanced_batches_decide_whether_a_rare_class_is_found(folder, tmp_path):
    """A resumed run has the batches of the straight one."""
    more = ["--batch-order", "balanced"]
    straight = trained(folder, tmp_path / "straight", *more)
    assert recall_of(straight) == 1
    run = trained(folder, tmp_path / "run", *more, "--max-update", "13")
    trained(folder, run, *more)
    one, other = (state_of(place / LAST)["model"] for place in (straight, run))
    assert all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize("sizes", [(50, 1), (7, 7, 1), (5,)])
def test_balanced_order_has_every_class_equally_often(sizes):
    classes = np.repeat(np.arange(len(sizes)) * 2, sizes)  # without some classes
    np.random.seed(1)
    found = balanced_order(classes)
    assert len(found) == len(classes)
    counts = np.bincount(classes[found])[::2]
    assert counts.max() - counts.min() <= 1
    for cut in range(0, len(found) - len(sizes), len(sizes)):
        assert len({*classes[found[cut : cut + len(sizes)]]}) == len(sizes)
    for own in ({*np.flatnonzero(classes == one)} for one in classes):
        row = [place for place in found if place in own]
        assert len({*row}) == min(len(row), len(own))  # none twice before all once
    assert not np.array_equal(found, balanced_order(classes))
    np.random.seed(1)
    assert np.array_equal(found, balanced_order(classes))


def test_workers_share_the_batches_of_one(folder):
    task = make_task(folder, batch_order="balanced")
    make_model(task, num_attention_heads=2)
    task.load_dataset("train")

    def drawn(epoch, **how):
        how = {"max_sentences": 8, "seed": 5, "epoch": epoch} | how
        batches = task.get_batch_iterator(task.dataset("train"), **how)
        return sorted(one["id"].tolist() for one in batches.next_epoch_itr() if one)

    shares = [drawn(2, num_shards=2, shard_id=i) for i in range(2)]
    assert sorted(shares[0] + shares[1]) == drawn(2) != drawn(1)


@pytest.mark.parametrize("kind", ["score", "multi_label", "entities"])
def test_balanced_batches_are_for_classes(tmp_path, kind):
    folder = prepare(tmp_path, kind, {"train": examples(kind, 4)})
    with pytest.raises(InputError, match="--batch-order balanced is for classes, not for"):
        make_task(folder, batch_order="balanced")


@pytest.mark.parametrize("kind", ["classes", "entities"])
def test_an_update_does_not_depend_on_how_it_is_cut(tmp_path, kind):
    """fairseq sums losses and sample sizes of batches and workers, and divides the sums."""
    folder = prepare(tmp_path, kind, {"train": examples(kind, 12)})
    task, found = make_task(folder), []
    model = make_model(task, num_attention_heads=2)
    task.load_dataset("train")
    given = {"_name": task.NAME, "class_weights": "balanced", "label_smoothing": 0.1}
    criterion, dataset = task.build_criterion(OmegaConf.create(given)), task.dataset("train")
    for cuts in ([0, 12], [0, 1, 5, 12], [*range(13)]):
        model.zero_grad()
        sizes = 0
        for first, end in zip(cuts, cuts[1:]):
            batch = dataset.collater([dataset[i] for i in range(first, end)])
            loss, size, _ = criterion(model, batch)
            loss.backward()
            sizes += size
        found.append([one.grad / sizes for one in model.parameters() if one.grad is not None])
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["score", "multi_label"])
@pytest.mark.parametrize("given", [{"class_weights": "balanced"}, {"label_smoothing": 0.1}])
def test_targets_without_classes_take_no_weights(tmp_path, kind, given):
    task = make_task(prepare(tmp_path, kind, {"train": examples(kind, 4)}))
    with pytest.raises(InputError, match="are for classes and labels of words, not for s"):
        task.build_criterion(OmegaConf.create({"_name": task.NAME, **given}))


@pytest.mark.parametrize("text", ["balanced", "/etc/passwd"])
def test_options_of_a_checkpoint_open_no_file(folder, text):
    task = make_task(folder)
    task.of_checkpoint = True
    with pytest.raises(InputError, match="expected a number from 0 on for each of no, yes"):
        task.build_criterion(OmegaConf.create({"_name": task.NAME, "class_weights": text}))


def test_smoothing_is_a_share(folder):
    given, task = {"_name": "text_classification", "label_smoothing": 1.5}, make_task(folder)
    with pytest.raises(InputError, match="--label-smoothing 1.5: must be from 0 to 1"):
        task.build_criterion(OmegaConf.create(given))
