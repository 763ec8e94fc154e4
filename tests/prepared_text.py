"""Builds tiny prepared folders, tasks and models of text classification and sequence labelling.

The sentences are invented; what is to be learnt follows from single words:

classes      "yes" if the (last) sentence says "good", else "no"
score        how often it says so
multi_label  which of some words it has
word_labels  "alice" is a person, "new paris" a place; or: "teh" is wrong, all else correct
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fairseq import checkpoint_utils, distributed_utils, options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.tasks import setup_task
from fairseq_cli import train as fairseq_train
from omegaconf import OmegaConf

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.dictionaries import ClosedDictionary
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.pretrained.vocabulary import Vocabulary
from fairseq_plugins.syntax.layers import LAYERS
from fairseq_plugins.syntax.subwords import case_of
from fairseq_plugins.targets.table import target_of
from fairseq_plugins.targets.target import Target

ANNOTATOR = {"name": "toy", "version": "1", "hash": "abc"}
WORDS = "alice Bob sees the old new paris green garden good bad teh cat by night".split()
SPECIALS = ["[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LABELS = {
    "classes": ["no", "yes"],
    "score": [],
    "multi_label": ["alice", "good", "paris"],
    "entities": ["B-LOC", "B-PER", "I-LOC", "O"],
    "errors": ["c", "i"],
}
POSITIVE = {"classes": "yes", "errors": "i"}
METRIC = {
    "classes": "mcc",
    "score": "pearson",
    "multi_label": "micro_f1",
    "entities": "entity_f1",
    "errors": "token_f0.5",
}
TINY = "--hidden-size 16 --intermediate-size 32 --dropout 0 --attention-dropout 0".split()
SIZES = {"hidden_size": 16, "intermediate_size": 32, "pretrained": "none"}
_UPOS = ("NOUN", "VERB", "ADJ", "DET")


def pieces_of(word: str) -> list[str]:
    """Cut a word into wordpieces of three letters."""
    parts = [word[i : i + 3].lower() for i in range(0, len(word), 3)]
    return [parts[0], *(f"##{part}" for part in parts[1:])]


VOCABULARY = [*SPECIALS, *sorted({piece for word in WORDS for piece in pieces_of(word)})]
IDS = {piece: i for i, piece in enumerate(VOCABULARY)}


def heads_of(words: Sequence[str]) -> list[int]:
    """Make up a tree of any shape, always the same for the same words."""
    rng = random.Random(" ".join(words))
    order = rng.sample(range(len(words)), len(words))
    heads = [0] * len(words)
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[rng.randrange(place)] + 1
    return heads


def encode(words: Sequence[str]) -> SimpleNamespace:
    """Do what `text.text_encoder` does, by rule: part of speech by the last letter."""
    cut = [pieces_of(word) for word in words]
    return SimpleNamespace(
        tokens=[IDS.get(piece, IDS["[UNK]"]) for pieces in cut for piece in pieces],
        word_of=[i for i, pieces in enumerate(cut) for _ in pieces],
        words=list(words),
        layers={
            "pos": LAYERS["pos"].inventory.ids([_UPOS[ord(word[-1]) % 4] for word in words]),
            "case": LAYERS["case"].inventory.ids([case_of(word) for word in words]),
            "heads": heads_of(words),
        },
    )


def encode_texts(texts: Sequence[str]) -> list[SimpleNamespace]:
    """Encode an example; the words of a pair are compared."""
    sides = [encode(text.split()) for text in texts]
    if len(sides) == 2:
        compared = similarity_of(*(side.words for side in sides))
        sides[1].layers["similarity"] = compared
    return sides


def similarity_of(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """Compare words by rule: for each of ``second`` one number for every word of ``first``."""
    return [255 if a == b else (ord(a[0]) * ord(b[0])) % 255 for b in second for a in first]


def sentence(rng: random.Random, longest: int = 9) -> list[str]:
    """Make a sentence; half of them say "good"."""
    words = [rng.choice([w for w in WORDS if w != "good"]) for _ in range(rng.randint(1, longest))]
    if rng.random() < 0.5:
        words[rng.randrange(len(words))] = "good"
    return words


def tags_of(words: Sequence[str], kind: str) -> tuple[str, ...]:
    """Label words by the rules of this file."""
    if kind == "errors":
        return tuple("i" if word == "teh" else "c" for word in words)
    tags = []
    for last, word in zip(["", *words], words):
        place = "I-LOC" if last == "new" else "O"
        tags.append({"alice": "B-PER", "new": "B-LOC", "paris": place}.get(word, "O"))
    return tuple(tags)


def examples(
    kind: str,
    count: int,
    seed: int = 0,
    *,
    pairs: bool = False,
    longest: int = 9,
    gold: bool = True,
) -> list[Example]:
    """Make examples of a kind, of `LABELS`."""
    rng, made = random.Random(seed), []
    for number in range(count):
        sentences = [sentence(rng, longest) for _ in range(1 + pairs)]
        words = sentences[-1]
        if kind == "entities" and rng.random() < 0.5:
            words += ["new", "paris"]
        given: dict[str, Any] = {}
        if kind in ("entities", "errors"):
            given = {"words": tuple(words), "word_labels": tags_of(words, kind)}
        elif kind == "score":
            given = {"label": str(float(words.count("good")))}
        elif kind == "multi_label":
            given = {"label": "|".join(one for one in LABELS[kind] if one in words) or "|"}
        else:
            given = {"label": "yes" if "good" in words else "no"}
        if not gold:
            given = {key: None for key in given if key != "words"} | {"words": given.get("words")}
        texts = tuple(" ".join(words) for words in sentences)
        made.append(Example(f"s{seed}-{number}", texts, **given, line=number + 1))
    return made


def prepare(
    folder: Path,
    kind: str,
    splits: Mapping[str, Sequence[Example]],
    *,
    annotations: Sequence[str] = ("pos",),
    labels: Sequence[str] | None = None,
    annotator: Mapping[str, str] = ANNOTATOR,
    **manifest: Any,
) -> Path:
    """Write a prepared folder.

    Args:
        folder: where to.
        kind: kind of the examples; see `examples`.
        splits: split -> examples.
        annotations: what the words carry.
        labels: in id order (default: those of the kind).
        annotator: what the manifest says.
        manifest: further fields of the manifest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in VOCABULARY))
    names = list(LABELS[kind] if labels is None else labels)
    if names:
        (folder / "labels.txt").write_text("".join(f"{label}\n" for label in names))
    target = target_of("word_labels" if kind in ("entities", "errors") else kind)
    counts = {
        name: _write(folder / name, part, target, names, annotations)
        for name, part in splits.items()
    }
    first = next(part for part in splits.values())[0]
    TextManifest(
        **{
            "dataset": "toy",
            "task": target.task,
            "target": target.name,
            "labels": names,
            "positive": POSITIVE.get(kind, ""),
            "metric": METRIC[kind],
            "sentences": len(first.texts),
            "tokenizer": {"lowercase": True, "strip_accents": True, "chinese_characters": True},
            "tokenize": "whitespace",
            "annotations": list(annotations),
            "annotator": dict(annotator),
            "splits": counts,
            "options": {"pretrained": "none"},
            **manifest,
        },
    ).save(folder)
    return folder


def _write(
    prefix: Path,
    part: Sequence[Example],
    target: Target,
    labels: Sequence[str],
    annotations: Sequence[str],
) -> dict[str, int]:
    found = [encode_texts(example.texts) for example in part]
    if "similarity" in annotations:
        rows = [second.layers["similarity"] for _, second in found]
        _stream(prefix, "similarity1", rows, 256)
    for k in range(len(part[0].texts)):
        sides = [sentences[k] for sentences in found]
        _stream(prefix, f"tokens{k}", [side.tokens for side in sides], len(VOCABULARY))
        _stream(prefix, f"words{k}", [side.word_of for side in sides], 600)
        for name in ("case", *(name for name in annotations if name != "similarity")):
            rows = [side.layers[name] for side in sides]
            _stream(prefix, f"{name}{k}", rows, 600 if name == "heads" else 20)
    labelled = _write_gold(prefix, part, target, labels)
    lines = [json.dumps({"id": e.id, "texts": e.texts, "words": e.words}) for e in part]
    Path(f"{prefix}.examples.jsonl").write_text("".join(f"{line}\n" for line in lines))
    lengths = [1 + sum(len(side.tokens) + 1 for side in sentences) for sentences in found]
    return {"examples": len(part), "labelled": labelled, "tokens": 0, "longest": max(lengths)}


def _write_gold(
    prefix: Path, part: Sequence[Example], target: Target, labels: Sequence[str]
) -> int:
    golds = [target.written(example) for example in part]
    labelled = sum(gold is not None for gold in golds)
    streams, lines = target.gold.written(golds, {label: n for n, label in enumerate(labels)})
    for name, rows in streams.items() if labelled else ():
        _stream(prefix, name, list(rows), target.gold.sizes(len(labels))[name])
    for name, found in lines.items() if labelled else ():
        Path(f"{prefix}.{name}").write_text("".join(f"{line}\n" for line in found))
    return labelled


def _stream(prefix: Path, name: str, rows: Sequence[Sequence[int]], ids: int) -> None:
    write_stream(Path(f"{prefix}.{name}"), rows, ids)


def make_task(folder: Path, **given: Any) -> Any:
    name = read_manifest(folder, TextManifest).task
    return setup_task(OmegaConf.create({"_name": name, "data": str(folder), **TASK, **given}))


TASK = {
    "train_subset": "train",
    "best_checkpoint_metric": "loss",
    "maximize_best_checkpoint_metric": False,
}


def make_model(task: Any, arch: str = "bert_plain_tiny", **given: Any) -> Any:
    cfg = OmegaConf.structured(BertConfig(**{**SIZES, **given}))
    cfg._name = arch
    return task.build_model(cfg).eval()


def batches(task: Any, split: str, **limits: Any) -> list[dict[str, Any]]:
    iterator = task.get_batch_iterator(task.dataset(split), **limits)
    return list(iterator.next_epoch_itr(shuffle=False))


def arguments(folder: Path, save_dir: Path, *more: str) -> list[str]:
    """Return a command line of fairseq-train for a folder, with small defaults."""
    task = read_manifest(folder, TextManifest).task
    fixed = f"{folder} --task {task} --criterion {task} --arch bert_plain_tiny --pretrained none"
    fixed += f" --save-dir {save_dir} --cpu --optimizer adam --lr 0.003 --num-workers 0"
    fixed += " --log-interval 1000 --no-progress-bar"
    if not {"--batch-size", "--max-tokens"} & set(more):
        fixed += " --batch-size 16"
    return [*fixed.split(), *TINY, *more]


def config(*words: str) -> Any:
    parser = options.get_training_parser()
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, list(words)))


def train(folder: Path, save_dir: Path, *more: str) -> Path:
    """Run fairseq-train in this process; return the run's folder."""
    if hasattr(checkpoint_utils.save_checkpoint, "best"):
        del checkpoint_utils.save_checkpoint.best  # fairseq keeps it from run to run
    distributed_utils.call_main(config(*arguments(folder, save_dir, *more)), fairseq_train.main)
    return save_dir


def dictionary() -> ClosedDictionary:
    """Return the vocabulary of all folders here."""
    return ClosedDictionary(Vocabulary("".join(f"{piece}\n" for piece in VOCABULARY).encode()))
