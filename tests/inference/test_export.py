"""From a checkpoint of ours to a Hugging Face directory, in Python and by the script."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import torch
from cli import shims
from fairseq import tasks
from fairseq.dataclass.configs import FairseqConfig
from omegaconf import OmegaConf
from pretrained_directories import SETTINGS, vocabulary_of, write_directory
from safetensors.torch import load_file

from fairseq_plugins.cli.main import main
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.export import export_checkpoint as export
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.pretrained.huggingface import load_state, read_config
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings

SCRIPT = "export"
HF = "huggingface"
SIZES = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
}


def prepare(folder: Path, kind: str, target: str) -> Path:
    folder.mkdir()
    (folder / "vocab.txt").write_bytes(vocabulary_of(kind))
    (folder / "labels.txt").write_text("no\nyes\n")
    tagging = target == "word_labels"
    TextManifest(
        dataset="toy",
        task="sequence_labeling" if tagging else "text_classification",
        target=target,
        labels=["no", "yes"],
        positive="yes",
        metric="f1",
        sentences=1,
        tokenizer={**SETTINGS, "lowercase": kind == "uncased"},
        tokenize="whitespace",
        annotations=["pos", "heads"],
    ).save(folder)
    return folder


def checkpoint(
    folder: Path, arch="bert_plain", kind="uncased", target="classes", **options
) -> tuple[Path, dict[str, torch.Tensor]]:
    """Save a random model of a task as fairseq does; return the file and its parameters."""
    data = prepare(folder / "data", kind, target)
    name = "sequence_labeling" if target == "word_labels" else "text_classification"
    cfg = OmegaConf.create(OmegaConf.to_container(OmegaConf.structured(FairseqConfig())))
    cfg.task = {"_name": name, "data": str(data), "max_positions": None, "positive_label": None}
    cfg.model = OmegaConf.structured(BertConfig(**{**SIZES, "pretrained": "none", **options}))
    OmegaConf.set_struct(cfg, False)
    cfg.model._name = arch
    task = tasks.setup_task(cfg.task)
    torch.manual_seed(3)
    model = task.build_model(cfg.model)
    state = {name: torch.randn_like(tensor) for name, tensor in model.state_dict().items()}
    saved = {"cfg": OmegaConf.to_container(cfg, enum_to_str=True), "model": state}
    history = {
        "optimizer_history": [{"num_updates": 1, "lr_scheduler_state": {}}],
        "extra_state": {},
        "args": None,
    }
    torch.save({**saved, **history}, folder / "checkpoint_best.pt")
    return folder / "checkpoint_best.pt", state


@pytest.mark.parametrize(
    ("arch", "kind"),
    [("bert_plain", "uncased"), ("bert_plain", "cased"), ("bert_lisa", "uncased")],
)
@pytest.mark.parametrize("target", ["classes", "word_labels"])
def test_export_writes_the_encoder_and_its_vocabulary(tmp_path, arch, kind, target) -> None:
    """A supervised head (LISA) is BERT's own."""
    path, state = checkpoint(tmp_path, arch, kind=kind, target=target, layer_norm_eps=1e-4)
    out = tmp_path / "out" / "bert"
    export(path.parent, out, form=HF)
    shape = read_config(out)
    assert (shape.layers, shape.heads, shape.norm_epsilon) == (2, 3, 1e-4)
    assert shape.pooler == (target == "classes")  # a tagger has none
    expected = {k.removeprefix("encoder."): v for k, v in state.items() if k.startswith("encoder.")}
    loaded = load_state(out)
    assert loaded.keys() == expected.keys()
    assert all(torch.equal(loaded[name], expected[name]) for name in expected)
    assert (out / "vocab.txt").read_bytes() == vocabulary_of(kind)
    assert read_tokenizer_settings(out)["lowercase"] is (kind == "uncased")


def test_a_checkpoint_that_started_from_a_directory_needs_it_no_more(tmp_path) -> None:
    start = write_directory(tmp_path / "start")
    path, state = checkpoint(tmp_path, pretrained=str(start), num_hidden_layers=2)
    for file in start.iterdir():
        file.unlink()
    export(path, tmp_path / "out", form=HF)
    words = load_state(tmp_path / "out")["embeddings.words.weight"]
    assert torch.equal(words, state["encoder.embeddings.words.weight"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "message"),
    [
        ("bert_pos", "the encoder adds features"),
        ("bert_sla", "layer 0 attends by LocalMixer"),
        ("bert_wla", "layer 0 attends by LocalMixer"),
        ("bert_syntax_masks", "layer 0 attends by LocalMixer"),
        ("bert_sgnet", "the encoder has syntax-guided layers on top"),
    ],
)
def test_a_model_that_is_more_than_bert_is_refused(tmp_path, arch, message) -> None:
    path, _ = checkpoint(tmp_path, arch)
    with pytest.raises(InputError, match=rf"checkpoint_best\.pt: {message}"):
        export(path, tmp_path / "out", form=HF)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("target", ["classes", "word_labels"])
def test_of_a_model_with_semantic_layers_the_encoder_alone_is_written(tmp_path, target) -> None:
    path, state = checkpoint(tmp_path, "bert_sembert", target=target, semantic_layers="pos,case")
    for form in (HF, "onnx"):
        with pytest.raises(InputError, match=r"best\.pt: semantic layers .* a bundle holds"):
            export(path, tmp_path / "out", form=form)
    export(path, tmp_path / "out", form="huggingface-encoder")
    words = load_state(tmp_path / "out")["embeddings.words.weight"]
    assert torch.equal(words, state["encoder.embeddings.words.weight"])


def test_a_taken_place_and_several_checkpoints_are_refused(tmp_path) -> None:
    path, _ = checkpoint(tmp_path)
    with pytest.raises(InputError, match="data is there already"):
        export(path, tmp_path / "data", form=HF)
    with pytest.raises(InputError, match="2 checkpoints were given"):
        export(f"{path}:{path}", tmp_path / "out", form=HF)


def run_script(monkeypatch, *arguments) -> int:
    return main([*SCRIPT.split(), *map(str, arguments)])


def test_the_script_exports(tmp_path, monkeypatch) -> None:
    path, _ = checkpoint(tmp_path)
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    assert (
        run_script(monkeypatch, path, "--output", tmp_path / "out", "--data", moved, "--format", HF)
        == 0
    )
    assert read_config(tmp_path / "out").hidden == 12
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "config.json",
        "model.safetensors",
        "special_tokens_map.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]


@pytest.mark.parametrize("form", ["huggingface", "huggingface-encoder"])
def test_the_script_writes_the_format_that_is_asked_for(tmp_path, monkeypatch, form) -> None:
    path, state = checkpoint(tmp_path)
    assert run_script(monkeypatch, path, "--output", tmp_path / "out", "--format", form) == 0
    stored = load_file(tmp_path / "out" / "model.safetensors")
    assert ("classifier.weight" in stored) == (form == "huggingface")
    if form == "huggingface":
        assert torch.equal(stored["classifier.weight"], state["head.out.weight"])


@pytest.mark.slow
def test_the_script_writes_onnx(tmp_path) -> None:
    path, _ = checkpoint(tmp_path, "bert_pos")
    command = [
        shims.python(),
        "-m",
        "fairseq_plugins",
        "export",
        path,
        "--output",
        tmp_path / "out",
    ]
    done = subprocess.run([*command, "--format", "onnx"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("wrote ")
    assert len(done.stdout.splitlines()) == 2  # parameters, and what was written
    assert {"model.onnx", "features.json"} <= {file.name for file in (tmp_path / "out").iterdir()}


def test_the_script_says_in_a_line_what_is_wrong(tmp_path, monkeypatch, capsys) -> None:
    assert run_script(monkeypatch, tmp_path / "gone", "--output", tmp_path / "out") == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "gone: no such file or folder" in said
    assert said.count("\n") == 1


def test_exported_files_are_for_sharing(tmp_path) -> None:
    path, _ = checkpoint(tmp_path)
    before = os.umask(0o022)
    try:
        export(path, tmp_path / "out", form=HF)
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "out").iterdir()} == {0o644}
