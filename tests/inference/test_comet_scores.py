"""COMET's scores: those of a tiny metric, made and scored by Unbabel's code (`comet/make.py`)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from for_each import for_each
from pretrained_directories import edit_json

from fairseq_plugins.cli.main import main
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference import comet_scores
from fairseq_plugins.inference.comet_scores import CometScorer
from fairseq_plugins.nn.comet import sparsemax

METRIC = Path(__file__).parent / "comet"
KNOWN = json.loads((METRIC / "scores.json").read_text(encoding="utf-8"))
LINES = [KNOWN["lines"][side] for side in ("src", "mt", "ref")]
SYSTEMS = [[LINES[1]], [LINES[1], LINES[2]]]


def filled(values: dict) -> dict:
    return {key: value for key, value in values.items() if value is not None}


def metric(path: Path, told: dict | None = None, trained: dict | None = None, **tensors) -> Path:
    """Return a copy of the metric with other options and tensors; None takes one away."""
    if not path.exists():
        shutil.copytree(METRIC, path)
    options = yaml.safe_load((METRIC / "hparams.yaml").read_text())
    (path / "hparams.yaml").write_text(yaml.dump(filled(options | (told or {}))))
    state = torch.load(METRIC / "checkpoints/model.ckpt", weights_only=True)
    state["hyper_parameters"] = filled(state["hyper_parameters"] | (trained or {}))
    state["state_dict"] = filled({**state["state_dict"], **tensors})
    torch.save(state, path / "checkpoints/model.ckpt")
    return path


def scores(path: Path, lines=LINES) -> list[float]:
    source, system, reference = lines
    return CometScorer(path, path / "encoder", cpu=True).score(source, [system], reference)[0]


@for_each(KNOWN["variants"])
def test_scores_are_those_of_comet(name, tmp_path) -> None:
    change, tensors = KNOWN["variants"][name], {}
    state = torch.load(METRIC / "checkpoints/model.ckpt", weights_only=True)["state_dict"]
    if name == "without a reference":
        tensors["estimator.ff.0.weight"] = state["estimator.ff.0.weight"][:, :32].clone()
    trained = {} if name == "patched" else change  # the YAML file goes before in this case alone
    found = scores(metric(tmp_path / name, change, trained, **tensors))
    assert np.allclose(found, KNOWN["scores"][name], rtol=0, atol=1e-6)
    same = [{"softmax", "patched"}, {"normalised", "defaults"}]
    others = [x for x in KNOWN["scores"] if x != name and {x, name} not in same]
    assert all(abs(np.subtract(found, KNOWN["scores"][other])).max() > 1e-4 for other in others)


def test_scores_depend_on_no_other_text(monkeypatch) -> None:
    scorer = CometScorer(METRIC, METRIC / "encoder", cpu=True)
    source, system, reference = LINES
    (one,) = scorer.score(source, [system], reference)
    monkeypatch.setattr(comet_scores, "BATCH", 1)
    monkeypatch.setattr(comet_scores, "CHUNK", 2)
    again, gold = scorer.score(source, [system, reference], reference)
    assert np.allclose(one, again, rtol=0, atol=1e-6)
    assert one != gold
    swapped = scorer.score([*reversed(source)], [[*reversed(system)]], [*reversed(reference)])[0]
    assert np.allclose(one, swapped[::-1], rtol=0, atol=1e-6)


def test_sparsemax_is_the_nearest_point_of_the_simplex() -> None:
    random = torch.Generator().manual_seed(1)
    for scale in (0.1, 1, 10):
        scores = scale * torch.randn(9, generator=random, dtype=torch.float64)
        shares = sparsemax(scores)
        assert shares.sum().item() == pytest.approx(1)
        threshold = (scores - shares)[shares > 0]
        assert torch.allclose(threshold, threshold[:1])
        assert (scores[shares == 0] <= threshold[0]).all()


class Code:
    """Runs when it is unpickled as usual."""

    def __reduce__(self):
        return eval, ("1",)


NAN = torch.full((1,), torch.nan)
REFUSED = {  # options of the YAML file, of the checkpoint, other tensors, and what is said
    "kind": ({"class_identifier": "unified_metric"}, {}, {}, "'unified_metric', expected one of"),
    "encoder": ({}, {"encoder_model": "BERT"}, {}, "'BERT', expected one of XLM-RoBERTa"),
    "pool": ({}, {"pool": "max"}, {}, "expected one of avg, cls"),
    "layer": ({}, {"layer": 3}, {}, "option 'layer' is 3, expected one of mix"),
    "share": ({}, {"layer_transformation": "x"}, {}, "expected one of softmax, sparsemax"),
    "function": ({}, {"activations": "Gelu"}, {}, "expected one of Tanh, Sigmoid"),
    "type": ({}, {"hidden_sizes": ["6"]}, {}, "option 'hidden_sizes' is .* expected a list of int"),
    "negative": ({}, {"hidden_sizes": [-6, 4]}, {}, "no model can be built"),
    "width": ({}, {"hidden_sizes": [10**9, 4]}, {}, "model.ckpt: .*size mismatch"),
    "depth": ({}, {"hidden_sizes": [6]}, {}, "model.ckpt: .*estimator.ff.6.weight"),
    "lacking": ({}, {}, {"layerwise_attention.gamma": None}, "Missing .*layerwise_attention.gamma"),
    "unknown": ({}, {}, {"encoder.x": NAN}, "unknown tensors encoder.x"),
    "far": ({}, {}, {"layerwise_attention.gamma": NAN.nan_to_num(1e38)}, "sentence 1 is no number"),
    "number": ({}, {}, {"layerwise_attention.gamma": NAN}, "no finite number"),
    "code": ({}, {"loss": Code()}, {}, "it asks for .*eval.*; nothing of it was executed"),
}


def test_an_option_without_a_value_is_refused(tmp_path) -> None:
    path = metric(tmp_path / "metric")
    state = torch.load(path / "checkpoints/model.ckpt", weights_only=True)
    state["hyper_parameters"]["layer_transformation"] = None
    torch.save(state, path / "checkpoints/model.ckpt")
    with pytest.raises(InputError, match="layer_transformation is null"):
        scores(path)


@for_each(REFUSED)
def test_what_is_not_read_is_refused(name, tmp_path) -> None:
    told, trained, tensors, said = REFUSED[name]
    path = metric(tmp_path / "metric", told, trained, **tensors)
    with pytest.raises(InputError, match=said):
        scores(path)


def test_the_encoder_must_be_the_metrics_own(tmp_path) -> None:
    path = metric(tmp_path / "metric")
    edit_json(path / "encoder/config.json", intermediate_size=13)
    with pytest.raises(InputError, match=r"intermediate.*\(12, 8\), the encoder's directory says"):
        scores(path)
    edit_json(path / "encoder/config.json", num_hidden_layers=10**12)
    with pytest.raises(InputError, match="directory says 1000000000000 layers"):
        scores(path)
    edit_json(path / "encoder/config.json", model_type="roberta", num_hidden_layers=2)
    with pytest.raises(InputError, match="no directory of xlm-roberta"):
        scores(path)


OF_OTHERS = {
    "- a list": "no options of a COMET metric",
    "pool: avg": "it lacks 'class_identifier'",
    "class_identifier: !!python/name:os.system": "line 1: tags",
    "pool: " + 200_000 * "b": "larger than 200,000 bytes",
    "d: " + 4900 * "1:" + "1.5": "not YAML: int too large",
}


@for_each(OF_OTHERS)
def test_a_yaml_file_of_another_kind_is_refused(text, tmp_path) -> None:
    path = metric(tmp_path / "metric")
    (path / "hparams.yaml").write_text(text)
    with pytest.raises(InputError, match=f"hparams.yaml: .*{OF_OTHERS[text]}"):
        scores(path)


@for_each(("hparams.yaml", "checkpoints/model.ckpt"))
def test_missing_files_are_named(name, tmp_path) -> None:
    path = metric(tmp_path / "metric")
    (path / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name}: no such file of a COMET metric"):
        scores(path)


def test_score_prints_comet_beside_the_others(tmp_path, capsys) -> None:
    files = {}
    for name, lines in zip(("src", "sys", "ref", "better"), (*LINES, LINES[2])):
        files[name] = str(tmp_path / name)
        Path(files[name]).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    words = ["score", "--sys", files["sys"], files["better"], "--ref", files["ref"], "--lang", "de"]
    words += ["--tokenized", "no", "--ref-tokenized", "no"]
    comet = ["--comet", str(METRIC), "--comet-encoder", str(METRIC / "encoder"), "--cpu"]

    def said(*more: str, fails: int = 0) -> str:
        assert main([*words, *more]) == fails
        written = capsys.readouterr()
        return written.err if fails else written.out

    plain = said()
    assert "COMET" not in plain
    out = tmp_path / "scores.json"
    paired = ["--paired", "--samples", "20", "--json", str(out)]
    text = said(*comet, "--src", files["src"], *paired)
    report = json.loads(out.read_text())
    expected = 100 * np.mean(KNOWN["scores"]["as it is"])
    first, second = [one["figures"]["comet"] for one in report["systems"]]
    assert first == pytest.approx(expected, abs=1e-4)
    assert f"{first:.2f}" in text
    assert "COMET: model:comet|" in text
    found = [one for one in report["paired"] if one["metric"] == "comet"]
    assert [one["difference"] for one in found] == [pytest.approx(second - first)]
    (tmp_path / "short").write_text("a\n")
    assert "unequal line counts" in said(*comet, "--src", str(tmp_path / "short"), fails=1)
    words[words.index("--lang") : words.index("--lang")] = [files["better"]]
    assert "one reference, not 2" in said(*comet, "--src", files["src"], fails=1)


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        (["--src", "FILE"], "--src is for --comet"),
        (["--cpu"], "--cpu is for --comet"),
        (["--comet", "FILE"], "--comet needs --comet-encoder"),
        (["--comet", "FILE", "--comet-encoder", "FILE"], "--comet needs --src"),
    ],
)
def test_flags_of_comet_need_each_other(given, needed, capsys) -> None:
    file = str(METRIC / "hparams.yaml")
    words = [file if word == "FILE" else word for word in given]
    with pytest.raises(SystemExit):
        main(["score", "--sys", file, "--ref", file, "--lang", "de", *words])
    assert needed in capsys.readouterr().err
