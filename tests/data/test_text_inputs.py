"""The input of models of texts: which folders and options are refused, how long a row may be."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from prepared_text import dictionary, examples, prepare

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_inputs import InputOptions, TextInputs
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.controls import Controls
from fairseq_plugins.syntax.needs import Needs
from fairseq_plugins.targets.table import TARGETS

SIZES = {"max_positions": 384, "doc_stride": 128, "max_query_length": 64}
SIMILAR = Needs(layers=("similarity",), pairs=True)


def inputs(target="classes", sentences=2, levels=0, **options):
    """Make the inputs of a folder that is nowhere."""
    known = {
        "task": TARGETS[target].task,
        "target": target,
        "sentences": sentences,
        "levels": levels,
    }
    known["windows"] = SIZES if target == "spans" else {}
    known |= dict.fromkeys(("dataset", "positive", "metric"), "") | {"labels": []}
    known |= {"tokenizer": {}, "tokenize": "whitespace"}
    manifest = TextManifest(annotations=["pos", "heads", "similarity"], **known)
    return TextInputs("folder", manifest, dictionary().vocabulary, InputOptions(**options))


@pytest.mark.parametrize("target", ["spans", "entities"])
@pytest.mark.parametrize("training", [True, False])
def test_questions_are_compared_with_nothing(target, training):
    with pytest.raises(
        InputError, match=f"--task {TARGETS[target].task} does not take models that"
    ):
        inputs(target).check(SIMILAR, training=training)
    inputs(target).check(Needs(layers=("heads",)), training=training)
    inputs().check(SIMILAR, training=training)


def test_a_sentence_that_is_asked_of_counts_as_a_pair():
    needs = Needs(pairs=True)
    inputs("entities", sentences=1).check(needs, training=True)
    with pytest.raises(InputError, match="compares the two sentences of a pair"):
        inputs(sentences=1).check(needs, training=True)


def test_only_training_wants_trees_that_were_given():
    needs = Needs(layers=("heads",), controls=Controls(trees="gold"))
    inputs().check(needs, training=False)
    with pytest.raises(InputError, match="--tree-source gold: the heads of folder were not given"):
        inputs().check(needs, training=True)


def test_a_task_has_some_of_the_options():
    cfg = SimpleNamespace(n_best=3, long_examples="split", entities=None, unread=1)
    assert InputOptions.of(cfg) == InputOptions(n_best=3, long_examples="split")
    with pytest.raises(InputError, match="--null-threshold nan: must be a number"):
        InputOptions.of(SimpleNamespace(null_threshold=float("nan")))


@pytest.mark.parametrize(
    ("target", "sentences", "least"),
    [("classes", 1, 3), ("classes", 2, 5), ("spans", 2, 5), ("entities", 1, 5)],
)
def test_a_row_has_room_for_a_piece_of_each_text(target, sentences, least):
    assert inputs(target, sentences, max_positions=least).limit == least
    with pytest.raises(InputError, match=f"--max-positions {least - 1}: must be at least {least}"):
        inputs(target, sentences, max_positions=least - 1)


@pytest.mark.parametrize(
    ("target", "refused"),
    [
        ("word_labels", "truncate"),
        ("entities", "truncate"),
        ("classes", "split"),
        ("score", "split"),
    ],
)
def test_long_examples_are_read_as_their_target_allows(target, refused):
    others = [how for how in ("error", "truncate", "split") if how != refused]
    for how in others:
        assert inputs(target, long_examples=how).form(learning=True).long_examples == how
    with pytest.raises(InputError, match=f"{refused}: choices are {', '.join(others)}$"):
        inputs(target, long_examples=refused)


def test_windows_are_the_folders_unless_the_options_say_otherwise():
    form = inputs("spans").form(learning=False)
    assert (form.limit, form.stride, form.longest_question) == (384, 128, 64)
    assert form.long_examples == "windows"
    sizes = {"max_positions": 9, "doc_stride": 5, "max_query_length": 7}
    form = inputs("spans", **sizes).form(learning=False)
    assert (form.limit, form.stride, form.longest_question) == (9, 5, 7)


def test_an_ensemble_reads_no_more_than_its_shortest_model():
    several = inputs()
    for positions, limit in ((512, 512), (128, 128), (256, 128)):
        several.serve(Needs(layers=("heads",)), positions)
        form = several.form(learning=False)
        assert form.limit == form.positions == several.limit == limit
    asked = inputs(max_positions=100)
    asked.serve(Needs(), 512)
    assert (asked.limit, asked.form(learning=False).positions) == (100, 512)
    with pytest.raises(InputError, match="--max-positions 100: the model has only 99"):
        asked.serve(Needs(), 99)


def test_an_ensemble_reads_what_any_of_its_models_reads():
    several = inputs()
    several.serve(Needs(features=("pos",)), 9)
    several.serve(Needs(features=("pos",), layers=("heads",), words=True), 9)
    form = several.form(learning=False)
    assert (form.layers, form.words) == (("pos", "heads"), True)
    with pytest.raises(InputError, match="must read the same features"):
        several.serve(Needs(), 9)


@pytest.mark.parametrize(
    ("levels", "option", "overlap"),
    [(0, None, "flat"), (1, None, "flat"), (2, None, "nested"), (2, "flat", "flat")],
)
def test_entities_overlap_where_the_folder_has_levels(levels, option, overlap):
    assert inputs("entities", levels=levels, entities=option).overlap == overlap


def test_only_examples_that_are_cut_are_told(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    folder = prepare(tmp_path / "data", "classes", {"train": examples("classes", 5)})
    manifest, vocabulary = read_manifest(folder, TextManifest), dictionary().vocabulary
    for most, told in ((None, 0), (4, 1)):
        how = InputOptions(max_positions=most, long_examples="truncate")
        dataset = TextInputs(folder, manifest, vocabulary, how).read("train", learning=True)
        assert dataset.unreachable == 0
        lines = [line for line in caplog.messages if line.startswith(f"{folder} train: ")]
        assert len(lines) == told == (dataset.refitted > 0)
    assert f"{dataset.refitted} of 5 examples are longer than 4 tokens" in lines[0]
