"""Several labels a word: from columns to streams, and from there to entities."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairseq_plugins.corpora.readers.options import ReadOptions
from fairseq_plugins.data.text_folders import open_folder, read_gold
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.folder_check import check_folder
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.recipes.text_options import TextOptions
from fairseq_plugins.targets.entity_spans import spans_of

ROWS = "1\tder\tB-ORG\tO\n2\tKieler\tI-ORG\tB-LOC\n3\tHafen\tI-ORG\tO\n"
FILE = f"#\thttp://a [2009]\n{ROWS}\n#\thttp://b [2010]\n1\tja\tO\tO\n"
NESTED = {("ORG", 0, 2), ("LOC", 1, 1)}


def prepared(tmp_path: Path, **how: object) -> Path:
    for name in ("train", "dev"):
        (tmp_path / f"NER-de-{name}.tsv").write_text(FILE, encoding="utf-8")
        (tmp_path / f"{name}.tsv").write_text(FILE.replace("#", "\n#"), encoding="utf-8")
    options = TextOptions(
        **{"destdir": str(tmp_path / "bin"), "layers": "none", "workers": 1, **how}
    )
    prepare(options)
    return tmp_path / "bin"


def test_two_columns_become_two_levels(tmp_path):
    folder = prepared(tmp_path, dataset="germeval14", raw_dir=str(tmp_path))
    manifest = open_folder(folder, "mrc_ner")
    assert (manifest.levels, manifest.label_levels, manifest.target) == (2, 2, "entities")
    gold = read_gold(folder, manifest, "train", required=True)
    names = [[manifest.labels[i] for i in gold[number]] for number in range(2)]
    assert spans_of(names[0], 3) == NESTED
    assert names[1] == ["O", "O"]
    assert "the numbers of train, valid sound" in check_folder(folder)


@pytest.mark.parametrize("nested", ["", "4"])
def test_levels_stand_in_the_manifest_only_where_there_are_some(tmp_path, nested):
    rows = ROWS + "\n1\tja\tO\tO\n"
    (tmp_path / "own.tsv").write_text(rows, encoding="utf-8")
    read = ReadOptions(token_column=2, tag_column=3, nested_columns=nested)
    own = {"dataset": "tokens", "train_file": str(tmp_path / "own.tsv"), "read": read}
    folder = prepared(tmp_path, **own)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert ("levels" in manifest) == bool(nested)
    assert ("nested_columns" in manifest["options"]["read"]) == bool(nested)
    labels = {"O", "B-ORG", "I-ORG"} | ({"B-LOC"} if nested else set())
    assert {*manifest["labels"]} == labels
    if nested:
        with pytest.raises(InputError, match="has 2 labels a word"):
            open_folder(folder, "sequence_labeling")
    else:
        assert open_folder(folder, "sequence_labeling").levels == 0
