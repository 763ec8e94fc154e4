"""What holds of every model that matches pairs from scratch, as of every other model of text."""

from __future__ import annotations

import io
import json
import logging
import shutil
from types import SimpleNamespace

import matching_models
import pytest
import torch
from matching_models import ARCHS, prepare_pairs
from omegaconf import OmegaConf
from prepared_text import examples, make_model, make_task, prepare
from torch import nn

from fairseq_plugins.architectures.agreement import vocabulary_digest
from fairseq_plugins.architectures.matching_options import ARCHITECTURES, MatchingOptions
from fairseq_plugins.architectures.text_kinds import TEXT_KINDS, kind_of
from fairseq_plugins.errors import InputError
from fairseq_plugins.models._matching_config import MatchingConfig
from fairseq_plugins.models.matching import MatchingModel

VARIANTS = {"siamese": ("pair_transformer_tiny", {"pair_encoding": "siamese"})}
KINDS = {**{arch: (arch, {}) for arch in ARCHS}, **VARIANTS}
each_arch = pytest.mark.parametrize("arch", KINDS)


def build(folder, arch: str, **given) -> nn.Module:
    name, own = KINDS[arch]
    return matching_models.build(folder, name, **{**own, **given})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    some = {"train": examples("classes", 12, pairs=True)}
    return prepare(tmp_path_factory.mktemp("pairs") / "data", "classes", some)


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    some = {"train": examples("classes", 12)}
    return prepare(tmp_path_factory.mktemp("single") / "data", "classes", some)


def batch_of(folder, model, numbers) -> dict[str, torch.Tensor]:
    task = make_task(folder)
    task.inputs.serve(model.needs, model.max_positions())
    task.load_dataset("train")
    dataset = task.dataset("train")
    found = dataset.collater([dataset[i] for i in numbers])
    order = torch.argsort(torch.tensor([numbers.index(i) for i in found["id"].tolist()]))
    inputs = found["net_input"]
    return {key: inputs[key][order] for key in inputs.keys() - {"token_positions", "known"}}


def loud(model: nn.Module) -> nn.Module:
    """Give a model weights that matter."""
    for name, parameter in model.named_parameters():
        generator = torch.Generator().manual_seed(sum(name.encode()))
        parameter.data.normal_(std=0.4, generator=generator)
    return model


@each_arch
@pytest.mark.parametrize("features", ["none", "pos,case"])
def test_every_model_learns_all_it_has_and_reads_each_pair_alone(folder, arch, features) -> None:
    model = loud(build(folder, arch, features=features)).double()
    numbers = [*range(8)]
    sample = batch_of(folder, model, numbers)
    logits, extra = model(**sample)
    assert extra["losses"] == {}
    logits.square().sum().backward()
    idle = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert idle == []
    with torch.no_grad():
        for number in numbers:
            alone = batch_of(folder, model, [number])
            torch.testing.assert_close(model(**alone)[0], logits[[number]])
        wide = {
            name: nn.functional.pad(value, (*([0] * 2 * (value.dim() - 2)), 0, 3), value=pad)
            for name, value, pad in (
                ("src_tokens", sample["src_tokens"], model.padding),
                ("segments", sample["segments"], 0),
                *([("src_factors", sample["src_factors"], 0)] if features != "none" else []),
            )
        }
        torch.testing.assert_close(model(**wide)[0], logits)


@each_arch
def test_parameters_are_told(folder, arch, caplog) -> None:
    with caplog.at_level(logging.INFO):
        counts = build(folder, arch, features="pos", freeze_words=True).parameter_counts()
    told = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    assert f"features: pos; parameters: {told}" in caplog.text
    assert sum(counts[name] for name in ("words", "features", "matcher")) < counts["model"]
    assert counts["trainable"] == counts["model"] - counts["words"]


@each_arch
def test_both_sentences_and_the_order_of_their_words_matter(folder, arch) -> None:
    model = loud(build(folder, arch)).double()
    sample = batch_of(folder, model, [2])
    logits = model(**sample)[0]
    tokens = sample["src_tokens"]
    border = int(sample["segments"].argmax())
    for begin, end in ((1, border - 1), (border, tokens.shape[1] - 1)):
        other = tokens.clone()
        other[:, begin:end] = tokens[:, begin:end].flip(1)
        assert not torch.equal(other, tokens)
        assert not torch.allclose(model(**{**sample, "src_tokens": other})[0], logits)


@each_arch
def test_features_change_what_a_model_says(folder, arch) -> None:
    model = loud(build(folder, arch, features="pos"))
    sample = batch_of(folder, model, [0, 1, 2])
    other = {**sample, "src_factors": sample["src_factors"].roll(1, 1)}
    assert not torch.allclose(model(**other)[0], model(**sample)[0])
    del other["src_factors"]
    with pytest.raises(ValueError, match="the batch has no src_factors"):
        model(**other)


@each_arch
def test_saved_weights_are_the_whole_model(folder, arch) -> None:
    model = loud(build(folder, arch, features="pos"))
    sample, file = batch_of(folder, model, [0, 1, 2]), io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = build(folder, arch, features="pos")
    assert not torch.equal(other(**sample)[0], model(**sample)[0])
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(**sample)[0], model(**sample)[0])


@each_arch
def test_dropout_and_half_precision_train(folder, arch) -> None:
    model = build(folder, arch, dropout=0.5).train()
    sample = batch_of(folder, model, [0, 1, 2])
    assert not torch.equal(model(**sample)[0], model(**sample)[0])
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(**sample)[0].float().square().sum()
    loss.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@each_arch
def test_all_numbers_may_be_half(folder, arch) -> None:
    """As fairseq's ``--fp16`` makes them."""
    model = build(folder, arch)
    sample = batch_of(folder, model, [0, 1, 2])
    wanted = model(**sample)[0]
    logits = model.half()(**sample)[0]
    torch.testing.assert_close(logits.float(), wanted, rtol=0.02, atol=0.02)
    logits.float().square().sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@each_arch
def test_rows_have_a_longest(folder, arch) -> None:
    """What matchers compute grows with the square of it."""
    assert build(folder, arch).max_positions() == 512
    model = build(folder, arch, max_position_embeddings=7)
    with pytest.raises(InputError, match="special tokens included, but the limit is 7"):
        batch_of(folder, model, [*range(12)])


def test_every_architecture_has_its_presets_and_one_kind() -> None:
    names = [name for kind in TEXT_KINDS for name in kind.architectures]
    assert len(names) == len(set(names))
    assert kind_of("esim").options is MatchingOptions
    assert kind_of("nothing") is None
    for arch, presets in ARCHITECTURES.items():
        cfg = OmegaConf.structured(MatchingConfig(hidden_size=7))
        cfg._name = arch
        MatchingModel.resolve(cfg)
        assert {name: cfg[name] for name in presets} == {**presets, "hidden_size": 7}


def test_what_no_pairs_model_can_learn_is_refused(folder, single) -> None:
    with pytest.raises(InputError, match="compares the two sentences of a pair, but .* has single"):
        build(single, "esim_tiny")
    with pytest.raises(InputError, match="unknown layer 'nonsense'; choices: pos"):
        build(folder, "esim_tiny", features="nonsense")
    model = build(folder, "esim_tiny")
    with pytest.raises(InputError, match="no self-attention to show"):
        model(**batch_of(folder, model, [0]), need_weights=True)
    with pytest.raises(InputError, match="-hidden-size 8: the transformer reads no characters"):
        build(folder, "pair_transformer_tiny", character_hidden_size=8)
    assert build(folder, "esim_tiny", pretrained="none")
    with pytest.raises(InputError, match="--pretrained 'bert': choices are none"):
        MatchingModel.plan(SimpleNamespace(pretrained="bert", arch="esim"))
    task, cfg = make_task(folder), OmegaConf.structured(MatchingConfig(target="spans"))
    with pytest.raises(InputError, match="learn classes or score or multi_label, and"):
        MatchingModel.build_model(cfg, task)


@pytest.mark.parametrize("arch", ["esim_tiny", "bert_plain_tiny"])
def test_a_model_knows_the_words_it_was_trained_with(tmp_path, arch) -> None:
    """Two vocabularies of one size: every table fits."""
    folders = []
    for name, word in (("one", "hat"), ("two", "cap")):
        (tmp_path / name).mkdir()
        rows = [(f"a {word}", "a coat", "yes"), ("a coat", f"no {word}", "no")]
        folders.append(prepare_pairs(tmp_path / name, {"train": rows, "valid": rows}))
    of_bert = {"pretrained": "none"} if arch.startswith("bert") else {}
    cfg = OmegaConf.create({"_name": arch, **of_bert})
    assert make_task(folders[0]).build_model(cfg)
    assert make_task(folders[0]).build_model(cfg.copy(), from_checkpoint=True)
    with pytest.raises(InputError, match="another vocabulary than .*two/data has: .* --words-from"):
        make_task(folders[1]).build_model(cfg.copy(), from_checkpoint=True)
    plain = (folders[0] / "vocab.txt").read_bytes()
    for lines in (plain.replace(b"\n", b"\r\n"), plain.rstrip()):  # as Git or an editor has them
        assert vocabulary_digest(lines) == cfg.vocabulary
    manifest = json.loads((folders[0] / "manifest.json").read_text())
    manifest["tokenizer"]["lowercase"] ^= True
    cased = shutil.copytree(folders[0], tmp_path / "cased")
    (cased / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="cut with .*lowercase=.* but .*cased was cut with"):
        make_task(cased).build_model(cfg.copy(), from_checkpoint=True)
    older = OmegaConf.create({**cfg, "vocabulary": None, "text_settings": None})
    assert make_task(cased).build_model(older, from_checkpoint=True)
    assert make_task(folders[1]).build_model(older, from_checkpoint=True)


def vectors_for(folder, path, words: list[str], width: int = 32) -> dict[str, torch.Tensor]:
    rows = {word: torch.full((width,), float(i + 1)) for i, word in enumerate(words)}
    lines = (f"{word} {' '.join(map(str, row.tolist()))}\n" for word, row in rows.items())
    path.write_text("".join(lines))
    return rows


@each_arch
@pytest.mark.parametrize("freeze", [False, True])
def test_given_vectors_are_where_words_start(tmp_path, arch, freeze) -> None:
    rows = [("The hat", "a coat", "yes"), ("the coat", "no hat", "no")]
    data = prepare_pairs(tmp_path, {"train": rows, "valid": rows})
    path = tmp_path / "vectors.txt"
    given = vectors_for(data, path, ["the", "hat", "zebra"])
    model = build(data, arch, word_vectors=str(path), freeze_words=freeze, embedding_size=32)
    vocabulary = make_task(data).source_dictionary.vocabulary
    table = model.word_table.weight
    for word, like in (("the", "the"), ("The", "the"), ("hat", "hat")):
        assert torch.equal(table[vocabulary.indices[word]], given[like])
    assert not table[vocabulary.pad].any()
    assert table[vocabulary.indices["coat"]].any()
    before = table.detach().clone()
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    model(**batch_of(data, model, [0, 1]))[0].square().sum().backward()
    optimizer.step()
    assert torch.equal(table, before) == freeze
    assert model.parameter_counts()["trainable"] == (
        model.parameter_counts()["model"] - freeze * table.numel()
    )
    with pytest.raises(InputError, match="expected a word and 8 numbers .--embedding-size 8"):
        build(data, arch, word_vectors=str(path), embedding_size=8)


def test_a_joint_transformer_is_bert_of_random_weights(folder) -> None:
    task = make_task(folder)
    mine = loud(build(folder, "pair_transformer_tiny"))
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    bert = make_model(task, "bert_plain_tiny", **{"hidden_size": 32, **sizes, "dropout": 0.0})
    bert.encoder.load_state_dict(mine.body.encoder.state_dict())
    bert.head.load_state_dict(mine.head.state_dict())
    sample = batch_of(folder, mine, [0, 1, 2, 3])
    torch.testing.assert_close(mine(**sample)[0], bert(**sample)[0])


def test_a_siamese_transformer_reads_each_sentence_by_itself(folder) -> None:
    model = loud(build(folder, "siamese")).double()
    sample = batch_of(folder, model, [0, 1, 2, 3])
    rows = zip(sample["src_tokens"], sample["segments"])
    for (tokens, segments), found in zip(rows, model(**sample)[0]):
        real = tokens.ne(model.padding)
        sides = (tokens[1:][(segments.eq(0) & real)[1:]], tokens[segments.eq(1) & real])
        u, v = (model.body.encoder(side[None]).rows.mean(0) for side in sides)
        vector = model.body.compare(torch.cat([u, v, (u - v).abs(), u * v])).tanh()
        torch.testing.assert_close(found, model.head(vector))


@pytest.mark.parametrize("arch", ARCHS)
def test_scores_start_around_their_mean(tmp_path, arch) -> None:
    some = examples("score", 12, pairs=True)
    data = prepare(tmp_path / "scores", "score", {"train": some})
    mean = sum(float(one.label) for one in some) / len(some)
    assert mean > 0
    assert build(data, arch).head.out.bias.item() == pytest.approx(mean)


def test_classes_start_at_nothing(folder) -> None:
    assert not build(folder, "esim_tiny").head.out.bias.any()
