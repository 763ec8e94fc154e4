"""Protected spans from a corpus to translations: a run, a prepared split and a bundle copy URLs."""

from __future__ import annotations

import json
import logging

import pytest
from inference import translation_runs as runs
from prepared import batches
from raw_corpora import make_options, stream_rows, write_pairs

from fairseq_plugins.bundles.ctranslate2_model import Search
from fairseq_plugins.bundles.translation import Translator
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prepared_splits import read_split
from fairseq_plugins.inference.translation_export import export_translation
from fairseq_plugins.models import SyntaxTransformerModel
from fairseq_plugins.prep.folder_check import check_folder
from fairseq_plugins.prep.recipes.like import options_of
from fairseq_plugins.prep.recipes.translation import prepare

URLS = [f"https://site{i}.org/{chr(97 + i % 26)}?q={i}" for i in range(60)]
WORDS = {"the man": "der Mann", "the dog": "der Hund", "my cat": "meine Katze"}
VERBS = {"reads": "liest", "likes": "mag", "sees": "sieht"}
NEW = "https://example.com/a?b=c&d=1"


def pair(number: int) -> tuple[str, str]:
    who, verb = [*WORDS][number % 3], [*VERBS][number // 3 % 3]
    urls = URLS[number : number + 1 + number % 2]
    source, target = " and ".join(urls), " und ".join(urls)
    return f"{who} {verb} {source} .", f"{WORDS[who]} {VERBS[verb]} {target} ."


@pytest.fixture(scope="module", params=["urls", ""])
def run(request, tmp_path_factory):
    """A trained run and its bundle, with protection and without."""
    place = tmp_path_factory.mktemp("run")
    write_pairs(place / "train", [pair(i) for i in range(50)])
    write_pairs(place / "test", [pair(i) for i in range(50, 58)])
    how = {"trainpref": place / "train", "testpref": place / "test", "features": "case"}
    prepare(make_options(place / "data", protect=request.param, **how))
    runs.save_trained(place / "data", place / "model.pt", steps=60, features="case")
    export_translation(place / "model.pt", place / "bundle", data=place / "data")
    return place, bool(request.param)


def test_models_copy_urls_that_training_never_showed(run, caplog) -> None:
    place, protects = run
    hub = SyntaxTransformerModel.from_pretrained(str(place), "model.pt", str(place / "data"))
    bundle = Translator.open(place / "bundle")
    lines = [f"the dog likes {NEW} .", f"my cat sees {NEW} and www.b.de/_ ."]
    expected = [f"der Hund mag {NEW}.", f"meine Katze sieht {NEW} und www.b.de/_."]
    found = hub.translate(lines, beam=2)
    assert found == bundle.translate(lines, beam=2)
    assert (found == expected) == protects
    assert any(NEW in one for one in found) == protects
    assert "protected" not in caplog.text


def test_prepared_splits_are_translated_with_their_spans(run) -> None:
    place, protects = run
    hub = SyntaxTransformerModel.from_pretrained(str(place), "model.pt", str(place / "data"))
    task, expected = hub.task, [pair(i)[1].replace(" .", ".") for i in range(50, 58)]
    task.load_dataset("test", task_cfg=task.cfg)
    generator, texts = task.build_generator(hub.models, hub.cfg.generation), {}
    for batch in batches(task, "test"):
        found = task.inference_step(generator, hub.models, batch)
        for i, target, (best, *_) in zip(batch["id"].tolist(), batch["target"], found):
            texts[i] = hub.decode(best["tokens"]), hub.decode(target[target != 1])
    assert ([texts[i] for i in sorted(texts)] == [*zip(expected, expected)]) == protects
    translator = Translator.open(place / "bundle")
    rows = [*read_split(translator, str(place / "data"), "test")]
    best = translator.of_ids([row for _, row, _, _ in rows], Search(), [held for *_, held in rows])
    assert ([one.text for one, *_ in best] == expected) == protects
    assert ([target for _, _, target, _ in rows] == expected) == protects


def test_spans_that_do_not_fit_are_counted_and_named(run, caplog) -> None:
    place, protects = run
    if not protects:
        return
    lines = ["the dog likes the man .", "www.a.de www.b.de www.c.de www.d.de www.e.de"]
    with caplog.at_level(logging.WARNING):
        (first,), (second,) = Translator.open(place / "bundle").hypotheses(lines)
    named = [f"line 1: {one}" for one in first.misfits] + [f"line 2: {x}" for x in second.misfits]
    assert named
    assert f"{len(named)} protected spans are not as in the source: " in caplog.text
    assert named[0] in caplog.text
    assert "<p" not in first.text + second.text


def test_folders_record_what_they_protect(run, tmp_path) -> None:
    place, protects = run
    manifest = read_manifest(place / "data")
    assert ("protect" in manifest.options) == protects
    assert (place / "data" / "test.en-de.en.protected.bin").is_file() == protects
    check_folder(place / "data")
    if not protects:
        return
    assert manifest.alignment["train"]["protected"] == 75
    held = stream_rows(place / "data", "test", "en.protected")
    assert "".join(map(chr, held[1])).split("\n") == URLS[51:53]
    write_pairs(tmp_path / "new", [(f"see {NEW}", f"sieh {NEW} www.c.de")])
    like = {"like": str(place / "data"), "testpref": str(tmp_path / "new"), "workers": 1}
    prepare(options_of(like | {"destdir": str(tmp_path / "out")}))
    new = read_manifest(tmp_path / "out")
    assert new.options["protect"] == manifest.options["protect"]
    assert new.alignment["test"]["protected_target_left_as_text"] == 1
    with pytest.raises(InputError, match="--protect emails contradicts --like"):
        options_of(like | {"destdir": str(tmp_path / "other"), "protect": "emails"})
    text = json.loads((place / "bundle" / "text" / "manifest.json").read_text())
    assert text["options"]["protect"] == manifest.options["protect"]


def test_protection_of_nothing_is_said(run, tmp_path, caplog) -> None:
    place, protects = run
    if not protects:
        caplog.set_level(logging.INFO)
        prepare(make_options(tmp_path / "out", trainpref=place / "train", protect="/§+/"))
        assert "--protect /§+/: no line has such text" in caplog.text
        assert "protected: 1 pattern" in caplog.text


def test_dictionaries_without_places_are_refused(run, tmp_path) -> None:
    place, protects = run
    if protects:
        return
    (tmp_path / "dict").write_bytes((place / "data" / "dict.en.txt").read_bytes())
    options = make_options(
        tmp_path / "out", trainpref=place / "train", srcdict=tmp_path / "dict", protect="urls"
    )
    with pytest.raises(InputError, match="has no <p0>, which --protect needs"):
        prepare(options)
