"""`syntax_transformer` and fairseq's own transformer of the same width: updates and beam search, on
batches of a prepared folder, collation included, or of random sentences and features in memory.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fairseq import options, tasks, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics
from fairseq.tasks.translation import TranslationTask
from fairseq.trainer import Trainer

from benchmarks.gpu.batches import KNOWN, dictionary, parallel_sample
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.models import SyntaxTransformerModel
from fairseq_plugins.registration import register

from .turns import Batch, Setting, System

# Size -> architecture of ours, of fairseq's own.
SIZES = {
    "iwslt": ("syntax_transformer_iwslt_en_de", "transformer_iwslt_de_en"),
    "tiny": ("syntax_transformer_tiny", "transformer_tiny"),
    "base": ("syntax_transformer", "transformer"),
    "big": ("syntax_transformer_wmt_en_de_big", "transformer_wmt_en_de_big"),
}
RANDOM = "random"  # in the place of a folder
STOCK, GENERATING, BEAM = "transformer", " generating", 4
FEATURES = ("pos", "case", "subword")
OURS = f"--features {','.join(FEATURES)} --feature-merge concat --feature-combine sum \
    --feature-embed-dim 20"
FIXED = "--optimizer adam --lr 5e-4 --criterion label_smoothed_cross_entropy --label-smoothing 0.1 \
    --seed 1 --share-decoder-input-output-embed --required-batch-size-multiple 1"
FLAGS = {"float32": "", "float16": "--fp16", "bfloat16": "--bf16"}
Collate = Callable[[int], dict[str, Any]]


def batches(setting: Setting) -> list[Batch]:
    """Return the numbers of batches: each system makes its own."""
    return [*range(setting.steps)]


def configuration(setting: Setting, *, stock: bool) -> Any:
    """Read options as fairseq-train does."""
    register()
    drawn = setting.batches == RANDOM
    pair = "en-de" if drawn else read_manifest(Path(setting.batches)).pair
    task = "translation" if stock or drawn else "syntax_translation"
    words = f"{FIXED} --task {task} --arch {SIZES[setting.size][stock]} {'' if stock else OURS} \
        --max-tokens {setting.max_tokens} --dropout {setting.dropout} {FLAGS[setting.precision]} \
        {'--cpu' if setting.device == 'cpu' else ''}".split()
    source, target = pair.split("-")
    words += [setting.batches, "--source-lang", source, "--target-lang", target]
    found = options.parse_args_and_arch(options.get_training_parser(), words)
    return convert_namespace_to_omegaconf(found)


def trained(setting: Setting, *, stock: bool) -> tuple[Trainer, Collate]:
    """Set up task, model, criterion and Adam as fairseq-train does, and what makes batches."""
    cfg = configuration(setting, stock=stock)
    utils.set_torch_seed(cfg.common.seed)
    drawn = setting.batches == RANDOM
    task = _random_task(cfg, setting) if drawn else tasks.setup_task(cfg.task)
    trainer = Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))
    if drawn:
        made = [_random_sample(task, step, setting, stock=stock) for step in range(setting.steps)]
        return trainer, made.__getitem__
    found = list(trainer.get_train_iterator(epoch=1).frozen_batches)
    spread = sorted(found, key=lambda batch: (len(batch), tuple(batch)))  # long to short lines
    chosen = [spread[i * len(spread) // setting.steps] for i in range(setting.steps)]
    dataset = task.dataset("train")
    return trainer, lambda number: dataset.collater([dataset[i] for i in chosen[number]])


def _random_task(cfg: Any, setting: Setting) -> TranslationTask:
    words = dictionary(500 if setting.size == "tiny" else 32_000)
    task = TranslationTask(cfg.task, words, words)
    task.source_layers, task.target_layers = [KNOWN[name] for name in FEATURES], []
    if hasattr(cfg.model, "features"):
        SyntaxTransformerModel.complete_config(cfg.model, task.source_layers, "")
    return task


def _random_sample(task: TranslationTask, step: int, setting: Setting, *, stock: bool) -> Any:
    """Draw sentences of like length, about 12 subwords in the first batch and 48 in the fourth."""
    longest = 12 * (1 + step % 8)
    sample = parallel_sample(task, setting.max_tokens // longest, longest - 4, longest, step)
    if stock:
        del sample["net_input"]["src_factors"]
    return sample


def build(names: Sequence[str], setting: Setting, batch: Batch) -> Iterator[System]:
    """Yield the systems."""
    for name in names:
        trainer, collate = trained(setting, stock=name.startswith(STOCK))
        trainer.begin_epoch(1)
        make = _generation if name.endswith(GENERATING) else _training
        yield System(name, make(trainer, collate, setting))


def _training(trainer: Trainer, collate: Collate, setting: Setting) -> Callable[[int], int]:
    def update(number: int) -> int:
        batch = collate(number)
        with metrics.aggregate(new_root=True):
            trainer.train_step([batch])
        return batch["ntokens"]

    return update


def _generation(trainer: Trainer, collate: Collate, setting: Setting) -> Callable[[int], int]:
    """Return what translates a batch; every sentence is decoded for the same steps."""
    task, model = trainer.task, trainer.model
    model.prepare_for_inference_(trainer.cfg)
    model.eval()
    steps = {"max_len_a": 0, "max_len_b": setting.length, "min_len": setting.length}
    generator = task.build_generator([model], Namespace(beam=BEAM, **steps))

    def translate(number: int) -> int:
        batch = collate(number)
        batch = utils.move_to_cuda(batch) if setting.device == "cuda" else batch
        found = task.inference_step(generator, [model], batch)
        return sum(len(hypotheses[0]["tokens"]) for hypotheses in found)

    return translate
