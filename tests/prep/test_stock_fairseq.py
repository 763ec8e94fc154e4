"""Stock fairseq reads our folders, and makes the same of the same segmented text."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairseq import options as fairseq_options
from fairseq.data import Dictionary
from fairseq.tasks.translation import load_langpair_dataset
from fairseq_cli import preprocess
from raw_corpora import contents, invented_pairs, make_options, write_lines, write_pairs

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.text.raw_text import line_reader
from fairseq_plugins.text.source_encoder import folder_segmenter

SPLITS = {"train": 700, "valid": 9, "test": 11}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Three splits; the test set holds words that are not in training, and an empty line."""
    folder = tmp_path_factory.mktemp("corpus")
    for seed, (split, count) in enumerate(SPLITS.items()):
        write_pairs(folder / split, invented_pairs(count, seed))
    pairs = [*invented_pairs(9, 5), ("\u0416\u0448 \u4e2d", "\u0416\u0448 \u4e2d"), ("", "")]
    write_pairs(folder / "test", pairs)
    return folder


def prepare_folder(corpus: Path, name: str, **values) -> Path:
    """Prepare without parts of speech: they are no matter of fairseq's."""
    prefixes = {f"{split}pref": corpus / split for split in SPLITS}
    prepare(
        make_options(corpus / name, features="case,subword", bpe_size=800, **prefixes, **values)
    )
    return corpus / name


def segment(corpus: Path, folder: Path) -> Path:
    """Write the corpus as subwords, with the folder's own model."""
    manifest = read_manifest(folder)
    for side, lang in (("source", "en"), ("target", "de")):
        settings = manifest.segmentation[side]
        segmenter = folder_segmenter(folder, manifest, side)
        read = line_reader(settings["tokenizer"], settings["normalizer"], lang)
        for split in SPLITS:
            lines = (corpus / f"{split}.{lang}").read_text(encoding="utf-8").split("\n")[:-1]
            rows = [" ".join(segmenter.segment(read(line))[0]) for line in lines]
            write_lines(folder.parent / f"{folder.name}.text" / f"{split}.{lang}", rows)
    return folder.parent / f"{folder.name}.text"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, []),
        ({"joined_dictionary": True}, ["--joined-dictionary"]),
        (
            {"thresholdsrc": 2, "nwordstgt": 300},
            ["--thresholdsrc", "2", "--nwordstgt", "300"],
        ),
    ],
    ids=["default", "joined", "cut"],
)
def test_fairseq_preprocess_makes_the_same_files(ours, theirs, corpus, request) -> None:
    folder = prepare_folder(corpus, request.node.callspec.id, **ours)
    text, stock = segment(corpus, folder), folder.parent / f"{folder.name}.stock"
    prefixes = [part for s in SPLITS for part in (f"--{s}pref", str(text / s))]
    parser = fairseq_options.get_preprocessing_parser()
    arguments = ["-s", "en", "-t", "de", "--destdir", str(stock), *prefixes, *theirs]
    preprocess.main(parser.parse_args(arguments))
    mine, stocks = contents(folder), contents(stock)
    stocks.pop("preprocess.log")
    assert len(stocks) == 2 + 2 * 2 * len(SPLITS)
    assert len(stocks["dict.en.txt"].splitlines()) > 252  # small ids are one byte wide with us
    for name, data in stocks.items():
        assert mine[name] == data, name


def test_fairseq_loads_dictionaries_and_pairs(corpus) -> None:
    folder = prepare_folder(corpus, "loaded")
    dictionaries = {
        lang: Dictionary.load(str(folder / f"dict.{lang}.txt")) for lang in ("en", "de")
    }
    manifest = read_manifest(folder)
    for split, lines in SPLITS.items():
        dataset = load_langpair_dataset(
            *(str(folder), split, "en", dictionaries["en"], "de", dictionaries["de"]),
            combine=True,
            dataset_impl=None,
            upsample_primary=1,
            left_pad_source=True,
            left_pad_target=False,
            max_source_positions=1024,
            max_target_positions=1024,
        )
        assert len(dataset) == lines == manifest.splits[split]["lines"]
        tokens = sum(len(dataset[i]["source"]) for i in range(lines))
        assert tokens == manifest.splits[split]["tokens"]["en"]
    text = dictionaries["en"].string(dataset[0]["source"], "subword_nmt")
    line = (corpus / "test.en").read_text(encoding="utf-8").split("\n")[0]
    assert text == line_reader("moses", "none", "en")(line)
