"""No sentence is lost and none changes with its batch, from generation to the score."""

from __future__ import annotations

import json
import math

import pytest
import sacrebleu
from cli.commands import USER_DIR, generate, run, state_of

pytestmark = pytest.mark.slow

BATCHES = ["--batch-size 1", "--batch-size 7", "--batch-size 64", "--max-tokens 150"]


@pytest.mark.parametrize("batch", BATCHES)
def test_generation_keeps_every_sentence_whatever_the_batch(folder, model, generated, batch):
    """fairseq's default --required-batch-size-multiple 8 would drop 5 of the 37."""
    found = generate(folder, model, batch)
    assert sorted(found.numbers("H")) == list(range(37))
    assert found.lines("H") == generated.lines("H")
    assert found.lines("T") == generated.lines("T")
    assert "Translated 37 sentences" in found.out


def test_the_model_says_different_things(generated):
    """Else the equalities of this room would prove little."""
    assert len(set(generated.lines("H"))) > 25


def test_generation_keeps_a_split_smaller_than_the_multiple(folder, model, generated):
    found = generate(folder, model, "--gen-subset test1 --batch-size 64")
    assert found.lines("H") == generated.lines("H")[:3]


@pytest.mark.parametrize("batch", ["--batch-size 7", "--max-tokens 150"])
def test_validation_counts_every_sentence(folder, trained, model, batch):
    """``bsz`` and ``wpb`` are sums over the split here; the loss is the one of training."""
    arguments = [folder, "--path", model, "--user-dir", USER_DIR, "--task", "syntax_translation"]
    options = f"--cpu --num-workers 0 --log-format json --valid-subset valid,test {batch}"
    found = run("fairseq-validate", *arguments, *options.split())
    (valid,), (test,) = found.logged("valid"), found.logged("test")
    tokens = json.loads((folder / "manifest.json").read_text())["splits"]
    for record, split, lines in ((valid, "valid", 40), (test, "test", 37)):
        assert float(record[f"{split}_bsz"]) == lines
        assert float(record[f"{split}_wpb"]) == tokens[split]["tokens"]["de"]
    trained_loss = state_of(model)["extra_state"]["val_loss"]
    assert math.isclose(float(valid["valid_loss"]), trained_loss, abs_tol=0.0011)


def test_score_script_scores_every_sentence(corpus, generated, tmp_path):
    log = tmp_path / "generate.log"
    log.write_text(generated.out, encoding="utf-8")
    reference = corpus / "test.de"
    arguments = ["--sys", log, "--ref", reference, "--lang", "de", "--json", tmp_path / "out.json"]
    run("score", *arguments)
    (system,) = json.loads((tmp_path / "out.json").read_text())["systems"]
    references = reference.read_text(encoding="utf-8").splitlines()
    expected = sacrebleu.corpus_bleu(generated.lines("D"), [references])
    assert system["sentences"] == 37
    assert system["figures"]["bleu"] == pytest.approx(expected.score, abs=0.01)
    printed = sacrebleu.corpus_bleu(generated.lines("D"), [generated.lines("T")])
    assert f"Generate test with beam=4: {printed.format()}\n" in generated.out


def test_fairseq_score_reads_the_output(corpus, generated, tmp_path):
    """Without ``--sacrebleu``, which fairseq calls in a way that sacreBLEU 2 refuses."""
    ordinary = slice(0, 32)  # BLEU of words; fairseq counts <unk> in a reference otherwise
    systems = generated.lines("D")[ordinary]
    references = (corpus / "test.de").read_text(encoding="utf-8").splitlines()[ordinary]
    for name, lines in (("sys", systems), ("ref", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    expected = sacrebleu.corpus_bleu(systems, [references], tokenize="none", force=True)
    found = run("fairseq-score", "--sys", tmp_path / "sys", "--ref", tmp_path / "ref")
    assert f"BLEU4 = {expected.score:.2f}" in found.out
