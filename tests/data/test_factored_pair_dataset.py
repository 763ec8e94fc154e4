"""Every token of every batch carries its own features, whatever the options of the dataset."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared import batches, dictionary_of, features_of, make_task, prepare, random_pairs
from worker_processes import none_is_left

from fairseq_plugins.data.factored_pair_dataset import FactoredPairDataset, place_factors
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.labels import PAD_ID, SPECIAL_ID
from fairseq_plugins.syntax.layers import LAYERS

FOUR = {"train": 60, "train1": 25, "valid": 14, "test": 9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {name: random_pairs(n, seed) for seed, (name, n) in enumerate(FOUR.items())}
    return prepare(tmp_path_factory.mktemp("data"), splits)


def check_rows(task, found):
    """The tag of a token follows from its text, so each position can be checked by itself."""
    rows = 0
    for batch in found:
        tokens, factors = batch["net_input"]["src_tokens"], batch["net_input"]["src_factors"]
        assert factors.shape == (*tokens.shape, 3)
        assert factors.dtype == torch.int64
        for line, columns in zip(tokens.tolist(), factors.tolist()):
            rows += 1
            for token, values in zip(line, columns):
                assert values == expected(task, token)
    return rows


def expected(task, token):
    if token == task.src_dict.pad():
        return [PAD_ID] * 3
    if token == task.src_dict.eos():
        return [SPECIAL_ID] * 3
    tags = features_of([task.src_dict[token]]) | {"subword": ["O"]}
    return [LAYERS[name].inventory.ids([tags[name][0]])[0] for name in ("pos", "case", "subword")]


@pytest.mark.parametrize(
    ("options", "combine", "rows"),
    [
        ({}, True, 85),
        ({}, False, 60),
        ({"upsample_primary": 3}, True, 205),
        ({"left_pad_source": False}, True, 85),
        ({"left_pad_source": False, "left_pad_target": True}, True, 85),
        ({"truncate_source": True, "max_source_positions": 4}, True, 85),
        ({"truncate_source": True, "max_source_positions": 4, "upsample_primary": 2}, True, 145),
        ({"required_seq_len_multiple": 8}, True, 85),
    ],
)
def test_features_stay_with_their_tokens(folder, options, combine, rows):
    task = make_task(folder, **options)
    task.load_dataset("train", combine=combine)
    found = batches(task, "train", max_sentences=7)
    assert check_rows(task, found) == rows
    if "truncate_source" in options:
        lengths = torch.cat([batch["net_input"]["src_lengths"] for batch in found])
        assert lengths.max() == 4


def test_columns_follow_the_manifest(tmp_path):
    pairs = random_pairs(9)
    task = make_task(prepare(tmp_path, {"train": pairs}, features=("subword", "pos")))
    task.load_dataset("train")
    (batch,) = batches(task, "train", max_sentences=99)
    tokens, factors = batch["net_input"]["src_tokens"], batch["net_input"]["src_factors"]
    for token, values in zip(tokens.flatten().tolist(), factors.flatten(0, 1).tolist()):
        pos, _, subword = expected(task, token)
        assert values == [subword, pos]


def test_shards_are_taken_in_turns_and_valid_from_the_first(tmp_path):
    both = [random_pairs(8, 1), random_pairs(5, 2)]
    dictionaries = [
        dictionary_of([pair[side] for pairs in both for pair in pairs]) for side in (0, 1)
    ]
    for name, pairs in zip("ab", both):
        splits = {"train": pairs, "valid": pairs[:3]}
        prepare(tmp_path / name, splits, dictionaries=tuple(dictionaries))
    task = make_task(f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    for epoch, rows in [(1, 8), (2, 5), (3, 8)]:
        task.load_dataset("train", epoch=epoch)
        assert check_rows(task, batches(task, "train", max_sentences=3)) == rows
        task.load_dataset("valid", epoch=epoch)
        assert check_rows(task, batches(task, "valid", max_sentences=3)) == 3


def test_worker_processes_give_the_same(folder):
    task = make_task(folder)
    task.load_dataset("valid")
    workers = {"num_workers": 2, "data_buffer_size": 2}
    with none_is_left():  # training would wait for it
        assert check_rows(task, batches(task, "valid", max_sentences=4, **workers)) == 14


def test_folder_without_features_is_plain_data(tmp_path):
    task = make_task(prepare(tmp_path, {"train": random_pairs(9)}, features=()))
    task.load_dataset("train")
    found = batches(task, "train", max_sentences=99, required_batch_size_multiple=8)
    assert all("src_factors" not in batch["net_input"] for batch in found)
    assert sum(len(batch["id"]) for batch in found) == 9


@settings(max_examples=30, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 12), min_size=0, max_size=40),
    max_sentences=st.one_of(st.none(), st.integers(1, 30)),
    max_tokens=st.one_of(st.none(), st.integers(12, 60)),
    multiple=st.sampled_from([1, 2, 8]),
)
def test_no_sentence_is_lost_in_batching(lengths, max_sentences, max_tokens, multiple):
    dataset = dataset_of(lengths)
    indices = dataset.ordered_indices()
    found = dataset.batch_by_size(
        indices,
        max_tokens=max_tokens,
        max_sentences=max_sentences,
        required_batch_size_multiple=multiple,
    )
    assert [i for batch in found for i in batch] == indices.tolist()
    for batch in found:
        assert max_sentences is None or len(batch) <= max(max_sentences, multiple)
        assert max_tokens is None or len(batch) * max(lengths[i] for i in batch) <= max_tokens


def dataset_of(lengths):
    from fairseq.data import Dictionary, LanguagePairDataset

    lines = [torch.full((n,), 4) for n in lengths]
    pairs = LanguagePairDataset(lines, lengths, Dictionary(), shuffle=False)
    return FactoredPairDataset(pairs, [torch.full((n, 1), 2) for n in lengths])


def test_filtered_sentences_stay_out_and_the_tail_stays_in(folder):
    task = make_task(folder)
    task.load_dataset("train", combine=True)
    sizes = task.dataset("train").sizes
    kept = {i for i in range(85) if max(sizes[i]) <= 7}
    limits = {"max_positions": (7, 7), "ignore_invalid_inputs": True}
    found = batches(task, "train", max_sentences=16, required_batch_size_multiple=8, **limits)
    ids = [i for batch in found for i in batch["id"].tolist()]
    assert 0 < len(kept) < 85
    assert len(kept) % 8
    assert sorted(ids) == sorted(kept)


def test_each_epoch_makes_its_own_batches(folder):
    task = make_task(folder)
    task.load_dataset("train")
    dataset = task.dataset("train")
    assert not dataset.can_reuse_epoch_itr_across_epochs
    first, again, second = [
        [batch["id"].tolist() for batch in batches(task, "train", max_sentences=4, epoch=epoch)]
        for epoch in (1, 1, 2)
    ]
    assert first == again != second
    assert not task.dataset_to_epoch_iter


def test_features_of_another_length_are_refused():
    tokens = torch.tensor([[1, 5, 6, 2], [5, 6, 7, 2]])
    rows = [torch.ones(3, 1), torch.ones(3, 1)]
    with pytest.raises(InputError, match="sentence 41 has 4 tokens, but 3 features"):
        place_factors(tokens, rows, pad=1, ids=[40, 41])


def test_another_number_of_rows_is_refused():
    dataset = dataset_of([3, 4]).dataset
    with pytest.raises(InputError, match="2 sentences, but 1 rows"):
        FactoredPairDataset(dataset, [torch.ones(3, 1)])


def test_collating_nothing_gives_nothing():
    assert dataset_of([3]).collater([]) == {}


def test_ablation_shuffle_does_not_depend_on_batching(folder):
    options = {"ablate_features": "pos", "ablation_mode": "shuffle"}
    task = make_task(folder, **options)
    task.load_dataset("test")
    seen = []
    for size in (1, 4, 99):
        rows = {}
        for batch in batches(task, "test", max_sentences=size):
            real = batch["net_input"]["src_tokens"].ne(task.src_dict.pad())
            for i, keep, factors in zip(
                batch["id"].tolist(), real, batch["net_input"]["src_factors"]
            ):
                rows[i] = factors[keep].tolist()
        seen.append(rows)
    assert seen[0] == seen[1] == seen[2]
    plain = make_task(folder)
    plain.load_dataset("test")
    assert any(not np.array_equal(plain.dataset("test")[i]["factors"], seen[0][i]) for i in seen[0])
