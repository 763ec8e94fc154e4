"""Controls on their way through the tasks: batches, checkpoints, ensembles, raw text, bundles."""

from __future__ import annotations

import json

import numpy as np
import prepared
import prepared_questions
import prepared_text
import pytest
import torch
from omegaconf import OmegaConf
from prepared_text import encode, examples, make_model, make_task, train

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.bundle_export import export_bundle
from fairseq_plugins.inference.options import PredictionOptions
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.inference.prediction_files import predict_files
from fairseq_plugins.lab.plan.allowed import check_options, of_training
from fairseq_plugins.models._matching_config import MatchingConfig
from fairseq_plugins.models.checkpoints import read_checkpoint
from fairseq_plugins.syntax.controls import FEATURE_SOURCES, TREE_SOURCES

FEATURES = {"features": "pos,case,subword"}
CONTROLS = [
    *(
        {"tree_source": source}
        for source in TREE_SOURCES
        if source not in ("parse", "gold", "full")
    ),
    *({"feature_source": source} for source in FEATURE_SOURCES[1:]),
]
GIVEN = {"name": "conllu", "version": "-", "hash": "abc", "model": "toy"}


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    splits = {
        "train": examples("classes", 40, pairs=True),
        "valid": examples("classes", 12, 1, pairs=True),
    }
    how = {"annotations": ("pos", "heads")}
    return prepared_text.prepare(tmp_path_factory.mktemp("parsed"), "classes", splits, **how)


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    splits = {name: prepared_questions.passages(12, k) for k, name in enumerate(["train", "valid"])}
    how = {"annotations": ("pos", "heads")}
    return prepared_questions.prepare(tmp_path_factory.mktemp("questions"), splits, **how)


@pytest.fixture(scope="module")
def parallel(tmp_path_factory):
    splits = {"train": prepared.random_pairs(40), "valid": prepared.random_pairs(12, 1)}
    return prepared.prepare(tmp_path_factory.mktemp("parallel"), splits, parse=True)


def items_of(task, split="valid"):
    task.load_dataset(split)
    dataset = task.dataset(split)
    return [dataset[i] for i in range(len(dataset))]


def read_with(folder, split="valid", make=make_task, arch="bert_sla_tiny", **given):
    """Return the items of a split as a model of such options is given them."""
    task = make(folder)
    make_model(task, arch, **{**FEATURES, **given})
    return items_of(task, split)


def same(one, other) -> set[str]:
    """Name what is the same in two splits, of `plain` items."""
    assert len(one) == len(other)
    return {
        name for name in one[0] if all(np.array_equal(a[name], b[name]) for a, b in zip(one, other))
    }


def plain(items):
    """Return items as arrays; heads of all rows stand one after another."""
    kept = ("tokens", "segments", "factors", "word_of", "target")
    heads = [{"heads": np.concatenate(item["heads"])} if "heads" in item else {} for item in items]
    arrays = [{name: np.array(item[name]) for name in kept if name in item} for item in items]
    return [own | trees for own, trees in zip(arrays, heads)]


@pytest.mark.parametrize("split", ["train", "valid"])
@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_a_control_changes_its_part_of_both_splits_alone(parsed, control, split):
    own, changed = (plain(read_with(parsed, split, **how)) for how in ({}, control))
    part = "heads" if "tree_source" in control else "factors"
    assert same(own, changed) == {*own[0]} - {part}


def test_the_default_is_what_there_was_without_controls(parsed):
    explicit = {"tree_source": "parse", "feature_source": "given", "control_seed": 7}
    own, other = plain(read_with(parsed)), plain(read_with(parsed, **explicit))
    assert same(own, other) == {*own[0]}


def test_what_is_drawn_follows_from_the_seed(parsed):
    how = {"tree_source": "shuffled", "feature_source": "shuffled"}
    first, again, other = (plain(read_with(parsed, **how, control_seed=seed)) for seed in (1, 1, 2))
    assert same(first, again) == {*first[0]}
    assert {*first[0]} - same(first, other) == {"heads", "factors"}


def test_shuffled_features_are_those_of_the_split(parsed):
    own, other = read_with(parsed), read_with(parsed, feature_source="shuffled")
    sides = [np.concatenate([item["factors"] for item in items]) for items in (own, other)]
    subword = 2  # has one value a subword; words of several weigh differently
    assert sorted(sides[0][:, subword]) == sorted(sides[1][:, subword])
    for items in (own, other):  # the subwords of a word still agree
        for item in items:
            told = {*zip(item["word_of"].tolist(), map(tuple, item["factors"][:, :2].tolist()))}
            assert len(told) == len({*item["word_of"].tolist()})


def test_a_full_mask_needs_no_parse_and_is_plain_attention(parsed, tmp_path):
    unparsed = prepared_text.prepare(tmp_path, "classes", {"train": examples("classes", 12)})
    for arch in ("bert_sla_tiny", "bert_syntax_masks_tiny"):
        task = make_task(unparsed)
        full, bare = make_model(task, arch, tree_source="full"), make_model(make_task(unparsed))
        weights = full.state_dict()
        assert len(weights) > len(bare.state_dict())
        bare.load_state_dict({name: weights[name] for name in bare.state_dict()})
        task.load_dataset("train")
        (batch,) = prepared_text.batches(task, "train", max_sentences=99)
        assert "heads" not in batch["net_input"]
        logits = [model(**batch["net_input"])[0] for model in (full, bare)]
        torch.testing.assert_close(*logits)
    task = make_task(unparsed)
    top = make_model(task, "bert_sgnet_tiny", tree_source="full")
    task.load_dataset("train")
    (batch,) = prepared_text.batches(task, "train", max_sentences=99)
    assert top(**batch["net_input"])[0].isfinite().all()


@pytest.mark.parametrize(
    ("arch", "given", "message"),
    [
        (
            "bert_plain_tiny",
            {"tree_source": "chain"},
            "--tree-source chain: .* reads no parse tree",
        ),
        ("bert_wla_tiny", {"tree_source": "full"}, "--tree-source full: .* reads no parse tree"),
        ("bert_sla_tiny", {"feature_source": "random"}, "--feature-source random: .* no features"),
        ("bert_lisa_tiny", {"tree_source": "full"}, "has no mask; choices: shuffled"),
        ("bert_sla_tiny", {"tree_source": "gold"}, "were not given but parsed .toy 1 abc."),
        ("bert_plain_tiny", {"question_source": "shuffled"}, "--question-source shuffled: "),
        (
            "dabert_tiny",
            {"dual_control": "no-difference", "ablate": "affinity"},
            "nothing to compar",
        ),
        (
            "bert_plain_tiny",
            {"dual_control": "second-affinity"},
            "this model has no dual attention",
        ),
    ],
)
def test_controls_that_do_not_fit_are_refused(parsed, arch, given, message):
    with pytest.raises(InputError, match=message):
        make_model(make_task(parsed), arch, **given)


def test_gold_trees_are_those_that_came_with_the_text(tmp_path):
    part = {"train": examples("classes", 12)}
    how = {"annotations": ("pos", "heads"), "annotator": GIVEN}
    folder = prepared_text.prepare(tmp_path, "classes", part, **how)
    gold, own = (plain(read_with(folder, "train", tree_source=s)) for s in ("gold", "parse"))
    assert same(gold, own) == {*own[0]}


def test_models_of_an_ensemble_have_the_same_controls(parsed):
    task = make_task(parsed)
    make_model(task, "bert_sla_tiny", tree_source="chain")
    make_model(task, "bert_sla_tiny", tree_source="chain")
    with pytest.raises(InputError, match="same controls, not --tree-source chain and none"):
        make_model(task, "bert_sla_tiny")


def test_matching_from_scratch_has_controls_of_features(parsed):
    task = make_task(parsed)
    given = {"features": "pos", "feature_source": "constant"}
    cfg = OmegaConf.structured(MatchingConfig(**given))
    cfg._name = "esim_tiny"
    task.build_model(cfg)
    assert {*np.unique(np.concatenate([item["factors"] for item in items_of(task)]))} == {1, 2}


@pytest.mark.slow
def test_checkpoints_know_their_controls_and_what_they_were_given(parsed, tmp_path):
    """What was validated is what `predict` gives, and nothing else is told."""
    how = "--arch bert_sla_tiny --tree-source random --seed 5 --max-epoch 1".split()
    run = train(parsed, tmp_path / "run", *how)
    checkpoint = run / "checkpoint_last.pt"
    options = read_checkpoint(checkpoint).model
    assert (options["tree_source"], options["control_seed"]) == ("random", 5)
    found = load(checkpoint, cpu=True)
    record = {"controls": "--tree-source random (seed 5)"}
    assert found.inputs.needs.controls.record == record
    told = tmp_path / "metrics.json"
    how = {"split": "valid", "metrics": str(told), "cpu": True}
    predict_files(PredictionOptions(checkpoint=str(checkpoint), **how))
    assert json.loads(told.read_text()).items() >= record.items()
    seen = found.load_split("valid")
    wanted = read_with(parsed, tree_source="random", control_seed=5)
    assert all(
        np.array_equal(np.concatenate(seen[i]["heads"]), np.concatenate(item["heads"]))
        for i, item in enumerate(wanted)
    )
    with pytest.raises(SystemExit, match="another control: --tree-source parse .there random"):
        train(parsed, run, *"--arch bert_sla_tiny --seed 5 --max-epoch 2".split())
    assert read_checkpoint(checkpoint).model == options
    message = "trained with --tree-source random, which is drawn from a whole split"
    with pytest.raises(InputError, match=message):
        found.predict([("a cat", "the cat")])
    with pytest.raises(InputError, match="--tree-source random, a control: it is not exported"):
        export_bundle(checkpoint, tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_raw_text_has_what_follows_from_the_sentence_alone(parsed):
    task = make_task(parsed)
    given = {**FEATURES, "tree_source": "chain", "feature_source": "constant"}
    make_model(task, "bert_sla_tiny", **given)
    sides = [(encode(e.texts[0].split()), encode(e.texts[1].split()))
             for e in examples("classes", 12, 1, pairs=True)]  # fmt: skip
    raw = task.inputs.take(sides)
    taken, read = plain([raw[i] for i in range(12)]), plain(items_of(task))
    assert same(taken, [{name: item[name] for name in taken[0]} for item in read]) == {*taken[0]}


def test_each_passage_is_asked_anothers_question(questions):
    def read(**given):
        task = prepared_questions.make_task(questions)
        make_model(task, "bert_plain_tiny", **given)
        return items_of(task)

    own, other = read(), read(question_source="shuffled")
    asked = {item["passage"].question: item["tokens"] for item in own}
    changed = 0
    for a, b in zip(own, other, strict=True):
        assert a["passage"].id == b["passage"].id
        assert a["passage"].context == b["passage"].context
        assert a["passage"].answers == b["passage"].answers
        changed += a["passage"].question != b["passage"].question
        size = int(b["passage"].windows[0, 0])
        assert np.array_equal(b["tokens"][1 : 1 + size], asked[b["passage"].question][1 : 1 + size])
    assert changed > 0.7 * len(own)
    pairs = [sorted(item["passage"].question for item in items) for items in (own, other)]
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_questions_and_passages_have_controls(questions, control):
    how = {"make": prepared_questions.make_task}
    own, changed = (plain(read_with(questions, **how, **given)) for given in ({}, control))
    part = "heads" if "tree_source" in control else "factors"
    assert same(own, changed) == {*own[0]} - {part}


def rows_of(folder, split="valid", **given):
    """Return the rows of features and trees of a split of parallel text."""
    task = prepared.make_task(folder)
    prepared.make_model(task, encoder_attention="sla", **given)
    task.load_dataset(split)
    factors = task.dataset(split).factors
    return [factors[i] for i in range(len(factors))]


@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_parallel_text_has_controls(parallel, control):
    own, changed, again = (rows_of(parallel, **given) for given in ({}, control, control))
    columns = {"tree_source": [4], "feature_source": [0, 1, 2]}[next(iter(control))]
    for a, b, c in zip(own, changed, again, strict=True):
        kept = [k for k in range(5) if k not in columns]
        assert torch.equal(a[:, kept], b[:, kept])
        assert torch.equal(b, c)
        assert torch.equal(a[-1], b[-1])
    for column in columns:
        assert any(not torch.equal(a[:, column], b[:, column]) for a, b in zip(own, changed))
    default = rows_of(parallel, tree_source="parse", feature_source="given", control_seed=3)
    assert all(torch.equal(a, b) for a, b in zip(own, default))


def test_full_masks_of_translation_are_plain_attention(tmp_path):
    folder = prepared.prepare(tmp_path, {"train": prepared.random_pairs(12)})  # without parses
    how = {"dropout": 0.0, "encoder_attention": "sla,parent", "tree_source": "full"}
    task = prepared.make_task(folder)
    full, bare = prepared.make_model(task, **how), prepared.make_model(prepared.make_task(folder))
    weights = full.state_dict()
    assert len(weights) > len(bare.state_dict())
    bare.load_state_dict({name: weights[name] for name in bare.state_dict()})
    task.load_dataset("train")
    (batch,) = prepared.batches(task, "train", max_sentences=99)
    states = [model(**batch["net_input"])[0] for model in (full, bare)]
    torch.testing.assert_close(*states)


def test_raw_lines_have_what_follows_from_them_alone(parallel):
    task = prepared.make_task(parallel)
    given = {"tree_source": "chain", "feature_source": "constant", "encoder_attention": "sla"}
    prepared.make_model(task, **given)
    task.load_dataset("valid")
    lines = [source for source, _ in prepared.random_pairs(12, 1)]
    tokens, _ = task.get_interactive_tokens_and_lengths(lines, None)
    for i, row in enumerate(tokens.factors):
        assert torch.equal(row, task.dataset("valid").factors[i])


def test_translation_refuses_what_does_not_fit(parallel):
    task = prepared.make_task(parallel)
    prepared.make_model(task, feature_source="random")
    with pytest.raises(InputError, match="--feature-source random, which is drawn from a whole"):
        task.get_interactive_tokens_and_lengths(["a b"], None)
    with pytest.raises(InputError, match="same controls, not --feature-source random .seed 1. and"):
        prepared.make_model(task)
    for given, message in (
        ({"tree_source": "chain"}, "reads no parse trees"),
        ({"tree_source": "gold", "encoder_attention": "sla"}, "were not given but parsed"),
        ({"features": "none", "feature_source": "constant"}, "reads no features"),
    ):
        with pytest.raises(InputError, match=message):
            prepared.make_model(prepared.make_task(parallel), **given)


def test_parts_of_training_data_are_drawn_each_for_itself(tmp_path):
    parts = {"train": prepared.random_pairs(20), "train1": prepared.random_pairs(20)}
    folder = prepared.prepare(tmp_path, parts, parse=True)
    task = prepared.make_task(folder, upsample_primary=2)
    prepared.make_model(task, encoder_attention="sla", tree_source="random")
    task.load_dataset("train", combine=True)
    heads = [task.dataset("train").factors[i][:, 4].tolist() for i in range(60)]
    assert heads[:20] == heads[20:40] != heads[40:]
    assert [len(row) for row in heads[:20]] == [len(row) for row in heads[40:]]


def test_files_of_experiments_may_give_controls():
    """Lists are choices, as of any option."""
    given = {
        "tree-source": ["parse", "gold", "shuffled", "random", "chain", "full"],
        "feature-source": ["given", "shuffled", "random", "constant"],
        "question-source": ["given", "shuffled"],
        "dual-control": ["none", "second-affinity", "no-difference"],
        "coattention-control": ["none", "plain-layers"],
        "control-seed": 3,
    }
    check_options(given, of_training(), is_open=True)
    with pytest.raises(InputError, match="'tree-source'"):
        check_options({"tree-source": "golden"}, of_training())
