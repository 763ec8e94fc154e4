"""Attention read off an encoder: the mean of the model's own tables, with the parse above."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import prepared_text
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from prepared_text import SIZES, examples, heads_of, make_model, make_task, pieces_of, prepare

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.encoder_attention import EncoderAttention, attend, marks, raised
from fairseq_plugins.inference.prediction import Predictor
from fairseq_plugins.syntax.annotation import Annotation

FIRST, SECOND = "alice sees the garden", "green paris by night"
WIDE = {**SIZES, "num_hidden_layers": 3, "num_attention_heads": 4}


class Encoder:
    """Encodes by the rules of `prepared_text`, with heads or without."""

    def __init__(self, parses: bool = True) -> None:
        self.parses = parses

    def encode(self, given):
        found = [tuple(prepared_text.encode(t.split()) for t in e.texts) for e in given]
        for sentence in (one for sentences in found for one in sentences):
            sentence.layers = sentence.layers if self.parses else {}
        return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root, made = tmp_path_factory.mktemp("attention"), {}
    for name, kind, pairs in (("one", "classes", False), ("two", "score", True)):
        splits = {"train": examples(kind, 3, 1, pairs=pairs)}
        made[name] = prepare(root / name, kind, splits, annotations=("pos", "heads"))
    made["words"] = prepare(
        root / "words", "entities", {"train": examples("entities", 3, 1)}, annotations=("heads",)
    )
    return made


def predictor(folder, arch="bert_plain_tiny", *, parses=True, **options):
    """A model of random weights, wild enough to look here and there."""
    task = make_task(folder)
    torch.manual_seed(4)
    model = make_model(task, arch, **{**WIDE, **options})
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.6)
    made = Predictor(task.inputs, [model])
    made.encoder = Encoder(parses)
    return made


def tables(made, texts):
    """The model's own attention, (L, H, S, S), and the places of [CLS] and [SEP]."""
    sentences = [prepared_text.encode(text.split()) for text in texts]
    dataset = made.inputs.take([sentences])
    sample = dataset.collater([dataset[0]])
    with torch.no_grad():
        found = made.models[0](**sample["net_input"], need_weights=True)[1]["attention"]
    tokens = sample["net_input"]["src_tokens"][0]
    specials = [made.inputs.vocabulary.cls, made.inputs.vocabulary.sep]
    return torch.stack(found)[:, 0].numpy(), np.flatnonzero(np.isin(tokens, specials))


@pytest.mark.parametrize("arch", ["bert_plain_tiny", "bert_sla_tiny", "bert_sgnet_tiny"])
@pytest.mark.parametrize(("folder", "texts"), [("one", [FIRST]), ("two", [FIRST, SECOND])])
def test_weights_are_the_mean_of_all_tables_without_specials(folders, arch, folder, texts):
    made = predictor(folders[folder], arch)
    found = attend(made, texts)
    own, specials = tables(made, texts)
    assert len(specials) == 1 + len(texts)
    expected = np.delete(np.delete(own.mean((0, 1)), specials, 0), specials, 1)
    np.testing.assert_allclose(found.weights, expected, atol=1e-6)
    assert found.weights.sum(1).max() < 1
    pieces = [piece for text in texts for word in text.split() for piece in pieces_of(word)]
    assert found.tokens == pieces
    assert found.words == " ".join(texts).split()


def test_one_layer_and_one_head(folders):
    made = predictor(folders["one"])
    own, _ = tables(made, [FIRST])
    inner = own[:, :, 1:-1, 1:-1]
    for layer, head, expected in (
        (2, None, inner[2].mean(0)),
        (None, 1, inner[:, 1].mean(0)),
        (0, 3, inner[0, 3]),
    ):
        found = attend(made, [FIRST], layer=layer, head=head).weights
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_words_of_a_tagger(folders):
    found = attend(predictor(folders["words"], "bert_wla_tiny"), [FIRST])
    assert found.words == FIRST.split()


def test_arcs_join_the_middles_of_words(folders):
    """In a pair those of the second sentence lie right of the first."""
    found = attend(predictor(folders["two"]), [FIRST, SECOND])
    sizes = [len(pieces_of(word)) for word in found.words]
    begins = np.cumsum([0, *sizes])
    middle = [begins[i] + (size - 1) / 2 for i, size in enumerate(sizes)]
    expected, before = [], 0
    for text in (FIRST, SECOND):
        heads = heads_of(text.split())
        expected += [(middle[before + i], middle[before + h - 1]) for i, h in enumerate(heads) if h]
        before += len(heads)
    assert found.arcs() == expected
    assert len(expected) == 8 - 2
    border = begins[4] - 0.5
    assert all((one < border) == (other < border) for one, other in expected)
    assert found.border_token() == begins[4]
    assert found.by_word().border_token() == 4
    assert attend(predictor(folders["one"]), [FIRST]).border_token() == 0
    joined = found.by_word()
    assert len(joined.arcs()) == 6
    assert {end for arc in joined.arcs() for end in arc} == set(range(8))


def test_words_join_their_pieces():
    weights = np.array([[0.1, 0.2, 0.3], [0.3, 0.4, 0.1], [0.2, 0.2, 0.5]])
    found = EncoderAttention(["a", "##b", "c"], weights, ["ab", "c"], [0, 0, 1], [1, 1])
    joined = found.by_word()
    assert joined.tokens == ["ab", "c"]
    np.testing.assert_allclose(joined.weights, [[0.5, 0.2], [0.4, 0.5]])
    assert found.arcs() == [(0.5, 2.0)]
    assert joined.arcs() == [(0.0, 1.0)]


def test_without_a_pipeline_there_are_no_arcs(folders):
    found = attend(predictor(folders["one"], parses=False), [FIRST])
    assert found.heads is None
    assert found.arcs() == []


def test_models_without_a_parse_get_one_for_the_picture(folders, monkeypatch):
    """The folder's pipeline parses; what the model reads stays as it is."""
    made = predictor(folders["one"], parses=False)
    asked = []

    def from_folder(folder, manifest, spacy_model):
        asked.append((folder, manifest.annotations, spacy_model))
        return Encoder()

    monkeypatch.setattr(
        "fairseq_plugins.inference.encoder_attention.TextEncoder",
        SimpleNamespace(from_folder=from_folder),
    )
    made.manifest.annotator["model"] = "bundled"
    found = attend(made, [FIRST])
    assert asked == [(folders["one"], ["pos", "heads"], None)]
    assert found.heads == [i if h == 0 else h - 1 for i, h in enumerate(heads_of(FIRST.split()))]


@pytest.mark.parametrize("texts", [[FIRST], [FIRST, SECOND]])
def test_relations_stand_at_arcs_that_the_pipeline_sees_too(folders, monkeypatch, texts):
    """Where it sees another head than the one drawn, its relation would be of another arc."""
    made = predictor(folders["one" if len(texts) == 1 else "two"])
    made.manifest.annotator["model"] = "bundled"
    heads = [heads_of(text.split()) for text in texts]
    others = [[3 if own[0] != 3 else 2, *own[1:]] for own in heads]  # of each first word

    def annotator_of(seen):
        def annotate_words(words):
            assert words == [text.split() for text in texts]
            named = [[f"r{i}" for i, _ in enumerate(own)] for own in seen]
            layers = [{"heads": own, "dep": names} for own, names in zip(seen, named)]
            return [Annotation(list(own), one) for own, one in zip(words, layers)]

        return SimpleNamespace(annotate_words=annotate_words)

    told = []
    for seen in (heads, others):
        monkeypatch.setattr(
            "fairseq_plugins.inference.encoder_attention.reopen_annotator",
            lambda *_, seen=seen: annotator_of(seen),
        )
        found = attend(made, texts)
        assert len(found.arc_relations()) == len(found.arcs())
        told.append(list(found.relations))
    assert told[0] == [f"r{i}" for own in heads for i, _ in enumerate(own)]
    firsts = {0, len(heads[0])}
    assert told[1] == ["" if i in firsts else name for i, name in enumerate(told[0])]


def test_without_a_pipeline_arcs_have_no_relations(folders):
    found = attend(predictor(folders["one"]), [FIRST])
    assert found.arcs()
    assert found.arc_relations() == []


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["  "], {}, "text 0 is empty"),
        ([FIRST, SECOND], {}, "expected one sentence"),
        ([" ".join([FIRST] * 200)], {}, r"the text has \d{4} wordpieces.*the model reads 512"),
        ([FIRST], {"layer": 3}, "no layer 3: choices are 0 to 2"),
        ([FIRST], {"head": -1}, "no head -1: choices are 0 to 3"),
    ],
)
def test_bad_input_is_refused(folders, texts, options, message):
    with pytest.raises(InputError, match=message):
        attend(predictor(folders["one"]), texts, **options)


def test_taggers_do_not_cut_the_figure_into_windows(folders):
    made = predictor(folders["words"])
    with pytest.raises(InputError, match="the model reads 512"):
        attend(made, [" ".join([FIRST] * 200)])


def test_marks_are_what_rose_most():
    first = np.zeros((2, 3))
    second = np.array([[0.3, -0.1, 0.0], [0.1, 0.3, 0.2]])
    assert raised(first, second, 2) == [(0, 0), (1, 1)]
    assert raised(first, second, 9) == [(0, 0), (1, 1), (1, 2), (1, 0)]
    assert raised(first, second, 0) == []


@given(st.lists(st.floats(0, 1), min_size=9, max_size=9), st.integers(0, 12))
def test_marked_cells_gain_more_than_all_others(values, count):
    first, second = np.full((3, 3), 0.5), np.reshape(values, (3, 3))
    cells = raised(first, second, count)
    assert len(cells) == min(count, int((second > first).sum()))
    marked = np.zeros((3, 3), bool)
    for cell in cells:
        marked[cell] = True
    if cells and not marked.all():
        assert second[marked].min() >= second[~marked].max()


def test_two_tables_are_marked_alike_and_more_one_by_one():
    def table(value, tokens=("a", "b")):
        weights = np.full((2, 2), 0.1)
        weights[value] = 0.5
        return EncoderAttention([*tokens], weights, [*tokens], [0, 1])

    low, up, down = table((0, 0)), table((0, 1)), table((1, 0))
    assert marks([low, up], 3) == [[(0, 1)], [(0, 1)]]
    assert marks([low, up, down], 3) == [[], [(0, 1)], [(1, 0)]]
    assert marks([low], 3) == [[]]
    assert marks([low, table((0, 1), ("a", "c"))], 3) == [[], []]
