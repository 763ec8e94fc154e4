"""Maps of coattention: the numbers, and the way from checkpoint and raw text to files."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from coattention_runs import make_runs

from fairseq_plugins.cli.main import main
from fairseq_plugins.cli.plot_coattention import described, titled
from fairseq_plugins.corpora.squad import read
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference import coattention
from fairseq_plugins.inference.coattention import attend
from fairseq_plugins.inference.question_answering import load

pytestmark = pytest.mark.slow

PLOT = "plot coattention"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("coattention"))


@pytest.fixture(scope="module", params=["query", "literal"])
def reader(request, runs):
    return load(runs / request.param, cpu=True)


@pytest.fixture(scope="module")
def split(reader):
    return reader.predictor.load_split("valid")


@pytest.mark.parametrize("direction", coattention.DIRECTIONS)
def test_a_map_is_what_the_model_says_of_its_window(reader, split, direction):
    found = attend(reader, split, 2, direction=direction, block=0, head=1)
    window, count = found.window
    assert count > 1
    assert found.weights.shape == (len(found.question), len(found.context))
    assert (found.question[0], found.question[-1], found.context[-1]) == ("[CLS]", "[SEP]", "[SEP]")
    sample = reader.predictor.batch(split, [2])
    c2q, q2c = reader.predictor.outputs(sample, need_weights=True)[0][1]["coattention"][0]
    table = (q2c if direction == "q2c" else c2q.transpose(2, 3))[window, 1]
    Q, C = found.weights.shape
    assert np.allclose(found.weights, table[:Q, :C])
    assert not table[Q:].any()
    assert not table[:, C:].any()
    sums = found.weights.sum(1 if direction == "q2c" else 0)
    assert np.allclose(sums, 1, atol=1e-5)
    assert found.received.sum() == pytest.approx(1, abs=1e-5)
    assert len(found.attended) == len(found.received)
    shares = [share for _, share in found.most_attended(99)]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) == len(found.attended)


def test_the_mean_over_heads_of_the_last_block_is_shown(reader, split):
    heads = reader.predictor.models[0].encoder.layers[0].attention.heads
    each = [attend(reader, split, 1, block=1, head=head).weights for head in range(heads)]
    found = attend(reader, split, 1)
    assert np.allclose(found.weights, np.mean(each, axis=0))
    assert not np.allclose(each[0], each[1], atol=1e-8)
    assert not np.allclose(attend(reader, split, 1, block=0).weights, found.weights, atol=1e-8)


def test_the_window_is_that_of_the_best_span_and_the_span_is_marked(reader, split):
    for number in range(len(split)):
        found = attend(reader, split, number)
        first, last = found.span
        text = found.reply.found.best_text.lower().replace(".", " .").split()
        assert found.context[first : last + 1] == text
        shown = attend(reader, split, number, direction="c2q")
        assert shown.span == found.span
        others = [attend(reader, split, number, window=k) for k in range(found.window[1])]
        assert {one.window[0] for one in others} == {*range(found.window[1])}
        assert all(
            one.span is None or "".join(text) == "".join(one.context[one.span[0] : one.span[1] + 1])
            for one in others
        )


def test_raw_text_gives_the_same_map_as_the_prepared_split(runs, reader, split):
    paragraph = read(runs / "raw" / "dev-v2.0.json").paragraphs[0]
    for number, question in enumerate(paragraph.questions):
        dataset = reader.ask(question.text, paragraph.context)
        raw, prepared = attend(reader, dataset), attend(reader, split, number)
        assert (raw.question, raw.context, raw.span) == (
            prepared.question,
            prepared.context,
            prepared.span,
        )
        assert np.allclose(raw.weights, prepared.weights, atol=1e-6)
        assert coattention.number_of(split, question.id) == number


def test_what_is_not_there_is_refused(runs, reader, split):
    for given, said in (
        ({"direction": "up"}, "unknown direction 'up'; choices: q2c, c2q"),
        ({"block": 2}, "no block 2: choices are 0 to 1"),
        ({"head": 9}, "no head 9"),
        ({"window": 99}, "no window 99"),
    ):
        with pytest.raises(InputError, match=said):
            attend(reader, split, 0, **given)
    with pytest.raises(InputError, match="no question has the id 'x'"):
        coattention.number_of(split, "x")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the script in this process; return its exit status and output."""

    def call(*arguments):
        code = main([*PLOT.split(), *map(str, arguments), "--cpu"])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return SimpleNamespace(code=code, out=found.out, err=found.err)

    return call


def test_a_map_is_drawn_from_raw_text(runs, run, tmp_path):
    context = tmp_path / "text.txt"
    context.write_text("Mara built the old mill in Lund in 1912. Otto sold the $5 boat in Riga.\n")
    arguments = [
        runs / "query",
        "--context",
        context,
        "--question",
        "Who built the mill?",
    ]
    found = run(*arguments, "--output", tmp_path / "new" / "map", "--top", 3)
    assert found.code == 0
    assert found.out.startswith("question: Who built the mill?\nanswer: ")
    assert len(re.findall(r"^0\.\d{3}  +\d+  \S+$", found.out, re.MULTILINE)) == 3
    svg = (tmp_path / "new" / "map.svg").read_text()
    assert (tmp_path / "new" / "map.png").stat().st_size > 1000
    assert "mill" in svg
    assert "#ee6677" in svg.lower()  # the best span


@pytest.mark.parametrize("null_score", [-1e9, 1e9])
def test_texts_are_shown_without_what_a_terminal_obeys(reader, split, null_score):
    found, text = attend(reader, split, 0), "\x1b[2Jold\u202e\nmill"
    reply = found.reply
    best = replace(reply.found.candidates[0], text=text)
    reply = replace(
        reply,
        passage=replace(reply.passage, question=text, answers=(text,)),
        found=replace(reply.found, candidates=(best,), null_score=null_score),
    )
    found = replace(found, reply=reply, context=[text] * len(found.context))
    shown = [*described(replace(found, context=[*found.context[:-1], "[SEP]"]), 2)]
    for name in ("question", "answer" if null_score < 0 else "best span", "gold"):
        assert f"{name}: \ufffd[2Jold mill" in shown
    assert all(line.isprintable() for line in (*shown, titled(found)))


def test_a_map_is_drawn_from_a_split(runs, run, tmp_path):
    given = ["--split", "valid", "--id", "dev-1-0", "--output", tmp_path / "map"]
    found = run(runs / "literal", *given, "--direction", "c2q", "--head", 0, "--block", 1)
    assert found.code == 0
    assert "gold: " in found.out
    assert "window: " in found.out


@pytest.mark.parametrize(("kind", "shown"), [("answered", True), ("unanswered", False)])
def test_a_question_of_a_kind_is_found(runs, run, tmp_path, kind, shown):
    given = [runs / "query", "--split", "valid", "--first", kind]
    (gold,) = re.findall(
        r"^gold: (.*)$", run(*given, "--output", tmp_path / "map").out, re.MULTILINE
    )
    assert (gold != "none") == shown


def test_errors_are_one_line(runs, run, tmp_path):
    given = ["--split", "valid", "--id", "dev-1-0", "--output", tmp_path / "map"]
    empty = tmp_path / "empty.txt"
    empty.touch()
    for arguments, said in (
        ([runs / "plain", *given], "no coattention (--coattention-blocks 0, or"),
        ([runs / "none", *given], "none: no such file or folder"),
        ([runs / "query", *given, "--split", "best"], "has no split 'best'"),
        ([runs / "query", "--context", empty, "--question", "Who?"], "is empty"),
        (
            [runs / "query", "--context", tmp_path / "no", "--question", "W"],
            "no such file",
        ),
    ):
        found = run(*arguments)
        assert (found.code, found.err.count("\n")) == (1, 1)
        assert said in found.err
    assert not (tmp_path / "map.png").exists()


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["--context", __file__],
        ["--split", "a", "--question", "b"],
        ["--split", "a", "--id", "b", "--first", "answered"],
    ],
)
def test_a_question_is_named_in_one_way(run, given, capsys):
    with pytest.raises(SystemExit):
        run(__file__, *given)
    assert "give --context and --question, or --split and --id" in capsys.readouterr().err
