"""A tiny invented corpus, prepared once by the real preparation, and a model trained on it."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from cli import commands

from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.prep.recipes.translation_options import TranslationOptions

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "headless_shell")
SIZES = {"train": 200, "valid": 40, "test": 37}

NOUNS = {
    "dog": ("der", "Hund"),
    "watch": ("die", "Uhr"),
    "play": ("das", "Theaterstück"),
    "gardener": ("der", "Gärtner"),
    "light": ("das", "Licht"),
    "neighbour": ("der", "Nachbar"),
    "station": ("der", "Bahnhof"),
}
VERBS = {
    "watches": "beobachtet",
    "plays": "spielt",
    "lights": "beleuchtet",
    "remembers": "erinnert",
    "closes": "schließt",
}
ADJECTIVES = {"old": "alte", "close": "nahe", "beautiful": "schöne", "light": "leichte"}
ODD = [
    ("She said: \"It's Tom & Jerry's dog.\"", '"Es ist Tom & Jerrys Hund", sagte sie.'),
    ("<unk> </s> @-@ | the watch", "<unk> die Uhr"),
    ("well-known naïve Škoda 東京 🙂 dog!", "bekannter naiver Škoda"),
    ("WATCH THE LIGHT", "BEOBACHTE DAS LICHT"),
    ("dog", "Hund"),
]


def _phrase(rng: random.Random) -> tuple[str, str]:
    noun = rng.choice(sorted(NOUNS))
    article, german = NOUNS[noun]
    if rng.random() < 0.5:
        adjective = rng.choice(sorted(ADJECTIVES))
        return f"the {adjective} {noun}", f"{article} {ADJECTIVES[adjective]} {german}"
    return f"the {noun}", f"{article} {german}"


def _sentence(rng: random.Random) -> tuple[str, str]:
    (subject, wer), (thing, was) = _phrase(rng), _phrase(rng)
    verb = rng.choice(sorted(VERBS))
    english, german = f"{subject} {verb} {thing}", f"{wer} {VERBS[verb]} {was}"
    while rng.random() < 0.3:
        more, mehr = _phrase(rng)
        english, german = f"{english} and {more}", f"{german} und {mehr}"
    end = rng.choice(".!?")
    return english[0].upper() + english[1:] + end, german[0].upper() + german[1:] + end


def write_corpus(folder: Path) -> Path:
    """Write the splits of `SIZES` in both languages, and the first ``three`` of the test set."""
    rng = random.Random(7)
    pairs: dict[str, str] = {}
    while len(pairs) < sum(SIZES.values()) - len(ODD):
        english, german = _sentence(rng)
        pairs[english] = german
    left = [*pairs.items(), *ODD]  # the odd ones fall into the test set
    parts = {}
    for split, size in SIZES.items():
        parts[split], left = left[:size], left[size:]
    parts["three"] = parts["test"][:3]
    for split, part in parts.items():
        for side, language in enumerate(("en", "de")):
            text = "".join(f"{pair[side]}\n" for pair in part)
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")
    return folder


def prepare_corpus(corpus: Path, destination: Path, **options: object) -> Path:
    """Prepare the corpus with few merges, so that words fall into several subwords.

    The three sentences become the split ``test1``.
    """
    settings = {f"{split}pref": str(corpus / split) for split in SIZES}
    settings["testpref"] += f",{corpus / 'three'}"
    settings |= {"bpe_size": 60, "workers": 1}
    prepare(TranslationOptions("en", "de", str(destination), **{**settings, **options}))
    return destination


@pytest.fixture(scope="module")
def browser():
    """The system's browser; ended with the module, since its threads outlive no fork."""
    reason = "playwright is not installed"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"no browser is installed: {', '.join(BROWSERS)}")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def folder(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_corpus(corpus, tmp_path_factory.mktemp("bin") / "tiny")


@pytest.fixture(scope="session")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the checkpoint of a model that has learnt most of the corpus."""
    save_dir = tmp_path_factory.mktemp("trained")
    commands.train(folder, save_dir, "--max-update 100 --validate-interval 10")
    return save_dir


@pytest.fixture(scope="session")
def model(trained: Path) -> Path:
    return trained / "checkpoint_best.pt"


@pytest.fixture(scope="session")
def generated(folder: Path, model: Path) -> commands.Outcome:
    """What that model makes of the prepared test set."""
    return commands.generate(folder, model, "--batch-size 16")


@pytest.fixture(scope="session")
def plain(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a model without features."""
    save_dir = tmp_path_factory.mktemp("plain")
    options = "--features none --max-update 40 --disable-validation --no-epoch-checkpoints --seed 5"
    commands.train(folder, save_dir, options)
    return save_dir / "checkpoint_last.pt"


@pytest.fixture(scope="session")
def test_lines(corpus: Path) -> str:
    return (corpus / "test.en").read_text(encoding="utf-8")
