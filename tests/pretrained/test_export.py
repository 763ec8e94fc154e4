"""Our encoder as a Hugging Face directory: complete, equal, or refused."""

from __future__ import annotations

import pytest
import torch
from full_disks import full_disk
from pretrained_directories import (
    SETTINGS,
    lively_state,
    shape_of,
    vocabulary_of,
    write_directory,
)
from safetensors.torch import load_file

from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.bert import BertEncoder
from fairseq_plugins.pretrained.exporting import check_plain, export
from fairseq_plugins.pretrained.huggingface import load_state, read_config
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings


def export_to(path, state=None, shape=None, **options) -> None:
    shape = shape or shape_of()
    given = {"vocabulary": vocabulary_of("uncased"), "settings": SETTINGS, **options}
    export(path, lively_state(shape) if state is None else state, shape, **given)


@pytest.mark.parametrize("pooler", [True, False])
def test_export_and_loading_are_inverse(tmp_path, pooler) -> None:
    shape = shape_of(pooler=pooler, padding=3, activation="gelu_new", dropout=0.3, segments=1)
    path = write_directory(tmp_path / "deep" / "bert", shape)
    assert read_config(path) == shape
    state = load_state(path)
    assert all(torch.equal(state[k], v) for k, v in lively_state(shape).items())
    assert (path / "vocab.txt").read_bytes() == vocabulary_of("uncased")
    assert read_tokenizer_settings(path) == SETTINGS
    export_to(tmp_path / "again", state, shape)
    files = sorted(p.name for p in path.iterdir())
    assert files == sorted(p.name for p in (tmp_path / "again").iterdir())
    for name in files:
        assert (path / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


def test_export_leaves_the_state_alone(tmp_path) -> None:
    encoder = BertEncoder(shape_of()).half()
    before = {k: v.clone() for k, v in encoder.state_dict().items()}
    export_to(tmp_path / "bert", encoder.state_dict())
    assert all(torch.equal(before[k], v) for k, v in encoder.state_dict().items())
    stored = load_file(tmp_path / "bert" / "model.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float32}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda s: s.update({"embeddings.features.x": s["pooler.bias"]}),
            "unknown embeddings.feat",
        ),
        (lambda s: s.update({"layers.0.attention.mixer.gate": s["pooler.bias"]}), "unknown layers"),
        (lambda s: s.pop("layers.1.inner.bias"), r"missing layers\.1\.inner\.bias"),
        (lambda s: s.update({"pooler.bias": torch.zeros(5)}), r"\(5,\), expected \(12,\)"),
    ],
)
def test_what_is_no_plain_bert_is_refused(tmp_path, edit, message) -> None:
    state = lively_state(shape_of())
    edit(state)
    with pytest.raises(InputError, match=message):
        export_to(tmp_path / "bert", state)
    assert list(tmp_path.iterdir()) == []


def test_an_encoder_that_computes_something_else_is_refused() -> None:
    check_plain(BertEncoder(shape_of()))
    with pytest.raises(InputError, match="adds features .* has no place for them"):
        check_plain(BertEncoder(shape_of(), features=torch.nn.Identity()))
    encoder = BertEncoder(shape_of())
    encoder.layers[1].attention.mixer = torch.nn.Identity()  # has no parameters, yet differs
    with pytest.raises(InputError, match="layer 1 attends by Identity"):
        check_plain(encoder)
    encoder = BertEncoder(shape_of())
    encoder.layers[1].attention.dual = torch.nn.Identity()
    with pytest.raises(InputError, match="layer 1 has dual attention"):
        check_plain(encoder)
    encoder.layers[0].attention.mixer.similar = True
    with pytest.raises(InputError, match="layer 0 attends by the similarity of words"):
        check_plain(encoder)


def test_a_vocabulary_larger_than_its_table_is_refused(tmp_path) -> None:
    vocabulary = vocabulary_of("uncased")
    vocabulary += b"x\n" * (25 - vocabulary.count(b"\n"))
    with pytest.raises(InputError, match="25 subwords, the encoder 24 embeddings"):
        export_to(tmp_path / "bert", vocabulary=vocabulary)
    assert list(tmp_path.iterdir()) == []


def test_a_taken_directory_is_left_alone(tmp_path) -> None:
    path = tmp_path / "bert"
    path.mkdir()
    export_to(path)  # an empty one is no loss
    before = {p.name: p.read_bytes() for p in path.iterdir()}
    with pytest.raises(InputError, match="bert is there already"):
        export_to(path, lively_state(shape_of(layers=1)), shape_of(layers=1))
    assert {p.name: p.read_bytes() for p in path.iterdir()} == before


@pytest.mark.parametrize("most", [0, 100, 3000])
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, most) -> None:
    with full_disk(most), pytest.raises(OSError, match="could not be written|File too large"):
        export_to(tmp_path / "bert")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["uncased", "cased"])
def test_transformers_reads_what_is_exported(tmp_path, kind) -> None:
    transformers = pytest.importorskip("transformers")
    shape = shape_of(positions=40)
    lowercase = kind == "uncased"
    settings = {"lowercase": lowercase, "strip_accents": lowercase, "chinese_characters": True}
    path, vocabulary = tmp_path / "bert", vocabulary_of(kind)
    export_to(path, shape=shape, vocabulary=vocabulary, settings=settings)
    model, report = transformers.BertModel.from_pretrained(path, output_loading_info=True)
    assert not any(report.values())
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    reference = transformers.BertTokenizer(vocab=str(path / "vocab.txt"), do_lower_case=lowercase)
    texts = ["The cats Run!", "résumé Résumé 東京", "[SEP] x"]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    assert torch.equal(
        batch["input_ids"], reference(texts, padding=True, return_tensors="pt")["input_ids"]
    )
    assert tokenizer.model_max_length == 40
    encoder = BertEncoder(shape).eval()
    encoder.load_state_dict(lively_state(shape))
    mask = batch["attention_mask"].bool()
    with torch.no_grad():
        theirs = model.eval()(**batch).last_hidden_state[mask]
        ours = encoder(batch["input_ids"]).rows
    assert (theirs - ours).abs().max() < 1e-5
