"""Answers of trained checkpoints: the same for raw text, prepared splits and any batches."""

from __future__ import annotations

import math
import os
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
import torch
from answer_runs import OPTIONS, TEST, gold_of
from prepared_text import train

from fairseq_plugins.corpora.squad import Paragraph, Question, read
from fairseq_plugins.data.text_batches import lay_out
from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.answer_text import as_text
from fairseq_plugins.inference import prediction, question_answering
from fairseq_plugins.inference.question_answering import load, row_parts
from fairseq_plugins.nn.span_search import best_spans
from fairseq_plugins.targets.answers import most_probable

pytestmark = pytest.mark.slow

SPLITS = {"train": "train-v2.0.json", "valid": "dev-v2.0.json", "test": "test-v2.0.json"}


@pytest.fixture(scope="module")
def runs(answer_runs):
    return answer_runs


@pytest.fixture(scope="module")
def reader(runs):
    return load(runs / "first", cpu=True)


@pytest.fixture(scope="module")
def disturbed(runs):
    return load(runs / "second", cpu=True)


def both(runs, **options):
    return load(f"{runs / 'first'}{os.pathsep}{runs / 'second'}", cpu=True, **options)


def numbers(found):
    scores = [each.score for each in found.candidates]
    return [*scores, found.null_score, *found.probabilities]


def assert_same(replies, expected):
    replies, expected = list(replies), list(expected)
    assert len(replies) == len(expected)
    for one, other in zip(replies, expected):
        assert one.text == other.text
        assert numbers(one.found) == pytest.approx(numbers(other.found), abs=1e-5)
        best, same = one.found.candidates[0], other.found.candidates[0]
        assert (best.text, best.begin, best.end) == (same.text, same.begin, same.end)


def test_training_questions_are_answered(runs, reader):
    gold = gold_of(runs / "raw" / "train-v2.0.json")
    replies = {reply.passage.id: reply for reply in reader.answer_split("train")}
    assert {name: reply.text for name, reply in replies.items()} == {
        name: texts[0] if texts else "" for name, texts in gold.items()
    }
    assert any(len(reply.passage.windows) > 1 for reply in replies.values())
    for reply in replies.values():
        for each in reply.found.candidates:
            assert reply.passage.context[each.begin : each.end] == each.text


@pytest.mark.parametrize("split", SPLITS)
def test_raw_files_are_answered_as_the_prepared_split_is(runs, disturbed, split):
    expected = list(disturbed.answer_split(split))
    paragraphs = read(runs / "raw" / SPLITS[split]).paragraphs
    raw = list(disturbed.answer_paragraphs(paragraphs))
    assert [r.passage.id for r in raw] == [r.passage.id for r in expected]
    assert [r.passage.answers for r in raw] == [r.passage.answers for r in expected]
    assert_same(raw, expected)
    alone = [
        disturbed.answer(asked.text, body.context)
        for body in paragraphs
        for asked in body.questions
    ]
    assert_same(alone, expected)
    assert len({reply.found.null_odds for reply in raw}) > 1


@pytest.mark.parametrize("size", [1, 2, 5])
def test_batches_change_nothing(runs, disturbed, size):
    expected = list(disturbed.answer_split("valid"))
    assert_same(disturbed.answer_split("valid", batch_size=size), expected)
    paragraphs = read(runs / "raw" / SPLITS["valid"]).paragraphs
    buffered = disturbed.answer_paragraphs(paragraphs, batch_size=size, buffer=1)
    assert_same(buffered, expected)


def test_questions_are_answered_as_they_come(runs, reader):
    seen = []

    def arriving():
        for body in read(runs / "raw" / SPLITS["valid"]).paragraphs:
            seen.append(body)
            yield body

    next(reader.answer_paragraphs(arriving(), buffer=2))
    assert len(seen) == 2


def test_some_questions_of_a_split(reader):
    everything = {reply.passage.id: reply for reply in reader.answer_split("valid")}
    chosen = list(everything)[5:1:-2]
    found = list(reader.answer_split("valid", ids=chosen, batch_size=2))
    assert [reply.passage.id for reply in found] == chosen[::-1]  # as in the split
    assert_same(found, [everything[name] for name in chosen[::-1]])
    with pytest.raises(InputError, match=r"ids: 1 id \(none\) not in split 'valid' of"):
        reader.answer_split("valid", ids=["none"])


def test_answers_keep_the_original_text(reader):
    context = TEST[0]["context"]
    (reply,) = [reader.answer("Who sold the bridge?", context)]
    for each in reply.found.candidates:
        assert context[each.begin : each.end] == each.text
    assert any("\u00a0" in each.text for each in reply.found.candidates)


@pytest.mark.parametrize(
    "context",
    [
        "Mara\tbuilt\r\nthe  mill\rin\u20281912.",
        "👩\u200d👧 built 👍🏽 the ❤\ufe0f mill in 1901.",
        "Ma\u0301ra\u0308\u0301 bu\u0327ilt e\u0301\u0301 the \u0301mill in Gent\u0301",
        "\u0301İstanbul ﬁne ǅ ß नमस्ते 각 中文没有空格1901年。",
        "\u200bMara\u200d \u202ebuilt\u202c [SEP] the [CLS] mill",
    ],
)
def test_candidates_are_parts_of_any_text(disturbed, context):
    (reply,) = [disturbed.answer("Who built the [SEP] mill?", context)]
    assert reply.found.candidates
    for each in reply.found.candidates:
        assert context[each.begin : each.end] == each.text == each.text.strip()
        shown = as_text(replace(reply.found, candidates=(each,)), context, threshold=math.inf)
        text = " ".join(each.text.split()).translate(dict.fromkeys((0x202E, 0x202C)))
        assert f">>{text}<<" in shown
        after = context[each.end : each.end + 1]
        assert not after or unicodedata.category(after) != "Mn"  # accents stay with their letter


def test_long_contexts_are_searched_part_by_part(runs, disturbed, monkeypatch):
    rows = []

    def counted(logits, *limits, **sizes):
        rows.append(len(logits))
        return best_spans(logits, *limits, **sizes)

    context = "Mara built the mill in Lund in 1912. " * 20
    whole = disturbed.answer("Who built the mill?", context)
    monkeypatch.setattr(question_answering, "best_spans", counted)
    body = Paragraph("", context, (Question("0", "Who built the mill?"),))
    (reply,) = disturbed.answer_paragraphs([body], batch_size=4)
    assert max(rows) == 4
    assert sum(rows) == len(reply.passage.windows) > 8
    assert_same([reply], [whole])


def test_models_of_other_sizes_make_an_ensemble_those_of_other_features_none(
    runs, reader, tmp_path
):
    short = [option if option != "400" else "2" for option in OPTIONS]
    wide = train(runs / "data", tmp_path / "wide", *short, "--hidden-size", "64")
    cased = train(runs / "data", tmp_path / "cased", *short, "--features", "case")
    first = runs / "first" / "checkpoint_best.pt"
    wide, cased = (run / "checkpoint_last.pt" for run in (wide, cased))
    sample = next(reader.predictor.batches(reader.predictor.load_split("valid")))
    one, other = (load(path, cpu=True)._logits(sample, 32)[0] for path in (first, wide))
    expected = reader._answered(sample["passages"], (one + other) / 2)
    replies = load([first, wide], cpu=True).answer_split("valid")
    found = {reply.passage.id: reply.found for reply in replies}
    for passage, answered in zip(sample["passages"], expected):
        assert numbers(found[passage.id]) == pytest.approx(numbers(answered), abs=1e-5)
    with pytest.raises(InputError, match="must read the same features, not none and case"):
        load([first, cased], cpu=True)


def test_options_replace_those_of_the_checkpoint(runs, reader):
    short = load(runs / "first", cpu=True, max_answer_length=1, n_best=3)
    for reply in short.answer_split("valid"):
        assert len(reply.found.candidates) == 3
        assert not any(" " in each.text for each in reply.found.candidates)
    (*_, some), (*_, none) = (
        load(runs / "first", cpu=True, null_threshold=threshold).answer_split("train")
        for threshold in (1e9, -1e9)
    )
    assert none.text == ""
    assert some.text == none.found.best_text != ""
    assert any(" " in each.text for each in some.found.candidates)


def test_logits_are_averaged_window_by_window(runs, reader, disturbed):
    sample = next(reader.predictor.batches(reader.predictor.load_split("valid")))
    (one,), (other,) = (each._logits(sample, 32) for each in (reader, disturbed))
    expected = reader._answered(sample["passages"], (one + other) / 2)
    found = {reply.passage.id: reply.found for reply in both(runs).answer_split("valid")}
    for passage, answered in zip(sample["passages"], expected):
        assert numbers(found[passage.id]) == pytest.approx(numbers(answered), abs=1e-6)


def test_the_papers_ensemble_follows_its_rule(runs, reader, disturbed):
    joined = both(runs, ensemble="paper").answer_split("valid")
    kinds = set()
    for one, other, found in zip(*(r.answer_split("valid") for r in (reader, disturbed)), joined):
        expected = most_probable([one.found, other.found])
        assert numbers(found.found) == pytest.approx(numbers(expected), abs=1e-5)
        assert (found.text == "") == ("" in (one.text, other.text))
        kinds.add((one.text == "", other.text == ""))
    assert len(kinds) > 1


def test_an_ensemble_of_the_same_model_is_that_model(runs, reader):
    twice = os.pathsep.join([str(runs / "first")] * 3)
    for ensemble in ("logits", "paper"):
        found = load(twice, cpu=True, ensemble=ensemble).answer_split("valid")
        assert_same(found, reader.answer_split("valid"))


def test_parts_of_a_batch_are_rows_of_it():
    rng = np.random.default_rng(1)
    items = [
        {
            "id": i,
            "tokens": rng.integers(1, 9, sum(lengths)),
            "segments": np.zeros(sum(lengths), dtype=np.int64),
            "lengths": np.array(lengths),
        }
        for i, lengths in enumerate([[3], [5, 2], [4], [1]])
    ]
    whole = lay_out(items, 0)["net_input"]
    parts = list(row_parts(whole, 2))
    assert [len(part["src_tokens"]) for part in parts] == [2, 2, 1]
    for name in ("src_tokens", "src_lengths", "segments"):
        assert torch.equal(torch.cat([part[name] for part in parts]), whole[name])
    for part in parts:
        places = part["src_tokens"].flatten().nonzero().squeeze(1)
        assert torch.equal(part["token_positions"], places)


def test_what_cannot_be_asked_is_refused(reader):
    with pytest.raises(InputError, match="the question is empty"):
        reader.answer(" ", "Mara built the mill.")
    with pytest.raises(InputError, match="the context is empty"):
        reader.answer("Who?", "\n")
    with pytest.raises(InputError, match=r"^the question: '\\ud800' is half a character"):
        reader.answer("Who\ud800?", "Mara built the mill.")
    with pytest.raises(InputError, match=r"^the context: '\\udcff' is half a character"):
        reader.answer("Who?", "Mara \udcff built the mill.")
    with pytest.raises(InputError, match="no character that the encoder can see"):
        reader.answer("Who?", "\u0000\u200b")
    with pytest.raises(InputError, match="no split 'dev'; choices: train, valid, test"):
        reader.answer_split("dev")


def test_long_questions_are_cut(reader):
    question = "Who built the mill in Lund in 1912 ?"
    kept = question.rsplit(" ", 1)[0] + " " + " ".join(["boat"] * 40)
    found = [reader.answer(text, "Mara built the mill.") for text in (question, kept)]
    assert found[0].passage.windows[0, 0] == found[1].passage.windows[0, 0] == 8
    assert numbers(found[0].found) == numbers(found[1].found)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_scores_that_are_no_numbers_are_refused(runs, tmp_path, value):
    state = torch.load(runs / "first" / "checkpoint_best.pt", weights_only=True)
    state["model"]["head.head.out.bias"][1] = value
    torch.save(state, tmp_path / "bad.pt")
    with pytest.raises(InputError, match=r"bad\.pt: .* holds a value that is no finite number"):
        load(tmp_path / "bad.pt", cpu=True).answer("Who?", "Mara built the mill.")


def test_models_of_questions_and_of_labels_are_kept_apart(runs):
    with pytest.raises(
        ValueError, match=r"; it is read by fairseq-plugins answer, ask and plot coattention$"
    ):
        prediction.load(runs / "first", cpu=True)
    with pytest.raises(InputError, match="'vote' is unknown; choices: logits, paper"):
        load(runs / "first", cpu=True, ensemble="vote")
