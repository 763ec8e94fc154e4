"""Makes the metric of this folder and its scores, with COMET's own code (unbabel-comet 2.2.7).

It runs in an environment of its own: ``pip install unbabel-comet "setuptools<80"``, then
``python make.py`` in this folder. A variant changes what the checkpoint and the YAML file say; null
takes an option away.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import yaml
from comet import load_from_checkpoint
from comet.models import RegressionMetric
from pytorch_lightning import Trainer

HERE = Path(__file__).parent
BASE = {"layer_transformation": "sparsemax", "layer_norm": False}


def made() -> None:
    """Write a metric with random weights, as Lightning does after training."""
    torch.manual_seed(4)
    model = RegressionMetric(
        pretrained_model=str(HERE / "encoder"),
        hidden_sizes=[6, 4],
        load_pretrained_weights=False,
        **BASE,
    )
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(torch.randn_like(weight) * (0.3 if "encoder" not in name else 1.0))
    model.hparams["pretrained_model"] = "xlm-roberta-tiny"
    trainer = Trainer(accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.strategy.connect(model)
    trainer.save_checkpoint(HERE / "checkpoints/model.ckpt", weights_only=True)
    (HERE / "hparams.yaml").write_text(yaml.dump(dict(model.hparams)))


def scores(change: dict, lines: dict) -> list[float]:
    """Return COMET's scores of a variant."""
    told = yaml.safe_load((HERE / "hparams.yaml").read_text())
    state = torch.load(HERE / "checkpoints/model.ckpt")
    in_yaml = "sparsemax_patch" in change.values()  # COMET's correction stands there alone
    options = state["hyper_parameters"] | ({} if in_yaml else change)
    options["pretrained_model"] = str(HERE / "encoder")
    state["hyper_parameters"] = {key: value for key, value in options.items() if value is not None}
    if change.get("class_identifier", "").startswith("referenceless"):
        weight = state["state_dict"]["estimator.ff.0.weight"]
        state["state_dict"]["estimator.ff.0.weight"] = weight[:, :32].clone()
    with TemporaryDirectory() as folder:
        path = Path(folder, "checkpoints/model.ckpt")
        path.parent.mkdir()
        torch.save(state, path)
        (Path(folder) / "hparams.yaml").write_text(yaml.dump(told | change))
        model = load_from_checkpoint(str(path))
    rows = [dict(zip(lines, row)) for row in zip(*lines.values())]
    return model.predict(rows, batch_size=3, gpus=0, progress_bar=False, num_workers=0).scores


if __name__ == "__main__":
    (HERE / "checkpoints").mkdir(exist_ok=True)
    made()
    known = json.loads((HERE / "scores.json").read_text())
    for name, variant in known["variants"].items():
        known["scores"][name] = scores(variant, known["lines"])
    (HERE / "scores.json").write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
