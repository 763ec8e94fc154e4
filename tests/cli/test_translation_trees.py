"""Trees on the way through the commands: prepared by ``--parse``, read in training and raw text."""

from __future__ import annotations

import pytest
from cli.commands import generate, interactive, state_of, train
from cli.conftest import prepare_corpus

from fairseq_plugins.models.syntax_transformer import SyntaxTransformerModel

SLA = "--encoder-attention sla --tree-threshold 1"


@pytest.fixture(scope="module")
def parsed(corpus, tmp_path_factory):
    """The corpus with trees of the bundled pipeline."""
    return prepare_corpus(corpus, tmp_path_factory.mktemp("parsed") / "tiny", parse=True)


@pytest.mark.slow
def test_every_way_to_translate_gives_the_same(parsed, test_lines, tmp_path):
    train(parsed, tmp_path, f"{SLA} --max-update 60 --disable-validation --no-epoch-checkpoints")
    checkpoint = tmp_path / "checkpoint_last.pt"
    assert state_of(checkpoint)["cfg"]["model"]["tree_threshold"] == 1
    found = generate(parsed, checkpoint, "--batch-size 7")
    assert sorted(found.numbers("H")) == list(range(37))
    assert len(set(found.lines("H"))) > 15
    raw = interactive(parsed, checkpoint, "--buffer-size 9 --batch-size 4", stdin=test_lines)
    assert raw.lines("H") == found.lines("H")
    assert "ANOTHER ANNOTATOR" not in raw.out + raw.err
    translator = SyntaxTransformerModel.from_pretrained(str(tmp_path), "checkpoint_last.pt")
    python = translator.translate(test_lines.splitlines(), beam=4, max_len_b=20)
    assert python == found.lines("D")


@pytest.mark.slow
def test_a_folder_without_parses_is_refused_before_training(folder, parsed, tmp_path):
    told = train(folder, tmp_path / "a", SLA, fails=True)
    last = told.err.strip().splitlines()[-1]
    assert "--encoder-attention sla reads parse trees, but" in last
    assert "prepared without: prepare it with --layers pos,case,subword,heads" in last
    wrong = train(parsed, tmp_path / "b", "--encoder-attention slow", fails=True)
    assert "choices are sla, wla, parent, child, sibling, none" in wrong.err.splitlines()[-1]
    assert not list(tmp_path.rglob("*.pt"))
