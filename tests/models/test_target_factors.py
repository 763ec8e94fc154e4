"""A decoder that predicts factors: teacher-forced, in a search, and against fairseq's own."""

from __future__ import annotations

import math
from argparse import Namespace

import pytest
import torch
from fairseq import utils
from fairseq.logging import metrics
from omegaconf import OmegaConf
from prepared import batches, make_model, make_task, prepare, random_pairs

from fairseq_plugins.criterions._factored_cross_entropy import (
    NAME,
    FactoredCrossEntropy,
    FactoredCrossEntropyConfig,
)
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.casing import restored
from fairseq_plugins.tasks import _target_factors

CASED = {"target_features": "truecase"}


def cased_pairs(count, seed=0):
    """Pairs whose target words are written as those of the source are."""
    pairs = random_pairs(count, seed)
    return [(source, " ".join(f"{w}x" for w in source.split())) for source, _ in pairs]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {"train": cased_pairs(12)}
    return prepare(tmp_path_factory.mktemp("cased") / "data", splits, truecase=True, joined=True)


@pytest.fixture
def task(folder):
    torch.manual_seed(1)
    made = make_task(folder)
    made.load_dataset("train")
    return made


@pytest.fixture
def batch(task):
    return batches(task, "train", max_sentences=12)[0]


def sharpened(model):
    """Let factors weigh as much as words, so that each of them shows."""
    for table in model.decoder.target_factors.embedding.tables.values():
        with torch.no_grad():
            table.weight[1:] *= 3
    return model


def criterion_of(task, **options):
    cfg = OmegaConf.structured(FactoredCrossEntropyConfig(label_smoothing=0.1, **options))
    cfg._name, cfg.sentence_avg = NAME, False
    return task.build_criterion(cfg)


def test_off_is_the_model_without_target_layers(folder, task, batch, tmp_path, caplog):
    other = make_task(
        prepare(
            tmp_path / "off", {"train": [(s, t.lower()) for s, t in cased_pairs(12)]}, joined=True
        )
    )
    torch.manual_seed(3)
    plain = make_model(other)
    make_model(make_task(folder), target_features="truecase")
    assert "does not give back" not in caplog.text
    torch.manual_seed(3)
    ours = make_model(task)
    assert "truecase does not give back" in caplog.text
    assert ours.state_dict().keys() == plain.state_dict().keys()
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), plain.parameters()))
    assert type(ours.decoder) is type(plain.decoder)
    inputs = {k: v for k, v in batch["net_input"].items() if k != "prev_output_factors"}
    assert torch.equal(ours(**batch["net_input"])[0], plain(**inputs)[0])
    loss, *_ = criterion_of(task)(ours, batch)
    cfg = OmegaConf.create(
        {
            "_name": "label_smoothed_cross_entropy",
            "label_smoothing": 0.1,
            "sentence_avg": False,
            "ignore_prefix_size": 0,
            "report_accuracy": False,
        }
    )
    assert torch.equal(loss, task.build_criterion(cfg)(ours, batch)[0])


def test_factors_stand_beside_the_words_they_are_of(task, batch):
    words, factors = (batch["net_input"][f"prev_output_{name}"] for name in ("tokens", "factors"))
    labels = task.target_layers[0].inventory.symbols
    wanted = dict(
        (lowered, t) for _, text in cased_pairs(12) for t in text.split() for lowered in [t.lower()]
    )
    for word, label in zip(words.flatten().tolist(), factors[..., 0].flatten().tolist()):
        if word == task.tgt_dict.pad():
            assert label == 0
        elif word == task.tgt_dict.eos():
            assert labels[label] == "<special>"
        else:
            piece = task.tgt_dict[word]
            assert restored(piece, labels[label]) == wanted[piece]


def test_teacher_forcing_is_fairseqs_decoder_with_added_embeddings(task, batch):
    model = sharpened(make_model(task, **CASED))
    inputs = dict(batch["net_input"])
    found, extra = model(**inputs)
    tables, decoder = model.decoder.target_factors.embedding.tables, model.decoder
    factors = inputs["prev_output_factors"][..., 0]
    rows = []  # one sentence at a time, with the words' embeddings written into a table
    for i, tokens in enumerate(inputs["prev_output_tokens"]):
        tokens = utils.strip_pad(tokens, task.tgt_dict.pad())
        vectors = torch.stack(
            [
                decoder.embed_tokens.weight[token]
                + (tables["truecase"].weight[factors[i, t - 1]] if t else 0)
                for t, token in enumerate(tokens)
            ]
        )
        plain = make_model(make_task(task.folders[0]))
        plain.load_state_dict(model.state_dict(), strict=False)
        plain.decoder.embed_tokens.forward = lambda ids, vectors=vectors: vectors[None]
        memory = model.encoder(
            inputs["src_tokens"][i : i + 1],
            inputs["src_lengths"][i : i + 1],
            src_factors=inputs["src_factors"][i : i + 1],
        )
        states, _ = plain.decoder(tokens[None], encoder_out=memory, features_only=True)
        rows.append(
            (
                len(tokens),
                plain.decoder.output_layer(states),
                model.decoder.target_factors.heads[0](states),
            )
        )
    for i, (size, words, cases) in enumerate(rows):
        torch.testing.assert_close(found[i, :size], words[0], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(extra["factors"][0][i, :size], cases[0], atol=1e-4, rtol=1e-4)


def test_factors_change_what_comes_later_and_nothing_else(task, batch):
    model, inputs = sharpened(make_model(task, **CASED)), dict(batch["net_input"])
    before = model(**inputs)[0]
    place = 2
    inputs["prev_output_factors"] = inputs["prev_output_factors"].clone()
    inputs["prev_output_factors"][:, place] = 4
    after, long = model(**inputs)[0], inputs["prev_output_tokens"][:, place + 1].ne(1)
    assert torch.equal(before[:, : place + 1], after[:, : place + 1])
    assert (before - after)[long, place + 1].abs().amax(-1).gt(1e-4).all()


def test_every_new_parameter_learns(task, batch):
    model = make_model(task, **CASED)
    loss, size, log = criterion_of(task)(model, batch)
    loss.backward()
    for name, parameter in model.named_parameters():
        if "target_factors" in name:
            assert parameter.grad.abs().sum() > 0, name
    words = batch["ntokens"] - batch["nsentences"]
    assert int(log["_words_truecase"]) == words
    assert 0 <= int(log["_right_truecase"]) <= words
    double = criterion_of(task, target_factor_weight=2.0)(model, batch)[0]
    torch.testing.assert_close(double - loss, log["factor_loss"])


def test_logged_of_factors_is_the_share_that_is_right_and_bits():
    losses = {"loss": 1.0, "nll_loss": 1.0, "ntokens": 4, "sample_size": 4}
    batches = [
        losses | {"_right_case": right, "_words_case": words, "factor_loss": math.log(2) * bits}
        for right, words, bits in ((3, 4, 5.0), (3, 8, 1.0))
    ]
    with metrics.aggregate(new_root=True) as found:
        FactoredCrossEntropy.reduce_metrics(batches)
    assert found["case_accuracy"].avg == pytest.approx(50)
    assert found["factor_loss"].avg == pytest.approx(0.5)


def test_batches_and_padding_change_nothing(task):
    model = sharpened(make_model(task, **CASED))
    whole = batches(task, "train", max_sentences=12)[0]
    scores, extra = model(**whole["net_input"])
    for one in batches(task, "train", max_sentences=1):
        row = whole["id"].tolist().index(one["id"].item())
        alone, more = model(**one["net_input"])
        size = alone.size(1)
        torch.testing.assert_close(scores[row, :size], alone[0], atol=1e-5, rtol=1e-5)
        cases = extra["factors"][0][row, :size]
        torch.testing.assert_close(cases, more["factors"][0][0], atol=1e-5, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("models", [1, 2])
def test_factors_of_translations_are_those_of_the_search(task, batch, models):
    found = [sharpened(make_model(task, **CASED)) for _ in range(models)]
    generator = task.build_generator(found, Namespace(beam=4, nbest=4, max_len_b=8))
    sample = {
        **batch,
        "net_input": {k: v for k, v in batch["net_input"].items() if not k.startswith("prev_")},
    }
    hypotheses = generator.generate(found, sample)
    _target_factors.add_factors(found, sample, hypotheses)
    rows = torch.arange(len(hypotheses))
    for row in rows:
        for one in hypotheses[row]:
            _check_scores(found, sample, one, row)
    changed = {tuple(h["factors"][:-1, 0].tolist()) for nbest in hypotheses for h in nbest}
    assert len(changed) > 3  # they are not all alike


def _check_scores(models, sample, one, row):
    """The words' scores of a search follow from the factors that were fed: they must agree."""
    tokens = one["tokens"]
    factors = torch.cat((torch.tensor([[1]]), one["factors"][:-1]))[None]
    logs = []
    for model in models:
        inputs = {k: v[row : row + 1] for k, v in sample["net_input"].items()}
        prev = torch.cat((torch.tensor([2]), tokens[:-1]))[None]
        if len(models) > 1:  # each read its own
            alone = {**one}
            _target_factors.add_factors([model], {"net_input": inputs}, [[alone]])
            factors = torch.cat((torch.tensor([[1]]), alone["factors"][:-1]))[None]
        out = model(**inputs, prev_output_tokens=prev, prev_output_factors=factors)
        logs.append(model.get_normalized_probs(out, log_probs=True)[0])
    mean = torch.stack(logs).exp().mean(0).log().gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close(mean, one["positional_scores"], atol=1e-4, rtol=1e-4)


def test_validation_leaves_a_batch_as_it_is(folder):
    args = '{"beam": 2, "max_len_b": 4}'
    task = make_task(folder, eval_bleu=True, eval_bleu_detok="space", eval_bleu_args=args)
    task.load_dataset("train")
    batch = batches(task, "train", max_sentences=12)[0]
    before = batch["target"].clone()
    model = make_model(task, **CASED)
    first, second = (task.valid_step(batch, model, criterion_of(task)) for _ in range(2))
    assert torch.equal(batch["target"], before)
    assert torch.equal(first[0], second[0])
    assert first[2]["_bleu_ref_len"] > 0


def test_other_shapes_and_folders_are_refused(task, batch, folder, tmp_path):
    model = make_model(task, **CASED)
    inputs = dict(batch["net_input"])
    for wrong, message in (
        (None, "got none"),
        (inputs["prev_output_factors"][:, 1:], "do not fit"),
    ):
        with pytest.raises(InputError, match=message):
            model(**{**inputs, "prev_output_factors": wrong})
    plain = make_task(prepare(tmp_path / "plain", {"train": cased_pairs(3)}))
    with pytest.raises(InputError, match="'truecase', which the data folder lacks"):
        make_model(plain, **CASED)
    with pytest.raises(InputError, match="choices: truecase, none"):
        make_model(make_task(folder), target_features="pos")
    with pytest.raises(InputError, match="predict the same target features"):
        make_model(task)
    with pytest.raises(InputError, match=f"trained with --criterion {NAME}"):
        task.build_criterion(OmegaConf.create({"_name": "cross_entropy", "sentence_avg": False}))
