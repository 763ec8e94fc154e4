"""Training by fairseq itself: checkpoints that know their data, BLEU, and what a tag is worth."""

from __future__ import annotations

import math
import re
import shutil
from argparse import Namespace
from dataclasses import replace

import pytest
import sacrebleu
import torch
from fairseq import checkpoint_utils
from prepared import (
    StubDecoder,
    batches,
    config,
    make_model,
    make_task,
    prepare,
    random_pairs,
    train,
)

from fairseq_plugins.tasks._generation import log_bleu

VALID = random_pairs(21, seed=1)
TINY = "--arch syntax_transformer_tiny --lr 0.003 --max-tokens 200 --criterion label_smoothed_"
TINY = (
    TINY + "cross_entropy --label-smoothing 0.1 --max-update 12 --no-save-optimizer-state"
).split()
BLEU = ["--eval-bleu", "--eval-bleu-args", '{"beam": 2, "max_len_b": 10}']


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder, and the checkpoint of a short training with BLEU as the metric."""
    from fairseq_plugins.tasks import SyntaxTranslationTask

    root = tmp_path_factory.mktemp("run")
    folder = prepare(root / "data", {"train": random_pairs(80), "valid": VALID})
    metric = "--best-checkpoint-metric bleu --maximize-best-checkpoint-metric --store-ema"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SyntaxTranslationTask, "build_target_decoder", lambda self: StubDecoder())
        path = train(folder, root / "run", *TINY, *BLEU, *metric.split(), "--features", "pos,case")
    return folder, path


@pytest.mark.slow
def test_checkpoint_holds_no_code_and_knows_features_and_annotator(trained):
    state = torch.load(trained[1], weights_only=True)
    assert not torch.serialization.get_unsafe_globals_in_checkpoint(trained[1])
    options = state["cfg"]["model"]
    assert (options["_name"], options["features"]) == ("syntax_transformer_tiny", "pos,case")
    assert options["annotator"] == "toy 1 abc"
    assert (options["encoder_embed_dim"], options["decoder_layers"]) == (64, 2)
    assert state["cfg"]["task"]["_name"] == "syntax_translation"


def test_loaded_model_is_the_saved_one(trained):
    task = make_task(trained[0])
    (model,), _ = checkpoint_utils.load_model_ensemble([str(trained[1])], task=task, strict=True)
    saved = torch.load(trained[1], weights_only=True)["model"]
    assert model.needs.features == ("pos", "case")
    assert saved.keys() == model.state_dict().keys()
    assert all(torch.equal(value, saved[key]) for key, value in model.state_dict().items())
    assert "encoder.embed_tokens.factors.tables.pos.weight" in saved


@pytest.mark.parametrize("given", ["--finetune-from-model", "--restore-file"])
def test_training_starts_from_no_model_of_other_words(trained, tmp_path, given):
    """Dictionaries of one size whose ids mean other words fit a model's tables all the same."""
    folder = shutil.copytree(trained[0], tmp_path / "data")
    lines = (folder / "dict.en.txt").read_text().splitlines()
    (folder / "dict.en.txt").write_text("\n".join(reversed(lines)) + "\n")
    features = ["--features", "pos,case"]
    with pytest.raises(SystemExit, match="from which .* other subwords of en than .* --like"):
        train(folder, tmp_path / "run", *TINY, *features, given, str(trained[1]))
    assert not any((tmp_path / "run").iterdir())


@pytest.mark.parametrize(
    ("given", "option", "value", "there"),
    [
        ("--finetune-from-model", "--features", "pos,case,subword", "pos,case"),
        ("--finetune-from-model", "--features", "none", "pos,case"),
        ("--finetune-from-model", "--feature-merge", "add", "concat"),
        ("--restore-file", "--encoder-layers", "1", "2"),
    ],
)
def test_training_starts_from_no_model_of_other_parameters(
    trained, tmp_path, given, option, value, there
):
    """One sentence names what differs, before anything is trained or written."""
    options = {"--features": "pos,case", option: value}
    words = [word for pair in options.items() for word in pair]
    with pytest.raises(SystemExit) as caught:
        train(trained[0], tmp_path / "run", *TINY, *words, given, str(trained[1]))
    assert f"{trained[1]}, from which this training would start" in str(caught.value)
    assert re.search(rf"{option} {value}.* \(there {there}\)", str(caught.value))
    assert "\n" not in str(caught.value)
    assert not any((tmp_path / "run").iterdir())


def test_training_starts_from_a_model_of_these_parameters(trained, tmp_path):
    words = [*TINY, "--features", "pos,case", "--dropout", "0.3"]
    path = train(trained[0], tmp_path, *words, "--finetune-from-model", str(trained[1]))
    assert path.is_file()


@pytest.mark.slow
def test_going_on_with_other_options_is_warned_of(trained, tmp_path, caplog):
    """Shapes do not tell a dropout; what the new model starts from does."""
    run = shutil.copytree(trained[1].parent, tmp_path / "run")
    begun = [*TINY, "--features", "pos,case", "--reset-dataloader"]
    train(trained[0], run, *begun)
    assert "other options" not in caplog.text
    train(trained[0], run, *begun, "--dropout", "0.3")
    assert (
        f"{run}/checkpoint_last.pt was trained with other options: --dropout 0.3 (there 0.1)\n"
        in caplog.text
    )


def test_bleu_of_validation_is_that_of_detokenised_text(trained):
    """The number in the checkpoint against sacreBLEU over all sentences at once."""
    folder, path = trained
    task = make_task(folder)
    (model,), _ = checkpoint_utils.load_model_ensemble([str(path)], task=task)
    task.load_dataset("valid")
    generator = task.build_generator([model], Namespace(beam=2, max_len_b=10))
    subwords, tokenizer = task.build_bpe(None), task.build_tokenizer(None)

    def text(tokens):
        return tokenizer.decode(subwords.decode(task.tgt_dict.string(tokens)))

    hypotheses, references = [], []
    for batch in batches(task, "valid", max_sentences=4):
        for target, nbest in zip(batch["target"], task.inference_step(generator, [model], batch)):
            hypotheses.append(text(nbest[0]["tokens"]))
            references.append(text(target[target.ne(task.tgt_dict.pad())]))
    expected = sacrebleu.corpus_bleu(hypotheses, [references]).score
    state = torch.load(path, weights_only=True)
    assert state["extra_state"]["val_loss"] == pytest.approx(expected, abs=0.006)
    assert expected > 0


def test_bleu_without_any_match_is_zero():
    from fairseq.logging import metrics

    empty = {"_bleu_sys_len": 0, "_bleu_ref_len": 5}
    empty.update({f"_bleu_{kind}_{i}": 0 for kind in ("counts", "totals") for i in range(4)})
    with metrics.aggregate() as found:
        log_bleu([empty, empty])
    assert found.get_smoothed_value("bleu") == 0.0
    with metrics.aggregate() as found:
        log_bleu([{"loss": 1.0}])
    assert "bleu" not in found


def test_detokenizer_of_fairseq_can_be_asked_for(trained):
    from omegaconf import OmegaConf

    task = make_task(trained[0], eval_bleu=True, eval_bleu_detok="space")
    cfg = {"_name": "syntax_transformer_tiny", "features": "none"}
    task.build_model(OmegaConf.create(cfg))
    assert task.tokenizer.decode("a@@ b .") == "a@@ b ."
    task = make_task(trained[0], eval_bleu=True)
    task.build_model(OmegaConf.create(cfg))
    assert task.tokenizer.decode("a@@ b .") == "ab."
    task.cfg.eval_bleu_remove_bpe = "sentencepiece"
    assert task.tokenizer.decode("a@@ b .") == "a@@ b."


@pytest.mark.parametrize(
    ("language", "options", "signed"),
    [("de", {}, "13a"), ("zh_CN", {}, "zh"), ("zho", {"eval_tokenized_bleu": True}, "none")],
)
def test_validation_scores_as_the_target_language_wants(trained, language, options, signed):
    task = make_task(trained[0], eval_bleu=True, **options)
    task.load_dataset("valid")
    task.manifest = replace(task.manifest, target_lang=language)
    model = make_model(task, features="none")
    (sample,) = batches(task, "valid", max_sentences=len(VALID))
    found = task._inference_with_bleu(task.sequence_generator, sample, model)
    assert found.ref_len > 0
    assert task._bleu.tokenizer.signature() == signed


@pytest.mark.parametrize(("given", "a", "b"), [(None, 2, 20), ('{"max_len_b": 5}', 0, 5)])
def test_a_model_that_knows_no_end_is_stopped_in_validation(trained, given, a, b):
    from omegaconf import OmegaConf

    task = make_task(trained[0], eval_bleu=True, eval_bleu_detok="space", eval_bleu_args=given)
    task.load_dataset("valid")
    model = task.build_model(
        OmegaConf.create({"_name": "syntax_transformer_tiny", "features": "none"})
    ).eval()
    never = torch.tensor([task.tgt_dict.eos()])  # whatever weights were drawn
    model.decoder.output_projection.register_forward_hook(
        lambda part, given, found: found.index_fill(-1, never, -1e4)
    )
    (sample,) = batches(task, "valid", max_sentences=len(VALID))
    source = sample["net_input"]["src_tokens"].shape[1]
    made = task.inference_step(task.sequence_generator, [model], sample)
    found = max(len(one[0]["tokens"]) for one in made)
    assert found == a * source + b + 1  # with </s>


@pytest.mark.parametrize(
    "options",
    [
        "--arch syntax_transformer_tiny",
        "--arch syntax_transformer_iwslt_en_de --encoder-layers 1 --feature-merge add",
        "--arch syntax_transformer_tiny --feature-combine concat --feature-embed-dims 12,4,4",
        "--arch syntax_transformer --features case --feature-init glorot --dropout 0.3",
    ],
)
def test_command_line_reaches_the_options(options):
    words = options.split()
    cfg = config("nowhere", "--task", "syntax_translation", *words).model
    assert cfg._name == words[1]
    for flag, value in zip(words[2::2], words[3::2]):
        assert str(cfg[flag[2:].replace("-", "_")]) == value
    if words[1].endswith("_tiny"):
        assert cfg.encoder_embed_dim == 64
    assert cfg.annotator is None


@pytest.mark.slow
def test_only_the_tag_decides(tmp_path):
    """Same words, and the translation of each follows from its tag alone."""
    splits, tags = tagged_corpus({"train": 1500, "valid": 20, "test": 200})
    folder = prepare(tmp_path / "data", splits, tags=tags)
    options = TINY[:2] + "--lr 0.005 --max-tokens 1500 --max-update 250 --dropout 0".split()
    options += ["--criterion", "cross_entropy", "--disable-validation", "--seed", "3"]
    accuracy = {}
    for features in ("pos", "none"):
        path = train(folder, tmp_path / features, *options, "--features", features)
        accuracy[features] = token_accuracy(folder, path)
    assert accuracy["pos"] > 0.83
    assert accuracy["none"] < 0.67
    # Shuffled among five words, a word's tag stays what it was in 1/5 + 4/5 * 1/2 of the cases.
    shuffled = token_accuracy(folder, tmp_path / "pos" / "checkpoint_last.pt", "pos")
    assert 0.54 <= shuffled <= 0.66


def tagged_corpus(counts):
    import numpy as np

    rng, words, splits, tags = np.random.default_rng(0), "watch light play close".split(), {}, {}
    for split, count in counts.items():
        splits[split], tags[split] = [], []
        for _ in range(count):
            chosen = [words[i] for i in rng.integers(0, len(words), 5)]
            pos = [("NOUN", "VERB")[i] for i in rng.integers(0, 2, 5)]
            target = [f"{word}-{tag.lower()}" for word, tag in zip(chosen, pos)]
            splits[split].append((" ".join(chosen), " ".join(target)))
            tags[split].append({"pos": pos, "case": ["lower"] * 5, "subword": ["O"] * 5})
    return splits, tags


def token_accuracy(folder, path, ablate=None):
    task = make_task(folder, ablate_features=ablate, ablation_mode="shuffle")
    models, _ = checkpoint_utils.load_model_ensemble([str(path)], task=task)
    task.load_dataset("test")
    generator = task.build_generator(models, Namespace(beam=1, max_len_b=8))
    right = total = 0
    for batch in batches(task, "test", max_sentences=50):
        for target, nbest in zip(batch["target"], task.inference_step(generator, models, batch)):
            found = nbest[0]["tokens"].tolist()
            right += sum(a == b for a, b in zip(target.tolist()[:-1], found))
            total += len(target) - 1
    assert total == 1000
    assert not math.isnan(right)
    return right / total
