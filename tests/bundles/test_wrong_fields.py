"""Bundles with a JSON field of a wrong type, or weights that are no numbers: a sentence says so."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inference import translation_runs
from inference.test_export import checkpoint
from prepared import StubDecoder, StubEncoder
from safetensors.torch import load_file, save_file

from fairseq_plugins.bundles.ctranslate2_model import END_ID, Search
from fairseq_plugins.bundles.index import FILE_NAME
from fairseq_plugins.bundles.translation import Translator
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import sha256
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.inference.translation_export import export_translation
from fairseq_plugins.tasks import SyntaxTranslationTask

OTHERS: list[Any] = [None, 0, 1, -1, True, False, 1.5, float("nan"), 10**30, 0.0, 2.0]
OTHERS += ["", "x", "1", "文", "🙂", "\x1b[2J", [], [[]], ["x"], [1, True], {}, {"x": 1}, {"x": {}}]
OPEN = {
    "understanding": lambda bundle: load(bundle, cpu=True).predict(["The cat sat."]),
    "translation": lambda bundle: translate(Translator.open(bundle, threads=1)),
}
TRIES = 150  # of either kind


def translate(translator: Translator) -> list:
    factors = [[0, 0] for _ in translator.features]
    return translator.of_ids([([5, END_ID], factors)], Search(longest=3))


@pytest.fixture(scope="module")
def bundles(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("bundles")
    (root / "run").mkdir()
    path, _ = checkpoint(root / "run")
    export_checkpoint(path, root / "understanding")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SyntaxTranslationTask, "build_source_encoder", lambda self: StubEncoder())
        patched.setattr(SyntaxTranslationTask, "build_target_decoder", lambda self: StubDecoder())
        folder = translation_runs.folder_of(root / "data")
        path = translation_runs.save_trained(folder, root / "t.pt", steps=0, features="pos")
        export_translation(path, root / "translation")
    return {kind: root / kind for kind in OPEN}


def places(body: Any, way: tuple = ()) -> Iterator[tuple]:
    """Yield the way to every field; of a list to its first member."""
    inner = body.items() if isinstance(body, dict) else enumerate(body[:1])
    for key, value in inner:
        yield (*way, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*way, key))


def seal(bundle: Path) -> None:
    """Let the index say of all files what they are now."""
    path = bundle / FILE_NAME
    body = json.loads(path.read_text())
    for name, entry in body["files"].items():
        entry |= {"size": (bundle / name).stat().st_size, "sha256": sha256(bundle / name)}
    path.write_text(json.dumps(body))


def wrong(bundle: Path, dice: random.Random) -> Callable[[], None]:
    """Put another value in one field of one file; return what puts the file back."""
    path = dice.choice(sorted(bundle.rglob("*.json")))
    before, body = path.read_bytes(), json.loads(path.read_text())
    way = dice.choice([*places(body)])
    at = body
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = copy.deepcopy(dice.choice(OTHERS))
    path.write_text(json.dumps(body))
    if path.name != FILE_NAME:
        seal(bundle)
    return lambda: path.write_bytes(before) and None


@pytest.mark.parametrize("kind", OPEN)
def test_a_field_of_a_wrong_type_ends_in_a_sentence(bundles, tmp_path, kind):
    dice, refused = random.Random(37), 0
    bundle = shutil.copytree(bundles[kind], tmp_path / "bundle")
    index = (bundle / FILE_NAME).read_bytes()
    for _ in range(TRIES):
        back = wrong(bundle, dice)
        try:
            OPEN[kind](bundle)
        except (ValueError, FileNotFoundError) as error:
            refused += "\n" not in str(error)
        back()
        (bundle / FILE_NAME).write_bytes(index)
    assert refused > TRIES / 3


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_weights_that_are_no_numbers_are_refused(bundles, tmp_path, number):
    dice = random.Random(number)
    bundle = shutil.copytree(bundles["understanding"], tmp_path / "bundle")
    path = bundle / "model.safetensors"
    whole = load_file(path)
    assert OPEN["understanding"](bundle)
    for _ in range(25):
        name = dice.choice([*whole])
        changed = whole | {name: whole[name].clone()}
        changed[name].view(-1)[dice.randrange(whole[name].numel())] = float(number)
        save_file(changed, path)
        seal(bundle)
        with pytest.raises(InputError, match=f"{path}: '{name}' holds a value that is no finite"):
            OPEN["understanding"](bundle)
