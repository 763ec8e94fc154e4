"""fairseq's own translation task on the same folder: the plain baseline."""

from __future__ import annotations

import pytest
from cli.commands import USER_DIR, generate, train

STOCK = "--task translation --source-lang en --target-lang de"


@pytest.fixture(scope="module")
def stock(folder, tmp_path_factory):
    """Checkpoint of fairseq's transformer by fairseq's task, without our plug-ins."""
    save_dir = tmp_path_factory.mktemp("stock")
    options = "--arch transformer_tiny --max-update 40 --no-epoch-checkpoints --validate-interval 4"
    log = train(folder, save_dir, f"{STOCK} {options}")
    losses = [float(record["valid_loss"]) for record in log.logged("valid")]
    assert losses[-1] < losses[0]
    return save_dir / "checkpoint_last.pt"


@pytest.mark.slow
def test_stock_task_translates_the_folder(folder, stock):
    """``--user-dir`` lets torch load fairseq's options, the multiple keeps the last sentences."""
    options = f"{STOCK} --user-dir {USER_DIR} --remove-bpe --batch-size 64"
    found = generate(folder, stock, f"{options} --required-batch-size-multiple 1")
    assert sorted(found.numbers("H")) == list(range(37))
    assert len(set(found.lines("H"))) > 5


def test_stock_task_by_default_loses_what_ours_keeps(folder, stock):
    """The reason for `test_every_sentence`, and for the option above."""
    found = generate(folder, stock, f"{STOCK} --user-dir {USER_DIR} --batch-size 64")
    assert len(found.lines("H")) == 32


@pytest.mark.slow
def test_task_and_model_of_different_kinds_are_told_apart(folder, model, stock, tmp_path):
    refused = generate(folder, stock, fails=True)
    assert "--task syntax_translation does not take --arch transformer_tiny" in refused.err
    refused = generate(folder, model, f"{STOCK} --user-dir {USER_DIR}", fails=True)
    assert "syntax_transformer needs --task syntax_translation" in refused.err
    options = f"{STOCK} --user-dir {USER_DIR} --arch syntax_transformer_tiny --max-update 1"
    refused = train(folder, tmp_path, options, fails=True)
    assert "syntax_transformer needs --task syntax_translation" in refused.err
