"""A checkpoint that tries to run code is refused everywhere, and nothing of it is executed.

The code would make a file; it is shown first that a careless loader does make it.
"""

from __future__ import annotations

import os
import pickle
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from cli.commands import USER_DIR, generate, interactive, run, state_of, train

from fairseq_plugins.errors import InputError
from fairseq_plugins.models.syntax_transformer import SyntaxTransformerModel

pytestmark = pytest.mark.slow

STOCK = f"--task translation --user-dir {USER_DIR} --source-lang en --target-lang de"
KINDS = ["zip", "legacy", "bare", "nested"]


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


@pytest.fixture(params=KINDS)
def pickled(request, model, tmp_path):
    """A checkpoint with code in it, and the file that the code would make."""
    path, mark = tmp_path / "checkpoint_last.pt", tmp_path / "executed"
    state = state_of(model)
    if request.param == "nested":
        state["args"] = Namespace(arch="syntax_transformer_tiny", evil=Evil(mark))
    else:
        state["evil"] = Evil(mark)
    if request.param == "bare":
        path.write_bytes(pickle.dumps(state))
        pickle.loads(path.read_bytes())
    else:
        torch.save(state, path, _use_new_zipfile_serialization=request.param != "legacy")
        torch.load(path, weights_only=False)
    assert mark.is_file()  # so would a careless loader have done
    mark.unlink()
    return path, mark


def test_pickled_code_is_refused_everywhere(folder, pickled, tmp_path):
    path, mark = pickled
    average = "average"
    refusals = [
        generate(folder, path, fails=True),
        interactive(folder, path, stdin="The dog.\n", fails=True),
        train(folder, tmp_path / "a", f"--max-update 1 --restore-file {path}", fails=True),
        train(folder, tmp_path / "b", f"--max-update 1 --finetune-from-model {path}", fails=True),
        run(average, path, "--output", tmp_path / "average.pt", fails=True),
        run("plot attention", path, "--sentence", "The dog.", fails=True),
        run("fairseq-validate", folder, "--path", path, *_validation(), fails=True),
    ]
    for refusal in refusals:
        assert any(word in refusal.err for word in ("refused", "Weights only load failed"))
    with pytest.raises(InputError, match="refused: "):
        SyntaxTransformerModel.from_pretrained(str(path.parent), path.name)
    assert not mark.exists()
    assert not (tmp_path / "average.pt").exists()


def _validation():
    options = f"--cpu --task syntax_translation --user-dir {USER_DIR} --batch-size 8"
    return options.split()


@pytest.fixture
def textual(model, tmp_path):
    """A checkpoint of tensors and text alone; fairseq's transformer_lm evaluates that text."""
    path, mark = tmp_path / "textual.pt", tmp_path / "executed"
    state = state_of(model)
    state["cfg"]["model"] = {
        "_name": "transformer_lm",
        "character_embeddings": True,
        "character_filters": f"__import__('pathlib').Path({str(mark)!r}).touch() or [(1, 2)]",
    }
    torch.save(state, path)
    return path, mark


def test_text_that_fairseq_would_evaluate_is_refused(folder, textual, tmp_path):
    path, mark = textual
    generate(folder, path, STOCK, fails=True)
    assert mark.is_file()  # the trap works on fairseq's own task
    mark.unlink()
    refusals = [
        generate(folder, path, fails=True),
        interactive(folder, path, stdin="The dog.\n", fails=True),
        run("plot attention", path, "--sentence", "The dog.", fails=True),
        run("fairseq-validate", folder, "--path", path, *_validation(), fails=True),
    ]
    for refusal in refusals:
        assert "transformer_lm" in refusal.err
    with pytest.raises(InputError, match="transformer_lm"):
        SyntaxTransformerModel.from_pretrained(str(path.parent), path.name)
    average = [path, "--output", tmp_path / "average.pt"]
    run("average", *average)  # reads no options: nothing to refuse
    assert not mark.exists()


def test_text_is_not_evaluated_when_training_goes_on(folder, textual, tmp_path):
    """The weights fit, and the model is built from the command line: only they are taken."""
    path, mark = textual
    for option in ("--restore-file", "--finetune-from-model"):
        options = f"--max-update 1 --reset-optimizer --disable-validation {option} {path}"
        if option == "--finetune-from-model":
            options = options.replace("--reset-optimizer", "")
        train(folder, tmp_path / option, options)
    assert not mark.exists()


def test_python_refuses_a_task_of_fairseq(model, tmp_path):
    """The checkpoint names the task there: fairseq's own would evaluate the text."""
    state = state_of(model)
    state["cfg"]["task"]["_name"] = "translation"
    torch.save(state, tmp_path / "checkpoint.pt")
    with pytest.raises(InputError, match="'translation'"):
        SyntaxTransformerModel.from_pretrained(str(tmp_path), "checkpoint.pt")


def test_options_are_closed_when_fairseq_reads_the_file(folder, model, generated, tmp_path):
    """No file is opened, no variable looked up; models/test_closedcheckpoints.py has more."""
    state = state_of(model)
    state["cfg"]["model"] |= {"encoder_embed_path": "/no", "decoder_embed_path": "/no"}
    state["cfg"]["generation"]["replace_unk"] = "/no"
    state["cfg"]["bpe"] = {"_name": "gpt2", "gpt2_encoder_json": "/no", "gpt2_vocab_bpe": "/no"}
    path = tmp_path / "opens.pt"
    torch.save(state, path)
    assert generate(folder, path, "--batch-size 16").lines("H") == generated.lines("H")
    run("fairseq-validate", folder, "--path", path, *_validation())
    state["cfg"]["model"]["features"] = state["cfg"]["task"]["source_lang"] = "${oc.env:PATH}"
    torch.save(state, path)
    refusals = [
        generate(folder, path, fails=True),
        run("fairseq-validate", folder, "--path", path, *_validation(), fails=True),
    ]
    for refusal in refusals:
        assert "refers to something else" in refusal.err.strip().splitlines()[-1]
        assert os.environ["PATH"] not in refusal.err + refusal.out
