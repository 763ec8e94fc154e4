"""Builds tiny prepared folders, tasks and models, and stands in for the annotator of raw text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from fairseq import checkpoint_utils, distributed_utils, options
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import train as fairseq_train
from omegaconf import OmegaConf

from fairseq_plugins.data.dictionaries import token_ids
from fairseq_plugins.data.streams import stream_prefix, write_stream
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.models._config import SyntaxTransformerConfig
from fairseq_plugins.models.syntax_transformer import SyntaxTransformerModel
from fairseq_plugins.syntax.casing import casing_of, lowered
from fairseq_plugins.syntax.layers import LAYERS
from fairseq_plugins.syntax.sentence import EncodedSentence
from fairseq_plugins.tasks.syntax_translation import (
    SyntaxTranslationConfig,
    SyntaxTranslationTask,
)

Pair = tuple[str, str]
PAIR = "en-de"
ANNOTATOR = {"name": "toy", "version": "1", "hash": "abc"}

# The rule that tags everything here: by the word's last character, and so by no context.
_UPOS = ("NOUN", "VERB", "ADJ", "DET")

SIDES = ("source", "target")


def features_of(words: Sequence[str]) -> dict[str, list[str]]:
    """Tag words by rule: part of speech by the last character, case by the first."""
    return {
        "pos": [_UPOS[ord(word[-1]) % len(_UPOS)] for word in words],
        "case": ["upper" if word[0].isupper() else "lower" for word in words],
    }


def sentence_of(subwords: Sequence[str], *, parsed: bool = False) -> EncodedSentence:
    """Tag by `features_of`: every subword is a word.

    Of a parsed sentence ``@@`` joins subwords to words, which are tagged by their first subword and
    all depend on the alphabetically last one.
    """
    begins = [True, *(not (parsed and piece.endswith("@@")) for piece in subwords)]
    word_of = [sum(begins[: i + 1]) - 1 for i in range(len(subwords))]
    words = [piece for piece, begin in zip(subwords, begins) if begin]
    labels = features_of(words).items()
    layers: dict[str, list[int]] = {k: LAYERS[k].inventory.ids(row) for k, row in labels}
    root = max(range(len(words)), key=words.__getitem__, default=0)
    layers["heads"] = [0 if i == root else root + 1 for i in range(len(words))]
    return EncodedSentence(list(subwords), word_of, words, layers)


class StubEncoder:
    """Splits at spaces, and tags by `sentence_of`; those of a parsed folder have its words."""

    annotator_id = "toy 1 abc"

    def __init__(self, *, parsed: bool = False) -> None:
        self.parsed = parsed

    def encode(self, lines: Sequence[str], limit: int | None = None) -> list[EncodedSentence]:
        """Encode raw lines; none is left out."""
        return [sentence_of(line.split(), parsed=self.parsed) for line in lines]


class StubDecoder:
    """Cuts words after two letters and joins ``@@``; sets the full stop off and closes it up."""

    def tokenize(self, text: str) -> str:
        """Split tokens."""
        return text.replace(".", " .")

    def add_subwords(self, text: str) -> str:
        """Split subwords."""
        return " ".join(w if len(w) < 3 else f"{w[:2]}@@ {w[2:]}" for w in text.split())

    def remove_subwords(self, text: str, certain: bool = True) -> str:
        """Join subwords."""
        return (text + " ").replace("@@ ", "").rstrip()

    def detokenize(self, text: str) -> str:
        """Join tokens."""
        return text.replace(" .", ".")


def random_pairs(count: int, seed: int = 0, longest: int = 9) -> list[Pair]:
    """Make pairs whose target is the source in other letters."""
    rng = np.random.default_rng(seed)
    words = ["a", "b", "Cat", "dog", "E", "fox", "go@@", "hi"]
    pairs = []
    for _ in range(count):
        source = [words[i] for i in rng.integers(0, len(words), rng.integers(1, longest + 1))]
        pairs.append((" ".join(source), " ".join(f"{word[0].lower()}x" for word in source)))
    return pairs


def dictionary_of(texts: Sequence[str]) -> Dictionary:
    """Build a dictionary of all tokens."""
    made = Dictionary()
    for word in sorted({word for text in texts for word in text.split()}):
        made.add_symbol(word, n=1)
    return made


def prepare(
    folder: Path,
    splits: Mapping[str, Sequence[Pair]],
    *,
    features: Sequence[str] = ("pos", "case", "subword"),
    tags: Mapping[str, Sequence[Mapping[str, Sequence[str]]]] | None = None,
    dictionaries: tuple[Dictionary, Dictionary] | None = None,
    joined: bool = False,
    annotator: Mapping[str, str] = ANNOTATOR,
    parse: bool = False,
    truecase: bool = False,
) -> Path:
    """Write a prepared folder.

    Args:
        folder: where to.
        splits: split -> pairs of segmented text.
        features: features to write.
        tags: split -> per sentence feature -> labels (default: `sentence_of`).
        dictionaries: source and target dictionary (default: of the data).
        joined: one dictionary for both sides.
        annotator: what the manifest says.
        parse: whether to write words and trees of parsed sentences, see `sentence_of`.
        truecase: whether to write target text in small letters, and how its subwords are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = {split: [t.split() for _, t in part] for split, part in splits.items()}
    if truecase:
        splits = {k: [(s, lowered(t)) for s, t in part] for k, part in splits.items()}
    pairs = [pair for part in splits.values() for pair in part]
    sides = [[s for s, _ in pairs], [t for _, t in pairs]]
    if joined:
        sides = [sides[0] + sides[1]] * 2
    source, target = dictionaries or (dictionary_of(sides[0]), dictionary_of(sides[1]))
    source.save(str(folder / "dict.en.txt"))
    target.save(str(folder / "dict.de.txt"))
    for name in features:
        LAYERS[name].inventory.save(folder / f"dict.en.{name}.txt", {})
    counts: dict[str, Any] = {}
    stored = [name for name in features if name != "subword"] + (["heads"] if parse else [])
    for split, part in splits.items():
        _write(folder, f"{split}", "en", [token_ids(source, s.split()) for s, _ in part], source)
        _write(folder, f"{split}", "de", [token_ids(target, t.split()) for _, t in part], target)
        found = [sentence_of(s.split(), parsed=parse) for s, _ in part]
        numbers = [[word + 1 for word in one.word_of] for one in found]
        _write(folder, split, "en.words", numbers, range(1000))
        layers = [one.layers for one in found]
        if tags:
            layers = [{k: LAYERS[k].inventory.ids(v) for k, v in x.items()} for x in tags[split]]
        for name in stored:
            ids = range(1000) if name == "heads" else LAYERS[name].inventory
            _write(folder, split, f"en.{name}", [line[name] for line in layers], ids)
        if truecase:
            inventory = LAYERS["truecase"].inventory
            inventory.save(folder / "dict.de.truecase.txt", {})
            numbers = [[*range(1, len(line) + 1)] for line in written[split]]
            _write(folder, split, "de.words", numbers, range(1000))
            rows = [inventory.ids(map(casing_of, line)) for line in written[split]]
            _write(folder, split, "de.truecase", rows, inventory)
        streams = ["en", "de", *(f"en.{name}" for name in ("words", *stored))]
        streams += ["de.words", "de.truecase"] if truecase else []
        counts[split] = {"lines": len(part), "tokens": dict.fromkeys(streams, 0)}
    plain = {"tokenizer": "pretokenized", "normalizer": "none", "subwords": "none"}
    segmentation = {side: {**plain, "model": None, "vocabulary": None} for side in SIDES}
    TranslationManifest(
        source_lang="en",
        target_lang="de",
        features=list(features),
        segmentation=segmentation,
        annotator=dict(annotator),
        splits=counts,
        heads=parse,
        target_features=["truecase"] if truecase else [],
        by_word=True,
    ).save(folder)
    return folder


def _write(folder: Path, split: str, stream: str, rows: list[list[int]], ids: Any) -> None:
    write_stream(stream_prefix(folder, split, PAIR, stream), rows, len(ids))


def make_task(folder: Path, stub: bool = True, **options: Any) -> SyntaxTranslationTask:
    """Set up the task on a folder; ``stub`` puts the stand-ins in for annotator and decoder."""
    settings = {"train_subset": "train", "dataset_impl": None, "required_seq_len_multiple": 1}
    task = SyntaxTranslationTask.setup_task(
        SyntaxTranslationConfig(data=str(folder), **{**settings, **options})
    )
    if stub:
        task.build_source_encoder = partial(StubEncoder, parsed=task.manifest.heads)
        task.build_target_decoder = StubDecoder
    return task


def make_model(
    task: SyntaxTranslationTask, arch: str = "syntax_transformer_tiny", **options: Any
) -> SyntaxTransformerModel:
    """Build a model for a task, in evaluation mode."""
    cfg = OmegaConf.structured(SyntaxTransformerConfig(**options))
    cfg._name = arch
    return task.build_model(cfg).eval()


def batches(task: SyntaxTranslationTask, split: str, **limits: Any) -> list[dict[str, Any]]:
    """Collect the batches of a loaded split."""
    iterator = task.get_batch_iterator(task.dataset(split), **limits)
    return list(iterator.next_epoch_itr(shuffle=False))


def config(*arguments: str) -> Any:
    """Parse the command line of fairseq-train."""
    parser = options.get_training_parser()
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, list(arguments)))


def train(folder: Path, save_dir: Path, *arguments: str) -> Path:
    """Run fairseq-train in this process; return the last checkpoint."""
    fixed = f"{folder} --task syntax_translation --save-dir {save_dir} --cpu --optimizer adam"
    fixed += " --no-progress-bar --no-epoch-checkpoints --log-interval 1000 --num-workers 0"
    if hasattr(checkpoint_utils.save_checkpoint, "best"):
        del checkpoint_utils.save_checkpoint.best  # fairseq keeps it from run to run
    distributed_utils.call_main(config(*fixed.split(), *arguments), fairseq_train.main)
    return save_dir / "checkpoint_last.pt"
