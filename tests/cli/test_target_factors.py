"""Case of translations that the source decides: predicted, restored and scored by the commands."""

from __future__ import annotations

import random
import re

import pytest
from cli.commands import generate, interactive, run, train

from fairseq_plugins.inference.translation_attention import attend
from fairseq_plugins.models.syntax_transformer import SyntaxTransformerModel

pytestmark = pytest.mark.slow

FACTORS = "--target-features truecase --criterion label_smoothed_cross_entropy_with_factors"
STYLES = (str.lower, str.title, str.upper)


def write(folder, split, count, seed):
    """Write words in any case; the target has other letters in the same case."""
    dice = random.Random(seed)
    with open(folder / f"{split}.en", "w") as source, open(folder / f"{split}.de", "w") as target:
        for _ in range(count):
            words = [(dice.choice("abcd"), dice.choice(STYLES)) for _ in range(dice.randint(2, 4))]
            source.write(" ".join(style(f"{w}x{w}") for w, style in words) + "\n")
            target.write(" ".join(style(f"{w}yö") for w, style in words) + "\n")


LONG = "--max-epoch 45 --no-epoch-checkpoints --disable-validation --save-interval 45"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    for seed, (split, count) in enumerate({"train": 600, "valid": 20, "test": 40}.items()):
        write(folder, split, count, seed)
    where = [word for s in ("train", "valid", "test") for word in (f"--{s}pref", folder / s)]
    how = ["--tokenizer", "pretokenized", "--subwords", "none", "--features", "", "--workers", 1]
    layers = ["--target-layers", "truecase", "--destdir", folder / "data"]
    run("prepare translation", "-s", "en", "-t", "de", *where, *how, *layers)
    train(folder / "data", folder / "run", f"{LONG} {FACTORS}")
    return folder


def share(found, wanted):
    pairs = [p for a, b in zip(found, wanted, strict=True) for p in zip(a.split(), b.split())]
    return sum(a == b for a, b in pairs) / len(pairs)


def test_case_is_restored_wherever_text_comes_out(toy):
    wanted = (toy / "test.de").read_text().splitlines()
    lines, path = (toy / "test.en").read_text(), toy / "run" / "checkpoint_last.pt"
    done = generate(toy / "data", path)
    assert done.lines("T") == wanted
    found = done.lines("D")
    assert share(found, wanted) > 0.75
    assert done.lines("H") == found
    assert float(re.search(r"with beam=4: BLEU = ([0-9.]+)", done.out)[1]) > 60
    assert share([line.lower() for line in found], wanted) < 0.6  # case matters here
    assert interactive(toy / "data", path, stdin=lines).lines("D") == found
    hub = SyntaxTransformerModel.from_pretrained(str(path.parent), path.name)
    assert hub.translate(lines.splitlines(), beam=4, max_len_b=20) == found
    looked = attend(hub, lines.splitlines()[0])
    assert looked.translation == found[0]
    assert abs(looked.weights.sum(1) - 1).max() < 1e-4
    both = generate(toy / "data", f"{path}:{path}")
    assert both.lines("D") == found
    assert generate(toy / "data", path, "--score-reference").lines("D") == wanted
    assert share(generate(toy / "data", path, "--prefix-size 1").lines("D"), wanted) > 0.75
    sampled = generate(toy / "data", path, "--sampling --sampling-topk 1 --beam 1 --nbest 1")
    assert share(sampled.lines("D"), wanted) > 0.75


@pytest.mark.long
def test_training_goes_on_as_if_it_had_not_stopped(toy):
    short = f"{FACTORS} --log-format json"
    for name, epochs in (("straight", (3,)), ("stopped", (1, 3))):
        for epoch in epochs:
            done = train(toy / "data", toy / name, f"--max-epoch {epoch} {short}")
    straight, stopped = (
        run(
            "fairseq-validate",
            toy / "data",
            "--path",
            toy / name / "checkpoint_last.pt",
            *"--task syntax_translation --cpu --log-format json --batch-size 10".split(),
            "--user-dir",
            "fairseq_plugins",
        ).logged("valid")[-1]
        for name in ("straight", "stopped")
    )
    assert {"valid_factor_loss", "valid_truecase_accuracy"} <= {*done.logged("valid")[-1]}
    names = ("loss", "factor_loss", "truecase_accuracy")
    assert [straight[f"valid_{n}"] if f"valid_{n}" in straight else straight[n] for n in names] == [
        stopped[f"valid_{n}"] if f"valid_{n}" in stopped else stopped[n] for n in names
    ]


@pytest.mark.long
def test_without_the_factor_case_is_lost(toy):
    train(toy / "data", toy / "plain", LONG)
    done = generate(toy / "data", toy / "plain" / "checkpoint_last.pt")
    wanted = (toy / "test.de").read_text().splitlines()
    assert share(done.lines("D"), wanted) < 0.6
    assert share(done.lines("D"), [line.lower() for line in wanted]) > 0.75
