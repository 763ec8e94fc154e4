"""Attention read off a translation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf
from prepared import make_model, make_task, prepare, random_pairs

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.translation_attention import attend
from fairseq_plugins.models._hub import SyntaxGenerator

SENTENCE = "a Cat dog go@@ hi E"


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    folder = prepare(tmp_path_factory.mktemp("data"), {"train": random_pairs(30)}, joined=True)
    task = make_task(folder)
    torch.manual_seed(3)
    model = make_model(task)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.4)
    from fairseq.dataclass.configs import FairseqConfig

    cfg = OmegaConf.structured(FairseqConfig())
    cfg.generation.max_len_b = 8
    return SyntaxGenerator(cfg, task, [model]).eval()


def test_attention_rows_are_distributions_over_the_source(translator):
    found = attend(translator, SENTENCE)
    assert found.weights.shape == (len(found.target), len(found.source))
    assert found.source == [*SENTENCE.split(), "</s>"]
    assert found.target[-1] == "</s>"
    np.testing.assert_allclose(found.weights.sum(1), 1, atol=1e-5)


def test_attention_equals_what_generation_saw(translator):
    found = attend(translator, SENTENCE, beam=2)
    tokens, _ = translator.task.get_interactive_tokens_and_lengths([SENTENCE], None)
    best = translator.generate(tokens, beam=2)[0][0]
    np.testing.assert_allclose(found.weights, best["attention"].T.numpy(), atol=1e-5)


def test_heads_average_to_the_mean_and_differ(translator):
    heads = translator.models[0].decoder.layers[-1].encoder_attn.num_heads
    each = [attend(translator, SENTENCE, head=h).weights for h in range(heads)]
    mean = attend(translator, SENTENCE).weights
    np.testing.assert_allclose(np.mean(each, axis=0), mean, atol=1e-5)
    assert np.abs(each[0] - each[1]).max() > 1e-3


def test_layers_differ(translator):
    first = attend(translator, SENTENCE, layer=0).weights
    assert np.abs(first - attend(translator, SENTENCE).weights).max() > 1e-3


@pytest.mark.parametrize("wrong", [{"layer": 9}, {"head": 7}, {"head": -1}])
def test_attention_names_the_choices(translator, wrong):
    with pytest.raises(InputError, match="choices are 0 to"):
        attend(translator, SENTENCE, **wrong)


def test_empty_sentence_is_refused(translator):
    with pytest.raises(InputError, match="empty"):
        attend(translator, "  ")
