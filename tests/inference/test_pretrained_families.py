"""Weights of every family: from a pretrained directory through training back to a directory."""

from __future__ import annotations

import json

import pytest
import torch
from family_directories import FORMS, family_of
from family_encoders import SIZES, save_fairseq, save_theirs
from prepared_text import train
from raw_datasets import write_raw
from raw_text import RuleParser, text_options

from fairseq_plugins.inference.export import export_checkpoint as export
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.prep.recipes import text
from fairseq_plugins.pretrained.huggingface import load_state, read_config
from fairseq_plugins.text import text_encoder

transformers = pytest.importorskip("transformers")

FLAGS = "--batch-size 3 --no-epoch-checkpoints --save-interval-updates 2".split()
FLAGS += ["--hidden-size", str(SIZES["hidden"]), "--intermediate-size", str(SIZES["intermediate"])]
QUICK = ("roberta of fairseq", "albert")


@pytest.fixture(autouse=True)
def _rule(monkeypatch) -> None:
    """Put a rule where spaCy is loaded, to prepare and to predict."""
    monkeypatch.setattr(text, "load_annotator", lambda *_: RuleParser())
    monkeypatch.setattr(text_encoder, "reopen_annotator", lambda *_: RuleParser())


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [form if form in QUICK else pytest.param(form, marks=pytest.mark.long) for form in FORMS],
)
def test_a_checkpoint_is_tuned_resumed_read_and_exported(tmp_path, form) -> None:
    pretrained = FORMS[form](tmp_path / "model")
    save_fairseq(pretrained) if "fairseq" in form else save_theirs(pretrained, family_of(form))
    write_raw("cola", tmp_path, count=8)
    folder = tmp_path / "data"
    text.prepare(text_options(tmp_path, "data", dataset="cola", pretrained=pretrained))
    start = ("--pretrained", str(pretrained), *FLAGS)
    train(folder, tmp_path / "straight", *start, "--max-update", "4")
    train(folder, tmp_path / "run", *start, "--max-update", "2")
    for file in pretrained.iterdir():
        if file.suffix in (".safetensors", ".pt"):
            file.rename(tmp_path / file.name)  # a checkpoint needs it no more
    predictor = load(tmp_path / "run", checkpoint="checkpoint_last.pt", cpu=True)
    (tuned,) = predictor.models
    for file in tmp_path.glob("model*.*"):
        file.rename(pretrained / file.name)
    train(folder, tmp_path / "run", *start, "--max-update", "4")
    paths = [tmp_path / name / "checkpoint_last.pt" for name in ("straight", "run")]
    first, second = (torch.load(path, weights_only=False)["model"] for path in paths)
    assert all(torch.equal(first[name], second[name]) for name in first)
    began = load_state(pretrained)
    assert isinstance(tuned, BertModel)
    moved = {name: tuned.encoder.state_dict()[name] - value for name, value in began.items()}
    assert 0 < max(float(change.abs().max()) for change in moved.values()) < 0.1
    out = tmp_path / "out"
    export(tmp_path / "run" / "checkpoint_last.pt", out, form="huggingface")
    last = load(tmp_path / "run", checkpoint="checkpoint_last.pt", cpu=True).models[0].encoder
    assert all(torch.equal(last.state_dict()[name], v) for name, v in load_state(out).items())
    assert read_config(out).positions == last.shape.positions
    assert_predicts_the_same(out, tmp_path / "run")
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    theirs = transformers.AutoModel.from_pretrained(out).eval()
    for row in map(json.loads, (folder / "valid.examples.jsonl").open(encoding="utf-8")):
        batch = tokenizer(row["texts"][0], return_tensors="pt")
        with torch.no_grad():
            states = theirs(**batch).last_hidden_state[0]
            assert (last(batch["input_ids"]).rows - states).abs().max() < 1e-5


def assert_predicts_the_same(out, run) -> None:
    """Raw texts get the same probabilities from transformers' classifier, by name."""
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(out).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    texts = ["The small dog rose.", "A dog", "Can the dog not?"]
    with torch.no_grad():
        logits = theirs(**tokenizer(texts, padding=True, return_tensors="pt")).logits
    predictor = load(run, checkpoint="checkpoint_last.pt", cpu=True)
    for one, row in zip(predictor.predict(texts), logits.double().softmax(-1).tolist()):
        found = {theirs.config.id2label[i]: share for i, share in enumerate(row)}
        assert one.probabilities == pytest.approx(found, abs=1e-5)
