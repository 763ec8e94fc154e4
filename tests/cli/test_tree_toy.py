"""From CoNLL-U to a prediction: a task in which the parse alone decides, by the commands alone."""

from __future__ import annotations

import json
import random

import pytest
from cli.commands import USER_DIR, run

WORDS = ["saw", "man", "hill", "here"] + ["so"] * 6


def sentence(dice: random.Random) -> tuple[list[str], list[int], str]:
    """Draw the same words in any order, and their tree: "here" hangs on "man" or on "hill"."""
    while True:
        words = dice.sample(WORDS, len(WORDS))
        root, man, hill, here = (words.index(word) for word in WORDS[:4])
        if min(abs(here - man), abs(here - hill), abs(man - hill)) > 2:
            break
    label = dice.choice(["man", "hill"])
    heads = [root + 1] * len(words)
    heads[root], heads[here] = 0, words.index(label) + 1
    return words, heads, label


def write(folder, split, count, seed):
    dice = random.Random(seed)
    tagged, blocks = [], []
    for _ in range(count):
        words, heads, label = sentence(dice)
        tags = [label if word == "here" else "O" for word in words]
        tagged.append("".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags)) + "\n")
        rows = [
            f"{i}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_"
            for i, (word, head) in enumerate(zip(words, heads), 1)
        ]
        blocks.append("\n".join(rows) + "\n\n")
    (folder / f"{split}.tsv").write_text("".join(tagged))
    (folder / f"{split}.conllu").write_text("".join(blocks))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    options = []
    for split, count, seed in (("train", 1300, 1), ("valid", 500, 2)):
        write(folder, split, count, seed)
        options += [f"--{split}-file", folder / f"{split}.tsv"]
        options += [f"--{split}-conllu", folder / f"{split}.conllu"]
    where = ["--dataset", "tokens", "--separator", "tab", "--destdir", folder / "data"]
    run("prepare text", *where, "--workers", 1, *options)
    return folder


@pytest.mark.parametrize(
    ("arch", "solves"),
    [
        pytest.param("bert_sla_tiny", True, marks=pytest.mark.slow),
        pytest.param("bert_wla_tiny", False, marks=pytest.mark.long),
    ],
)
def test_only_what_reads_the_parse_solves_what_it_decides(prepared, arch, solves):
    save = prepared / arch
    run(
        "fairseq-train",
        *[prepared / "data", "--user-dir", USER_DIR, "--task", "sequence_labeling"],
        *["--criterion", "sequence_labeling", "--arch", arch, "--pretrained", "none", "--cpu"],
        *["--dropout", 0, "--attention-dropout", 0, "--batch-size", 32],
        *["--tree-threshold", 1][: 2 * solves],  # the other one reads no trees
        *["--optimizer", "bert_adamw", "--lr", 1e-3, "--lr-scheduler", "linear_warmup"],
        *["--max-update", 250, "--clip-norm", 1, "--disable-validation", "--seed", 1],
        *["--no-epoch-checkpoints", "--save-dir", save],
    )
    metrics = prepared / f"{arch}.json"
    run(
        "predict",
        *[save / "checkpoint_last.pt", "--data", prepared / "data", "--split", "valid", "--cpu"],
        *["--output", prepared / f"{arch}.jsonl", "--metrics", metrics],
    )
    accuracy = json.loads(metrics.read_text())["metrics"]["accuracy"]  # of 10 words, 9 are O
    right = 1 - 10 * (1 - accuracy)
    assert right > 0.83 if solves else right < 0.67
