"""The text tasks give models the words and heads they read, and no others; what is refused."""

from __future__ import annotations

import pytest
import torch
from omegaconf import OmegaConf
from prepared_text import SIZES, batches, encode, examples, make_model, make_task, prepare

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.errors import InputError
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.syntax.rows import Rows

PARSED = {"annotations": ("pos", "heads")}
KINDS = {"bert_plain": (), "bert_wla": ("word_of",), "bert_sla": ("heads", "word_of")}


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    splits = {"train": examples("classes", 12, pairs=True)}
    return prepare(tmp_path_factory.mktemp("parsed"), "classes", splits, **PARSED)


@pytest.fixture(scope="module")
def unparsed(tmp_path_factory):
    splits = {"train": examples("classes", 12, pairs=True)}
    return prepare(tmp_path_factory.mktemp("unparsed"), "classes", splits)


def only_batch(task):
    task.load_dataset("train")
    (batch,) = batches(task, "train", max_sentences=99)
    return batch


def syntax_of(task):
    """Return what a batch says of words and heads."""
    return {*only_batch(task)["net_input"]} & {"word_of", "heads"}


@pytest.mark.parametrize("kind", KINDS)
def test_models_get_what_they_read(parsed, kind):
    task = make_task(parsed)
    model = make_model(task, f"{kind}_tiny")
    batch = only_batch(task)
    assert {*batch["net_input"]} & {"word_of", "heads"} == {*KINDS[kind]}
    assert len(model(**batch["net_input"])[0]) == 12


@pytest.mark.parametrize(
    "kind", ["bert_sla", "bert_wla", "bert_lisa", "bert_sgnet", "bert_syntax_masks"]
)
def test_a_batch_without_words_is_read(tmp_path, kind):
    """Alone or beside others, a text of which nothing is left gives the same answer."""
    given = [Example("0", ("",), label="no"), *examples("classes", 2)]
    task = make_task(prepare(tmp_path, "classes", {"train": given}, **PARSED))
    model = make_model(task, f"{kind}_tiny")
    task.load_dataset("train")
    answers = []
    for count in (1, 3):
        found = {}
        for batch in batches(task, "train", max_sentences=count):
            found |= zip(batch["id"].tolist(), model(**batch["net_input"])[0])
        answers.append(found[0])
    torch.testing.assert_close(*answers)


@pytest.mark.parametrize("order", [["bert_sla", "bert_plain"], ["bert_plain", "bert_sla"]])
def test_ensemble_gets_what_any_of_it_reads(parsed, order):
    task = make_task(parsed)
    models = [make_model(task, f"{kind}_tiny") for kind in [*order, "bert_wla"]]
    inputs = only_batch(task)["net_input"]
    assert {"word_of", "heads"} <= {*inputs}
    plain = models[order.index("bert_plain")]
    assert torch.equal(plain(**inputs)[0], plain(**without_syntax(inputs))[0])
    assert all(len(model(**inputs)[0]) == 12 for model in models)


def without_syntax(inputs):
    return {name: value for name, value in inputs.items() if name not in ("word_of", "heads")}


def test_trees_reach_the_answer(parsed):
    """The stored trees, not any: others, all words roots, give another answer."""
    task = make_task(parsed)
    model = make_model(task, "bert_sla_tiny", tree_threshold=1)
    for weight in model.parameters():
        weight.data *= 5  # attention that tells keys apart
    inputs = only_batch(task)["net_input"]
    own = torch.arange(inputs["heads"].size(1)).expand_as(inputs["heads"])
    assert not torch.equal(inputs["heads"], own)
    assert not torch.allclose(model(**inputs)[0], model(**{**inputs, "heads": own})[0])


@pytest.mark.parametrize("kind", ["classes", "errors"])
def test_raw_text_is_parsed_as_the_prepared_split(tmp_path, kind):
    """Long examples included, which take windows or are shortened."""
    pairs = kind == "classes"
    given = examples(kind, 15, pairs=pairs)
    folder = prepare(tmp_path, kind, {"train": given}, **PARSED)
    long = "truncate" if pairs else "split"
    task = make_task(folder, max_positions=9, long_examples=long)
    make_model(task, "bert_sla_tiny")
    prepared = only_batch(task)["net_input"]
    raw = [[encode(text.split()) for text in e.texts] for e in given]
    dataset = task.inputs.take(raw)
    assert dataset.items.refitted
    found = dataset.collater([dataset[i] for i in range(15)])["net_input"]
    assert {*found} == {*prepared} >= {"word_of", "heads"}
    found, prepared = (by_row(inputs) for inputs in (found, prepared))
    assert found == prepared


def by_row(inputs):
    """Return rows of a batch whatever their order."""
    names = ("src_tokens", "word_of", "heads")
    return sorted(zip(*(inputs[name].tolist() for name in names)))


def test_raw_text_without_a_parse_is_refused(parsed):
    task = make_task(parsed)
    make_model(task, "bert_sla_tiny")
    sides = [encode(["by"]), encode(["night"])]
    del sides[1].layers["heads"]
    message = "example line 7 was not parsed, .* prepare the folder with --layers pos,heads"
    with pytest.raises(InputError, match=message):
        task.inputs.take([sides], ["line 7"])


@pytest.mark.parametrize("arch", ["bert_sla_tiny", "bert_lisa_tiny", "bert_sgnet_tiny"])
def test_folder_without_parses_says_how_to_prepare_it(unparsed, arch):
    with pytest.raises(InputError, match="prepare it with --layers pos,heads.* by --train-conllu "):
        make_model(make_task(unparsed), arch)
    for kind in ("bert_plain", "bert_wla"):
        task = make_task(unparsed)
        make_model(task, f"{kind}_tiny")
        assert syntax_of(task) == {*KINDS[kind]}


def saved_config(folder, arch):
    """Return a model's options as a checkpoint holds them."""
    cfg = OmegaConf.structured(BertConfig(**SIZES))
    cfg._name = arch
    make_task(folder).build_model(cfg)
    return OmegaConf.create(OmegaConf.to_container(cfg, enum_to_str=True))


def test_checkpoint_that_reads_trees_needs_a_folder_with_them(parsed, unparsed):
    saved = saved_config(parsed, "bert_sla_tiny")
    make_task(parsed).build_model(saved.copy(), from_checkpoint=True)
    message = f"{unparsed} was prepared without: prepare it with --layers pos,heads"
    with pytest.raises(InputError, match=message):
        make_task(unparsed).build_model(saved.copy(), from_checkpoint=True)


def test_supervised_heads_need_no_parse_to_predict(parsed, unparsed):
    """Only to learn; the answers are the same with and without."""
    saved = saved_config(parsed, "bert_lisa_tiny")
    tasks = [make_task(folder) for folder in (parsed, unparsed)]
    torch.manual_seed(1)
    model = tasks[0].build_model(saved.copy(), from_checkpoint=True).eval()
    tasks[1].build_model(saved.copy(), from_checkpoint=True)
    given = examples("classes", 12, pairs=True)
    raw = [[encode(text.split()) for text in e.texts] for e in given]
    for sides in raw:
        del sides[0].layers["heads"]
    answers = [model(**only_batch(tasks[0])["net_input"])[0]]
    for task in tasks:
        for dataset in (task.inputs.read("train", learning=False), task.inputs.take(raw)):
            inputs = dataset.collater([dataset[i] for i in range(12)])["net_input"]
            assert "heads" not in inputs
            answers.append(model(**inputs)[0])
    assert all(torch.equal(found, answers[1]) for found in answers[2:])
    torch.testing.assert_close(answers[0].sort(0)[0], answers[1].sort(0)[0])
    with pytest.raises(InputError, match=f"{unparsed} was prepared without: prepare it with"):
        tasks[1].load_dataset("train")


@pytest.mark.parametrize(("kind", "warned"), [("bert_sla", True), ("bert_wla", False)])
def test_trees_of_another_annotator_are_told_once(parsed, tmp_path, caplog, kind, warned):
    saved = saved_config(parsed, f"{kind}_tiny")
    splits = {"train": examples("classes", 3, pairs=True)}
    other = prepare(tmp_path, "classes", splits, annotator={"name": "other"}, **PARSED)
    for folder, expected in ((parsed, 0), (other, int(warned))):
        task = make_task(folder)
        caplog.clear()
        for _ in range(2):
            task.build_model(saved.copy(), from_checkpoint=True)
        found = [r for r in caplog.records if "ANOTHER ANNOTATOR" in r.getMessage()]
        assert len(found) == expected


def test_damaged_trees_are_refused_before_training(tmp_path):
    folder = prepare(tmp_path, "errors", {"train": examples("errors", 6)}, **PARSED)
    rows = [row.tolist() for row in Rows.read(folder / "train.heads0")]
    write_stream(folder / "train.heads0", [*rows[:5], [len(rows[5]) + 1] * len(rows[5])], 600)
    task = make_task(folder)
    make_model(task, "bert_sla_tiny")
    with pytest.raises(InputError, match=r"train\.heads0: example 6: word 1 has head .* again"):
        task.load_dataset("train")
    plain = make_task(folder)
    make_model(plain)
    plain.load_dataset("train")
