"""``--target-layers``: what the target subwords carry, beside text in small letters."""

from __future__ import annotations

from pathlib import Path

import pytest
from raw_corpora import (
    RuleAnnotator,
    contents,
    invented_pairs,
    make_options,
    stream_rows,
    symbols,
    tag,
    write_pairs,
)

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.translation_folders import load_layers
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.folder_check import check_folder
from fairseq_plugins.prep.recipes import translation
from fairseq_plugins.prep.recipes.like import options_of
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.prep.shares import Share
from fairseq_plugins.prep.subset import write_subset
from fairseq_plugins.syntax.casing import lowered, restored
from fairseq_plugins.text.source_encoder import TargetDecoder

CUTS = [{}, {"subwords": "sentencepiece", "bpe_size": 120}, {"subwords": "none"}]
WORDS = {"tokenizer": "pretokenized", "subwords": "none", "features": ""}


@pytest.fixture
def raw(tmp_path):
    """Two splits, and the options that name them."""
    for seed, (split, count) in enumerate({"train": 40, "test": 9}.items()):
        pairs = invented_pairs(count, seed)
        write_pairs(tmp_path / split, [(s, f"{t} McX" if s < "The" else t) for s, t in pairs])
    return {f"{split}pref": tmp_path / split for split in ("train", "test")}


def given_back(folder, split):
    """Return the lines of a split, made of its subwords and their labels, and how many are lost."""
    manifest = read_manifest(folder)
    (layer,) = load_layers([folder], manifest, of_target=True)
    decoder, labels = TargetDecoder.from_folder(folder, manifest), layer.inventory.symbols
    lines, lost = [], 0
    rows = stream_rows(folder, split, "de.truecase")
    for text, row in zip(symbols(folder, "de", split), rows, strict=True):
        pieces = text.split() if isinstance(text, str) else text
        assert pieces == [lowered(piece) for piece in pieces]
        names = [labels[i] for i in row]
        lost += names.count("mixed")
        found = [restored(*pair) for pair in zip(pieces, names, strict=True)]
        lines.append(decoder.detokenize(decoder.remove_subwords(" ".join(found))))
    return lines, lost


@pytest.mark.parametrize("cut", CUTS)
def test_subwords_and_labels_give_the_text_back(cut, raw, tmp_path, small_chunks):
    options = {**raw, **cut, "features": "", "tokenizer": "pretokenized"}
    manifest = prepare(make_options(tmp_path / "out", target_layers="truecase", **options))
    assert manifest.target_features == ["truecase"]
    written = (tmp_path / "train.de").read_text().splitlines()
    found, lost = given_back(tmp_path / "out", "train")
    assert lost == manifest.alignment["train"].get("truecase_mixed", 0)
    same = [a == " ".join(b.split()) for a, b in zip(found, written, strict=True)]
    assert sum(not one for one in same) <= lost
    assert lost or all(same)
    assert [lowered(line) for line in found] == [lowered(line) for line in written]
    assert any(line != lowered(line) for line in written)
    check_folder(tmp_path / "out")


def test_shards_workers_and_like_give_the_same_bytes(raw, tmp_path, small_chunks):
    how = {**raw, "features": "case", "target_layers": "truecase,subword"}
    prepare(make_options(tmp_path / "one", **how))
    for shard in ("1/2", "2/2"):
        prepare(make_options(tmp_path / "two", shard=shard, workers=2, **how))
    prepare(make_options(tmp_path / "two", merge=True, **how))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    write_subset(tmp_path / "one", tmp_path / "half", Share(0.5, 1))
    assert len(stream_rows(tmp_path / "half", "train", "de.truecase")) == 20
    check_folder(tmp_path / "half")
    paths = {"testpref": str(raw["testpref"]), "destdir": str(tmp_path / "like"), "workers": 1}
    prepare(options_of({"like": str(tmp_path / "one"), **paths}))
    rows = [stream_rows(tmp_path / name, "test", "de.truecase") for name in ("one", "like")]
    assert rows[0] == rows[1]
    codes = {"bpe_codes": str(tmp_path / "one" / "codes.bpe"), "features": "case"}
    options = make_options(tmp_path / "wrong", **raw, **codes)
    with pytest.raises(InputError, match="prepared with --target-layers 'truecase'"):
        prepare(options)


def test_folders_without_say_nothing_of_it(raw, tmp_path):
    prepare(make_options(tmp_path / "out", features="", **raw))
    assert "target" not in (tmp_path / "out" / FILE_NAME).read_text().replace(
        "target_lang", ""
    ).replace('"target": {', "").replace(".target", "")


def test_an_annotator_of_the_target(raw, tmp_path, monkeypatch):
    monkeypatch.setattr(translation.annotators, "load_annotator", lambda *_: RuleAnnotator())
    how = {**raw, **WORDS, "target_layers": "truecase,pos", "target_annotator": "rule"}
    manifest = prepare(make_options(tmp_path / "out", **how))
    assert manifest.annotator["target"] == "rule 1 00"
    assert not manifest.annotator_id
    layers = load_layers([tmp_path / "out"], manifest, of_target=True)
    rows = stream_rows(tmp_path / "out", "test", "de.pos")
    for line, row in zip((tmp_path / "test.de").read_text().splitlines(), rows, strict=True):
        assert layers[1].inventory.ids(map(tag, line.split())) == row


def test_an_annotation_of_other_target_lines_is_noticed(raw, tmp_path):
    how = {**raw, **WORDS, "target_layers": "pos", "target_conllu": True}
    for prefix in raw.values():
        lines = Path(f"{prefix}.de").read_text().splitlines()
        first, second, *others = [
            "".join(f"{i}\t{w}\t_\tX" + "\t_" * 6 + "\n" for i, w in enumerate(line.split(), 1))
            for line in lines
        ]
        Path(f"{prefix}.de.conllu").write_text("\n".join([second, first, *others, ""]))
    found = prepare(make_options(tmp_path / "out", **how)).alignment["train"]
    assert found["failed_lines"] == 2
    assert found["repaired_target_words"] > 2
    with pytest.raises(InputError, match="target words do not match the annotation .its char"):
        prepare(make_options(tmp_path / "error", on_misalignment="error", **how))
    manifest = prepare(make_options(tmp_path / "skip", on_misalignment="skip", **how))
    assert manifest.alignment["train"] == {"skipped_lines": 2}
    assert manifest.splits["train"]["lines"] == 38


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target_layers": "lemma"}, "'lemma' is no layer of targets; choices: pos, case"),
        ({"target_layers": "heads"}, "'heads' is no layer of targets"),
        ({"target_layers": "nothing"}, "unknown layer 'nothing'"),
        ({"target_layers": "pos"}, "pos need --target-annotator or --target-conllu"),
        ({"target_annotator": "x"}, "are for --target-layers such as pos"),
        ({"layers": "truecase"}, "'truecase' is a layer of target text; choices: pos"),
        ({"target_layers": "truecase", "only_source": True}, "not with --only-source"),
    ],
)
def test_what_cannot_be_is_refused(options, message, raw, tmp_path):
    with pytest.raises(InputError, match=message):
        make_options(tmp_path / "out", **raw, **options)
