"""Toy corpora in which each layer alone decides something: one kind of word a layer.

The annotator is CoNLL-U. Words are drawn in any order, and so are their annotations, of two values
each; what becomes of a word of a layer's own follows from its value in that layer.
"""

from __future__ import annotations

import json
import random

import pytest
from cli.commands import USER_DIR, run

pytestmark = pytest.mark.long
VALUES = {  # layer -> its two values
    "dep": ("nsubj", "obj"),
    "tag": ("AA", "BB"),
    "lemma": ("go", "come"),
    "morph": ("Sing", "Plur"),
    "morph.Number": ("Sing", "Plur"),
    "ent": ("B-PER", "B-LOC"),
    "arc": ("L", "R"),
}
LAYERS = {
    "translation": ["dep", "tag", "lemma", "morph.Number", "ent", "arc"],
    "tagging": ["dep", "tag", "lemma", "morph", "ent", "arc"],
}
SIZES = {"train": 3000, "valid": 150}


def sentence(dice: random.Random, layers: list[str]) -> tuple[list[str], list[int], str]:
    """Draw words, the value (0 or 1) that decides each, and the annotation as CoNLL-U."""
    words = dice.sample(layers, len(layers))
    while words.index("arc") in (0, len(words) - 1):
        words = dice.sample(layers, len(layers))
    arc = words.index("arc")
    root = dice.choice([i for i, word in enumerate(words) if word not in ("arc", "dep")])
    heads = [0 if i == root else root + 1 for i in range(len(words))]
    bits, rows = [], []
    for i, word in enumerate(words):
        value = {layer: dice.randrange(2) for layer in VALUES}
        if word == "arc":
            before, after = [j for j in range(arc)], [j for j in range(arc + 1, len(words))]
            heads[arc] = dice.choice(after if value["arc"] else before) + 1
        said = {layer: VALUES[layer][bit] for layer, bit in value.items()}
        morph = said["morph" if word == "morph" else "morph.Number"]
        columns = [i + 1, f"w{word}", said["lemma"], "X", said["tag"], f"Number={morph}"]
        columns += [heads[i], said["dep"] if heads[i] else "root", "_", f"NER={said['ent']}"]
        bits.append(value[word])
        rows.append("\t".join(map(str, columns)))
    return [f"w{word}" for word in words], bits, "\n".join(rows) + "\n\n"


def write(folder, kind: str) -> None:
    for seed, (split, count) in enumerate(SIZES.items()):
        dice = random.Random(seed)
        found = [sentence(dice, LAYERS[kind]) for _ in range(count)]
        (folder / f"{split}.en.conllu").write_text("".join(block for *_, block in found))
        (folder / f"{split}.en").write_text("".join(" ".join(w) + "\n" for w, *_ in found))
        results = [[f"{w}{bit}" for w, bit in zip(words, bits)] for words, bits, _ in found]
        (folder / f"{split}.de").write_text("".join(" ".join(r) + "\n" for r in results))
        tagged = ("\n".join(f"{w}\t{b}" for w, b in zip(words, bits)) for words, bits, _ in found)
        (folder / f"{split}.tsv").write_text("\n\n".join(tagged) + "\n")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return what makes a folder of a kind, once."""
    made = {}

    def of(kind):
        if kind in made:
            return made[kind]
        made[kind] = folder = tmp_path_factory.mktemp(kind)
        write(folder, kind)
        asked = ["--layers", ",".join(LAYERS[kind]), "--workers", 1, "--destdir", folder / "data"]
        if kind == "translation":
            raw = ["--trainpref", folder / "train", "--testpref", folder / "valid", "--conllu"]
            how = ["-s", "en", "-t", "de", "--tokenizer", "pretokenized", "--subwords", "none"]
            run("prepare translation", *how, *raw, *asked)
        else:
            raw = ["--dataset", "tokens", "--separator", "tab"]
            for split in SIZES:
                raw += [f"--{split}-file", folder / f"{split}.tsv"]
                raw += [f"--{split}-conllu", folder / f"{split}.en.conllu"]
            run("prepare text", *raw, *asked)
        return folder

    return of


def shares(found: list[list[str]], wanted: list[list[str]]) -> dict[str, float]:
    """Return which share of each kind of word is right, by the layer that decides it."""
    hits: dict[str, list[bool]] = {}
    for ours, theirs in zip(found, wanted, strict=True):
        assert len(ours) == len(theirs)
        for word, right in zip(ours, theirs):
            hits.setdefault(right[1:-1], []).append(word == right)
    return {layer: sum(rows) / len(rows) for layer, rows in hits.items()}


def wanted_of(folder) -> list[list[str]]:
    return [line.split() for line in (folder / "valid.de").read_text().splitlines()]


def trained(folder, kind: str, features: str):
    """Train on a folder; return the checkpoint."""
    save = folder / f"run-{features}"
    task = {"translation": "syntax_translation", "tagging": "sequence_labeling"}[kind]
    own = ["--arch", "syntax_transformer_tiny", "--lr", 5e-3, "--max-tokens", 1500]
    own += ["--criterion", "cross_entropy", "--dropout", 0, "--optimizer", "adam"]
    if kind == "tagging":
        own = ["--arch", "bert_plain_tiny", "--pretrained", "none", "--dropout", 0]
        own += ["--attention-dropout", 0, "--criterion", task, "--optimizer", "bert_adamw"]
        own += ["--lr", 3e-3, "--lr-scheduler", "linear_warmup", "--batch-size", 64]
    run(
        "fairseq-train",
        *[folder / "data", "--user-dir", USER_DIR, "--task", task, *own, "--features", features],
        *["--cpu", "--max-update", 500, "--clip-norm", 1, "--disable-validation", "--seed", 1],
        *[
            "--no-epoch-checkpoints",
            "--save-interval",
            1000,
            "--num-workers",
            0,
            "--save-dir",
            save,
        ],
    )
    return save / "checkpoint_last.pt"


def translated(folder, checkpoint, *options) -> dict[str, float]:
    count = len(LAYERS["translation"])
    told = run(
        "fairseq-generate",
        *[folder / "data", "--user-dir", USER_DIR, "--task", "syntax_translation"],
        *["--path", checkpoint, "--beam", 1, "--max-len-a", 1, "--max-len-b", 0, "--cpu"],
        *["--min-len", count, "--batch-size", 50, *options],
    )
    found = {
        int(line.split("\t")[0][2:]): line.split("\t")[2].split()[:count]
        for line in told.out.splitlines()
        if line.startswith("H-")
    }
    return shares([found[i] for i in sorted(found)], wanted_of(folder))


def tagged(folder, checkpoint) -> dict[str, float]:
    output = checkpoint.parent / "predictions.jsonl"
    run(
        "predict",
        *[checkpoint, "--data", folder / "data", "--split", "valid", "--cpu", "--output", output],
    )
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    found = [[f"{w}{label}" for w, label in zip(row["words"], row["labels"])] for row in rows]
    return shares(found, wanted_of(folder))


def test_each_layer_alone_decides_a_translation(prepared):
    folder, features = prepared("translation"), ",".join(LAYERS["translation"])
    checkpoint = trained(folder, "translation", features)
    assert min(translated(folder, checkpoint).values()) > 0.83
    for layer in ("lemma", "arc"):
        without = translated(folder, checkpoint, "--ablate-features", layer)
        assert without[layer] < 0.67
    nothing = translated(folder, trained(folder, "translation", "none"))
    assert max(nothing.values()) < 0.67


def test_each_layer_alone_decides_a_tag(prepared):
    folder = prepared("tagging")
    features = ",".join(LAYERS["tagging"])
    assert min(tagged(folder, trained(folder, "tagging", features)).values()) > 0.83
    nothing = tagged(folder, trained(folder, "tagging", "none"))
    assert max(nothing.values()) < 0.67
