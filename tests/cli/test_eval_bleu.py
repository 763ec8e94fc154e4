"""BLEU during training: the figure generation gives, chosen by, and harmless to checkpoints."""

from __future__ import annotations

import json

import pytest
import sacrebleu
from cli.commands import generate, state_of, train

pytestmark = pytest.mark.slow

BEAM = {"beam": 4, "max_len_b": 20}
RUN = "--max-update 25 --validate-interval 2 --no-epoch-checkpoints"
BY_BLEU = "--eval-bleu --best-checkpoint-metric bleu --maximize-best-checkpoint-metric"


@pytest.fixture(scope="module")
def chosen(folder, tmp_path_factory):
    """Folder of a run that kept its best checkpoint by BLEU, and its validation records."""
    save_dir = tmp_path_factory.mktemp("bleu")
    arguments = ["--eval-bleu-args", json.dumps(BEAM)]
    log = train(folder, save_dir, f"{RUN} {BY_BLEU}", *arguments)
    return save_dir, log.logged("valid")


def test_bleu_is_that_of_generation(folder, corpus, chosen):
    save_dir, records = chosen
    path = save_dir / "checkpoint_best.pt"
    found = generate(folder, path, "--gen-subset valid")
    references = (corpus / "valid.de").read_text(encoding="utf-8").splitlines()
    assert found.lines("T") == references
    expected = sacrebleu.corpus_bleu(found.lines("D"), [references]).score
    best = state_of(path)["extra_state"]["best"]
    assert best > 1
    assert best == pytest.approx(expected, abs=0.011)
    assert best == pytest.approx(max(float(record["valid_bleu"]) for record in records), abs=0.011)


def test_best_checkpoint_is_the_best_by_bleu(chosen):
    save_dir, records = chosen
    scores = [float(record["valid_bleu"]) for record in records]
    assert len(scores) == 3
    (update,) = {r["valid_num_updates"] for r in records if float(r["valid_bleu"]) == max(scores)}
    saved = state_of(save_dir / "checkpoint_best.pt")["optimizer_history"][-1]["num_updates"]
    assert saved == int(update)


def test_training_goes_on_from_a_checkpoint_with_bleu(folder, chosen, tmp_path):
    options = f"--max-update 28 {BY_BLEU} --restore-file {chosen[0] / 'checkpoint_last.pt'}"
    log = train(folder, tmp_path, options)
    state = state_of(tmp_path / "checkpoint_last.pt")
    assert state["optimizer_history"][-1]["num_updates"] == 28
    assert "valid_best_bleu" in log.logged("valid")[-1]


def test_the_first_validation_says_what_it_does(folder, tmp_path):
    options = "--max-update 2 --validate-interval 1 --no-epoch-checkpoints --lr 1e-9 --eval-bleu"
    log = train(folder, tmp_path, options)
    assert log.out.count("validation translates 40 sentences for BLEU: beam 5, at most 2 x") == 1
