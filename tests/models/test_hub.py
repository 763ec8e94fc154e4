"""Translation from Python, and checkpoints that are not to be trusted."""

from __future__ import annotations

import os
from argparse import Namespace

import pytest
import torch
from prepared import StubDecoder, StubEncoder, make_task, prepare, random_pairs, train

from fairseq_plugins.errors import InputError
from fairseq_plugins.models import SyntaxTransformerModel
from fairseq_plugins.tasks import SyntaxTranslationTask

pytestmark = pytest.mark.slow

LINES = [source for source, _ in random_pairs(11, seed=5)]


@pytest.fixture(autouse=True)
def _stubs(monkeypatch):
    monkeypatch.setattr(SyntaxTranslationTask, "build_source_encoder", lambda self: StubEncoder())
    monkeypatch.setattr(SyntaxTranslationTask, "build_target_decoder", lambda self: StubDecoder())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two checkpoints, of models that read different features."""
    root = tmp_path_factory.mktemp("run")
    folder = prepare(root / "data", {"train": random_pairs(60), "valid": random_pairs(9, 1)})
    options = "--arch syntax_transformer_tiny --lr 0.005 --max-tokens 300 --max-update 60"
    for features in ("pos,case,subword", "case"):
        arguments = [*options.split(), "--features", features, "--disable-validation"]
        path = train(folder, root / features, *arguments)
        path.rename(root / f"{features[:4]}.pt")
    return root


def load(run, name="pos,.pt", **options):
    return SyntaxTransformerModel.from_pretrained(str(run), name, **options)


def test_translations_are_those_of_the_interactive_path(run):
    hub = load(run)
    found = hub.translate(LINES, beam=3)
    task = make_task(run / "data")
    tokens, lengths = task.get_interactive_tokens_and_lengths(LINES, None)
    batch = task.build_dataset_for_inference(tokens, lengths)
    batch = batch.collater([batch[i] for i in range(len(LINES))])
    models = list(hub.models)
    generator = task.build_generator(models, Namespace(beam=3))
    expected = {}
    for i, nbest in zip(batch["id"].tolist(), task.inference_step(generator, models, batch)):
        text = StubDecoder().remove_subwords(task.tgt_dict.string(nbest[0]["tokens"]))
        expected[i] = StubDecoder().detokenize(text)
    assert found == [expected[i] for i in range(len(LINES))]
    assert len(set(found)) > 1


def test_one_sentence_none_and_several(run):
    hub = load(run)
    several = hub.translate(LINES[:3])
    assert hub.translate(LINES[0]) == several[0]
    assert hub.translate([]) == []
    assert hub.sample(LINES[0], beam=1, sampling=True, sampling_topk=1)


def test_features_reach_the_model(run):
    whole, without = load(run), load(run, ablate_features="pos,case,subword")
    tokens = [
        hub.task.get_interactive_tokens_and_lengths(LINES, None)[0] for hub in (whole, without)
    ]
    scores = [
        [nbest[0]["score"].item() for nbest in hub.generate(t, beam=1)]
        for hub, t in zip((whole, without), tokens)
    ]
    assert all(abs(a - b) > 1e-6 for a, b in zip(*scores))


def test_shuffles_are_the_same_in_every_call(run):
    hub = load(run, ablate_features="pos", ablation_mode="shuffle")
    assert hub.translate(LINES) == hub.translate(LINES)


def test_ensemble(run):
    hub = load(run, f"pos,.pt{os.pathsep}case.pt")
    assert [model.needs.features for model in hub.models] == [("pos", "case", "subword"), ("case",)]
    assert len(hub.translate(LINES)) == len(LINES)


def test_moved_data_folder(run, tmp_path):
    moved = tmp_path / "moved"
    (run / "data").rename(moved)
    try:
        with pytest.raises(
            FileNotFoundError, match="give its place with --data .*data_name_or_path"
        ):
            load(run)
        assert load(run, data_name_or_path=str(moved)).translate(LINES[:1])
    finally:
        moved.rename(run / "data")


def test_token_ids_without_features_are_refused(run):
    with pytest.raises(InputError, match="hand raw text to translate"):
        load(run).encode("a b")


def test_missing_checkpoint(run):
    with pytest.raises(FileNotFoundError, match=r"nothing\.pt: no such"):
        load(run, "nothing.pt")


@pytest.mark.parametrize("part", ["model", "task"])
def test_checkpoint_of_other_makes_is_refused_before_it_is_built(run, tmp_path, part):
    marker = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(marker)!r}).touch()"
    state = torch.load(run / "case.pt", weights_only=True)
    foreign = {"_name": "transformer_lm", "character_embeddings": True, "character_filters": code}
    state["cfg"][part] = foreign if part == "model" else {"_name": "masked_lm", "data": "x"}
    torch.save(state, tmp_path / "evil.pt")
    with pytest.raises(InputError, match=r"evil\.pt holds model .* not a syntax_transformer of"):
        load(tmp_path, "evil.pt")
    assert not marker.exists()


class _Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_pickled_code_is_not_run(tmp_path):
    torch.save({"cfg": {}, "model": _Evil(tmp_path / "ran")}, tmp_path / "evil.pt")
    with pytest.raises(Exception, match=r"evil\.pt: refused: it asks for"):
        load(tmp_path, "evil.pt")
    assert not (tmp_path / "ran").exists()


def test_checkpoint_without_options_is_refused(tmp_path):
    torch.save({"args": Namespace(arch="transformer"), "model": {}}, tmp_path / "old.pt")
    with pytest.raises(InputError, match="holds model None of task None"):
        load(tmp_path, "old.pt")


def test_older_options_beside_ours_are_refused(run, tmp_path):
    """fairseq reads ``args``, and the key ``task``, before the names that were checked."""
    marker = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(marker)!r}).touch()"
    state = torch.load(run / "case.pt", weights_only=True)
    older = {"task": "translation", "arch": "transformer_lm", "data": str(run / "data")}
    older |= {"source_lang": "en", "target_lang": "de", "tokens_per_sample": 9}
    older |= {"decoder_embed_dim": 8, "decoder_layers": 1, "decoder_attention_heads": 2}
    older |= {"character_embeddings": True, "character_filters": code, "max_target_positions": 9}
    torch.save({**state, "args": Namespace(**older)}, tmp_path / "evil.pt")
    with pytest.raises(InputError, match="holds model None of task None"):
        load(tmp_path, "evil.pt")
    assert not marker.exists()
    state["cfg"]["task"]["task"] = "translation"
    torch.save(state, tmp_path / "evil.pt")
    with pytest.raises(InputError, match="of task None"):
        load(tmp_path, "evil.pt")
