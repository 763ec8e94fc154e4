"""Heads in Hugging Face directories: transformers loads them whole and computes what we compute."""

from __future__ import annotations

import json

import pytest
import torch
from exported_models import LABELS, PAIRS, SINGLE, batch_of, logits_of, small_model

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.export import FORMATS
from fairseq_plugins.inference.options import BUNDLE, ENCODER, EXPORTS, HUGGINGFACE
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.pretrained.huggingface import load_state, read_config

transformers = pytest.importorskip("transformers")

AUTO = {
    "classes": "AutoModelForSequenceClassification",
    "score": "AutoModelForSequenceClassification",
    "multi_label": "AutoModelForSequenceClassification",
    "word_labels": "AutoModelForTokenClassification",
    "spans": "AutoModelForQuestionAnswering",
}
TOKENS = ("word_labels", "spans")
BATCHES = [SINGLE, SINGLE[:1], PAIRS, PAIRS[1:2]]
DEFAULTS = dict.fromkeys(("electra", "deberta-v2", "modernbert"), "gelu") | {"distilbert": "relu"}
# without words and answers of ModernBERT, which transformers computes otherwise
EVERY = [(f, t) for f in FAMILIES for t in LABELS if f != "modernbert" or t not in TOKENS]


def theirs_of(path, target):
    """Load a directory by transformers, which must find exactly what it wants."""
    model, report = getattr(transformers, AUTO[target]).from_pretrained(
        path, output_loading_info=True
    )
    assert not any(report.values()), report
    return model.eval(), transformers.AutoTokenizer.from_pretrained(path)


def logits_of_theirs(model, tokenizer, texts, target):
    """Return their logits, laid out as ours are, and the ids."""
    sides = [texts] if isinstance(texts[0], str) else list(map(list, zip(*texts)))
    batch = tokenizer(*sides, padding=True, return_tensors="pt")
    real = batch["attention_mask"].bool()
    with torch.no_grad():
        out = model(**batch)
    if target == "spans":
        return torch.stack([out.start_logits, out.end_logits], -1)[real], batch["input_ids"]
    return out.logits[real] if target == "word_labels" else out.logits, batch["input_ids"]


@pytest.mark.parametrize(("family", "target"), EVERY)
def test_transformers_computes_what_we_compute(tmp_path, family, target) -> None:
    task, model = small_model(tmp_path / "model", family, target)
    FORMATS[HUGGINGFACE](tmp_path / "out", task, model)
    theirs, tokenizer = theirs_of(tmp_path / "out", target)
    seen = []
    for texts in BATCHES[:2] if target == "word_labels" else BATCHES:
        batch = batch_of(task, texts)
        found, ids = logits_of_theirs(theirs, tokenizer, texts, target)
        assert torch.equal(ids, batch["src_tokens"])
        wanted = logits_of(task, model, batch)
        assert found.shape == wanted.shape
        assert (found - wanted).abs().max() < 1e-5
        seen.append(wanted)
    assert seen[0].std(0).min() > 1e-3  # of rows that differ


@pytest.mark.parametrize("family", FAMILIES)
def test_the_configuration_names_labels_and_problem(tmp_path, family) -> None:
    found = {}
    for target in [target for one, target in EVERY if one == family]:
        given = {} if target == "spans" else {"classifier_dropout": 0.25}
        task, model = small_model(tmp_path / f"{target}-model", family, target, **given)
        FORMATS[HUGGINGFACE](tmp_path / target, task, model)
        found[target] = transformers.AutoConfig.from_pretrained(tmp_path / target)
    assert found["classes"].id2label == {0: "no", 1: "yes", 2: "maybe"}
    assert found["classes"].label2id == {"no": 0, "yes": 1, "maybe": 2}
    assert found["score"].num_labels == 1
    problems = {name: getattr(one, "problem_type", None) for name, one in found.items()}
    assert problems["classes"] == "single_label_classification"
    assert problems["multi_label"] == "multi_label_classification"
    assert problems["score"] == "regression"
    assert [*found["multi_label"].label_thresholds] == [0.5] * 3
    assert not hasattr(found["classes"], "label_thresholds")
    kinds = {name: AUTO[name].replace("AutoModel", FAMILIES[family].title) for name in found}
    assert {name: one.architectures[0] for name, one in found.items()} == kinds
    if "word_labels" in found:
        assert found["word_labels"].id2label == {0: "O", 1: "B-PER"}
        assert problems["word_labels"] is problems["spans"] is None
    key = {"albert": "classifier_dropout_prob", "distilbert": "seq_classif_dropout"}
    key["deberta-v2"] = "cls_dropout"
    assert getattr(found["classes"], key.get(family, "classifier_dropout")) == 0.25


@pytest.mark.parametrize(("family", "target"), EVERY)
def test_a_directory_with_a_head_is_a_start_again(tmp_path, family, target) -> None:
    task, model = small_model(tmp_path / "model", family, target)
    FORMATS[HUGGINGFACE](tmp_path / "out", task, model)
    again, state = load_state(tmp_path / "out"), model.encoder.state_dict()
    assert all(torch.equal(state[name], value) for name, value in again.items())
    own = family in ("bert", "albert") and target not in TOKENS
    assert read_config(tmp_path / "out").pooler == own
    left = {name for name in state if name.startswith("pooler")}
    assert state.keys() - again.keys() == (set() if own else left)
    tuned, _ = small_model(tmp_path / "model", family, target)
    _, other = small_model(tmp_path / "model", family, target, pretrained=tmp_path / "out")
    other.load_pretrained(str(tmp_path / "out"), tuned.source_dictionary.vocabulary)
    assert all(torch.equal(other.encoder.state_dict()[name], again[name]) for name in again)


@pytest.mark.parametrize("target", TOKENS)
def test_heads_of_tokens_that_a_family_computes_otherwise_are_refused(tmp_path, target) -> None:
    task, model = small_model(tmp_path / "model", "modernbert", target)
    with pytest.raises(InputError, match="one map of every token's state; that of modernbert in"):
        FORMATS[HUGGINGFACE](tmp_path / "out", task, model)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_encoder_alone_is_a_format_as_well(tmp_path, family) -> None:
    task, model = small_model(tmp_path / "model", family)
    FORMATS[ENCODER](tmp_path / "out", task, model)
    theirs, report = transformers.AutoModel.from_pretrained(
        tmp_path / "out", output_loading_info=True
    )
    assert not report["unexpected_keys"]
    batch = batch_of(task, PAIRS)
    given = {"token_type_ids": batch["segments"]} if model.encoder.shape.sides else {}
    real = batch["src_tokens"].ne(task.source_dictionary.pad())
    with torch.no_grad():
        found = theirs.eval()(batch["src_tokens"], attention_mask=real.long(), **given)
        rows = model.encoder(batch["src_tokens"], batch["segments"]).rows
    assert (found.last_hidden_state[real] - rows).abs().max() < 1e-5
    assert "id2label" not in json.loads((tmp_path / "out" / "config.json").read_text())


@pytest.mark.parametrize("family", FAMILIES)
def test_new_classifiers_have_the_activation_of_their_family(tmp_path, family) -> None:
    task, model = small_model(tmp_path / "model", family)
    assert model.encoder.shape.pooler_activation == DEFAULTS.get(family, "tanh")
    other = {"tanh": "relu", "gelu": "tanh", "relu": "tanh"}[DEFAULTS.get(family, "tanh")]
    _, changed = small_model(tmp_path / "model", family, pooler_activation=other)
    batch = batch_of(task, SINGLE)
    assert not torch.allclose(*(logits_of(task, one, batch) for one in (model, changed)))
    message = f"has {other} behind its first map; that of {family} in transformers has "
    with pytest.raises(InputError, match=message):
        FORMATS[HUGGINGFACE](tmp_path / "out", task, changed)
    assert not (tmp_path / "out").exists()
    FORMATS[ENCODER](tmp_path / "out", task, changed)


@pytest.mark.parametrize("target", ["word_labels", "spans"])
def test_heads_without_a_pooler_hang_on_no_activation_of_one(tmp_path, target) -> None:
    task, model = small_model(tmp_path / "model", "electra", target, pooler_activation="tanh")
    FORMATS[HUGGINGFACE](tmp_path / "out", task, model)
    assert (tmp_path / "out").is_dir()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"span_head": "separate"}, "has a layer each for start and end"),
        ({"coattention_blocks": 1}, "has coattention"),
        ({"span_inputs": "layers"}, "reads the states of several layers"),
    ],
)
@pytest.mark.parametrize("form", [HUGGINGFACE, "onnx"])
def test_other_heads_of_answers_are_refused(tmp_path, given, message, form) -> None:
    task, model = small_model(tmp_path / "model", "bert", "spans", **given)
    with pytest.raises(InputError, match=f"what finds its answers {message}"):
        FORMATS[form](tmp_path / "out", task, model)
    assert not (tmp_path / "out").exists()


def test_judging_answerability_is_no_part_of_the_logits(tmp_path) -> None:
    task, model = small_model(tmp_path / "model", "bert", "spans", answerability_loss_weight=0.5)
    FORMATS[HUGGINGFACE](tmp_path / "out", task, model)
    theirs, tokenizer = theirs_of(tmp_path / "out", "spans")
    found, _ = logits_of_theirs(theirs, tokenizer, PAIRS, "spans")
    assert (found - logits_of(task, model, batch_of(task, PAIRS))).abs().max() < 1e-5


def test_every_format_is_a_choice() -> None:
    assert (BUNDLE, *FORMATS) == EXPORTS
