"""Pairs that models judge: strengths of words, counted by loops, and which pairs are shown."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import prepared_text
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from prepared_text import SIZES, examples, make_model, make_task, pieces_of, prepare

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.contrast import ContrastOptions
from fairseq_plugins.inference import difference_study
from fairseq_plugins.inference.difference_study import compare_models, marked, word_strengths
from fairseq_plugins.inference.encoder_attention import EncoderAttention, attend
from fairseq_plugins.inference.options import DIFFERENCE, PairOptions
from fairseq_plugins.inference.prediction import Predictor

PAIR = ("Alice sees  the garden", "green paris by night")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {
        "train": examples("classes", 3, 1, pairs=True),
        "valid": examples("classes", 30, 2, pairs=True),
        "test": examples("classes", 3, 3, pairs=True, gold=False),
    }
    return prepare(tmp_path_factory.mktemp("study") / "data", "classes", splits, annotations=())


def predictor(folder, arch="dabert_tiny", seed=4, **options):
    """A model of random weights, wild enough to look here and there."""
    task = make_task(folder)
    torch.manual_seed(seed)
    model = make_model(task, arch, **{**SIZES, "num_hidden_layers": 3, **options})
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.6)
    return Predictor(task.inputs, [model])


def study(made, layer=None):
    found = word_strengths(attend(made, PAIR, kind=DIFFERENCE, layer=layer, parse=False))
    assert [words for words, _ in found] == [text.split() for text in PAIR]
    return [strengths for _, strengths in found]


def loops(made, pair, layer):
    """Strengths by the text of the file: sums over pieces of means over rows of means of heads."""
    encoded = [prepared_text.encode(text.split()) for text in pair]
    dataset = made.inputs.take([encoded])
    with torch.no_grad():
        net_input = made.batch(dataset, [0])["net_input"]
        found = made.models[0](**net_input, need_weights=True)[1]["difference"]
    table = found[layer][0].double().numpy()  # (H, S, S)
    cut = [[(word, pieces_of(word)) for word in text.split()] for text in pair]
    at, places = 1, []
    for words in cut:
        places.append([])
        for _, pieces in words:
            places[-1].append(range(at, at + len(pieces)))
            at += len(pieces)
        at += 1
    strengths = []
    for own, other in ((0, 1), (1, 0)):
        rows = [i for word in places[other] for i in word]
        strengths.append([])
        for word in places[own]:
            value = 0.0
            for j in word:
                means = [sum(head[i, j] for head in table) / len(table) for i in rows]
                value += sum(means) / len(rows)
            strengths[-1].append(value)
    return strengths


def test_strengths_are_sums_over_pieces_of_means_over_the_other_sentence(folder):
    made = predictor(folder, dual_layers="0,2")
    one, two = (loops(made, PAIR, layer) for layer in (0, 2))
    for layer, expected in ((0, one), (2, two)):
        for strengths, values in zip(study(made, layer), expected):
            np.testing.assert_allclose(strengths, values, atol=1e-6)
            assert 0 < strengths.sum() < 1
    for strengths, *values in zip(study(made), one, two):
        np.testing.assert_allclose(strengths, np.mean(values, 0), atol=1e-6)
    assert not np.allclose(one[0], two[0], atol=1e-3)


@given(st.lists(st.integers(1, 3), min_size=2, max_size=6), st.integers(1, 5), st.integers(0, 99))
def test_strengths_share_what_the_other_sentence_pays(pieces, border, seed):
    """However words are cut, nothing is lost, and no sentence gets more than there is."""
    border = min(border, len(pieces) - 1)
    word_of = [word for word, count in enumerate(pieces) for _ in range(count)]
    table = np.random.default_rng(seed).random((len(word_of), len(word_of)))
    table /= 1.01 * table.sum(1, keepdims=True)
    words = [str(n) for n in range(len(pieces))]
    both = word_strengths(EncoderAttention([], table, words, word_of, border=border))
    assert [one for one, _ in both] == [words[:border], words[border:]]
    own = np.array(word_of) < border
    for mine, (_, strengths) in zip((own, ~own), both):
        np.testing.assert_allclose(strengths.sum(), table[np.ix_(~mine, mine)].sum(1).mean())
        assert 0 < strengths.sum() < 1


@pytest.mark.parametrize(
    ("text", "strengths", "count", "expected"),
    [
        ("a b c d", (0.1, 0.2, 0.0, 0.1), 9, "abd"),  # no word without strength
        ("a b c", (0.1, 0.1, 0.1), 2, "ab"),  # of equals the first
        ("a ?! 4 +", (0.1, 0.9, 0.2, 0.3), 2, "4+"),  # punctuation is no word
        ("a b", (0.1, 0.2), 0, ""),
    ],
)
def test_the_strongest_words_are_marked(text, strengths, count, expected):
    runs = marked(text.split(), strengths, count)
    assert "".join(part for part, _ in runs) == text
    assert "".join(part for part, mark in runs if mark == "hit") == expected


@pytest.fixture
def shown(folder, monkeypatch):
    """Return what is printed of models that stand for checkpoints by their names."""
    known = {"dabert": predictor(folder), "plain": predictor(folder, "bert_plain_tiny", seed=5)}
    monkeypatch.setattr(difference_study, "load", lambda path, *_, **__: known[path])
    monkeypatch.setattr(difference_study, "with_difference", lambda paths: paths.index("dabert"))

    def show(*systems, better="last", **pairs):
        options = ContrastOptions(systems=systems, better=better, max=99)
        return compare_models(options, PairOptions(cpu=True, **pairs))

    return show


def test_pairs_in_which_models_differ_are_shown_with_the_words_of_one(shown, folder):
    given = examples("classes", 30, 2, pairs=True)
    text = shown("plain", "dabert", split="valid", better="any")
    blocks = text.split("\n\n")[:-1]
    assert 0 < len(blocks) < 30
    assert f"{len(blocks)} of {len(blocks)} such pairs shown\n30 pairs: " in text
    for block in blocks:
        title, *lines, plain, ours = block.splitlines()
        number = int(title.split()[1].rstrip(":").split("-")[1])
        words = [line.split("  ", 2)[-1].replace("{+", "").replace("+}", "") for line in lines[::2]]
        assert [one.split() for one in words] == [one.split() for one in given[number].texts]
        assert {line.split()[1] for line in (plain, ours)} == {"right", "wrong"}
    parts = [shown("plain", "dabert", split="valid", better=one) for one in ("first", "last")]
    assert sum(part.count("pair ") for part in parts) == len(blocks)


def test_pairs_of_one_model_or_without_labels_are_all_shown(shown, folder):
    whole = shown("dabert", split="valid")
    assert whole.count("S1 %") == 30
    assert "30 of 30 such pairs shown" in whole
    for more in ({"split": "test"}, {"pair": [PAIR]}):
        text = shown("plain", "dabert", **more)
        assert text.count("no gold") == text.count("S1 %") == len(more.get("pair", "123"))
        assert "right" not in text


def test_scores_are_shown_with_their_distance(tmp_path, monkeypatch):
    splits = {"valid": examples("score", 3, pairs=True)}
    made = predictor(prepare(tmp_path / "scores", "score", splits, annotations=()))
    monkeypatch.setattr(difference_study, "load", lambda *_, **__: made)
    monkeypatch.setattr(difference_study, "with_difference", lambda paths: 0)
    for more, said in (({"split": "valid"}, ": gold "), ({"pair": [PAIR]}, "(no gold)")):
        text = compare_models(ContrastOptions(systems=["x"]), PairOptions(**more))
        assert text.count("S2 %") == len(more.get("pair", "123"))
        assert said in text


def test_what_cannot_be_studied_is_refused(shown, folder):
    for words, pairs, said in (
        (["dabert"], {"pair": [PAIR], "layer": 1}, "layer 1 has no difference attention"),
        (["dabert"], {"pair": [PAIR], "layer": 9}, "no layer 9"),
        (["dabert"], {"pair": [(" ", "x")]}, "text 0 is empty"),
        (["dabert"], {"split": "dev"}, "no split 'dev'; choices: train, valid, test"),
    ):
        with pytest.raises(InputError, match=said):
            shown(*words, **pairs)


def test_checkpoints_without_difference_attention_are_refused(monkeypatch, tmp_path):
    """Before anything is built, from their recorded options alone."""
    recorded = {}
    found = SimpleNamespace(model=recorded)
    monkeypatch.setattr(difference_study, "find_checkpoints", lambda path: [path])
    monkeypatch.setattr(difference_study, "check_checkpoint", lambda path, wanted: found)
    for options, why in (
        ({"_name": "bert_plain"}, "--dual-layers none"),
        ({"_name": "bert_sla", "dual_layers": "none"}, "--dual-layers none"),
        ({"_name": "dabert", "dual_layers": "0", "ablate": "difference"}, "--ablate difference"),
    ):
        recorded.clear()
        recorded.update(options)
        message = rf"'{options['_name']}' and has no .* \({why}\); .*: dabert, dabert_literal$"
        with pytest.raises(InputError, match=message):
            difference_study.with_difference([tmp_path])
    recorded.update(ablate="guide")
    assert difference_study.with_difference([tmp_path]) == 0
