"""Learning a subword model: more merges than the text has are said, with a size that would do."""

from __future__ import annotations

import logging
from pathlib import Path

from raw_corpora import invented_pairs, make_options, write_pairs

from fairseq_plugins.prep.recipes.translation import prepare

OPTIONS = {"tokenizer": "pretokenized", "features": ""}


def warnings_of(folder: Path, caplog, size: int) -> list[str]:
    write_pairs(folder / "train", invented_pairs(40))
    with caplog.at_level(logging.WARNING):
        prepare(make_options(folder / "out", trainpref=folder / "train", bpe_size=size, **OPTIONS))
    return [text for text in caplog.messages if "--bpe-size" in text]


def test_more_merges_than_there_are_is_said(tmp_path, caplog):
    (said,) = warnings_of(tmp_path, caplog, 8000)
    found, wanted = (int(word) for word in said.split()[1:4:2])
    assert wanted == 8000
    codes = (tmp_path / "out/codes.bpe").read_text().splitlines()
    assert found == len(codes) - 1 > 4
    assert f"such as {found // 4}," in said


def test_as_many_as_there_are_is_not(tmp_path, caplog):
    assert warnings_of(tmp_path, caplog, 20) == []
