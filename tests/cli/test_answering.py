"""`answer`, `score` and `ask`, one after another."""

from __future__ import annotations

import json

import pytest
from answer_runs import gold_of
from cli.commands import run
from moved_runs import moved

pytestmark = pytest.mark.slow

ANSWER, SCORE, ASK = "answer", "score", "ask"


@pytest.fixture
def refusal(run_here):
    """Return what runs what has to fail, and returns its one line."""

    def call(script, *arguments, code=1):
        found = run_here(script, *arguments, fails=True)
        assert found.code == code
        (line,) = [line for line in found.err.splitlines() if "error: " in line]
        return line

    return call


@pytest.fixture
def facts(answer_runs, tmp_path):
    """A file with a context of the training set, and one of its questions with the answer."""
    path = answer_runs / "raw" / "train-v2.0.json"
    body = json.loads(path.read_text())["data"][0]["paragraphs"][0]
    (tmp_path / "context.txt").write_text(body["context"] + "\n", encoding="utf-8")
    return tmp_path / "context.txt", {
        asked["question"]: (asked["answers"] or [{"text": ""}])[0]["text"] for asked in body["qas"]
    }


def test_answers_are_written_and_scored(answer_runs, tmp_path):
    raw, out = answer_runs / "raw" / "train-v2.0.json", tmp_path / "new" / "out"
    given = (answer_runs / "first", "--input", raw, "--output", out, "--cpu")
    found = run(ANSWER, *given)
    assert "answerable" in found.err
    names = ["metrics.json", "nbest_predictions.json", "null_odds.json", "predictions.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    files = ("--null-odds", out / "null_odds.json", "--json", tmp_path / "scores.json")
    run(SCORE, "--sys", out / "predictions.json", "--ref", raw, *files)
    scores = json.loads((tmp_path / "scores.json").read_text())
    metrics = json.loads((out / "metrics.json").read_text())
    assert scores["exact"] == metrics["exact"] == 100.0
    assert scores["total"] == len(gold_of(raw))
    both = f"{answer_runs / 'first'}:{answer_runs / 'second'}"
    paper = ("--ensemble", "paper", "--null-threshold", "-5000", "--n-best", "1")
    run(ANSWER, both, "--split", "valid", "--output", out, "--cpu", *paper)
    answers = json.loads((out / "predictions.json").read_text())
    assert set(answers.values()) == {""}


def test_scores_at_a_threshold_are_those_of_answers_made_with_it(answer_runs, tmp_path):
    both = f"{answer_runs / 'first'}:{answer_runs / 'second'}"
    given = (both, "--ensemble", "paper", "--split", "valid", "--output", tmp_path)
    run(ANSWER, *given, "--cpu", "--null-threshold", "-5000")
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    odds = ("--null-odds", tmp_path / "null_odds.json")

    def scored(*more):
        files = ("--ref", answer_runs / "raw" / "dev-v2.0.json", "--json", tmp_path / "scores.json")
        told = run(SCORE, "--sys", tmp_path / "predictions.json", *files, *more).err
        return json.loads((tmp_path / "scores.json").read_text()), told

    assert scored()[0].items() <= metrics.items()
    emptied, told = scored(*odds)
    assert "was made with another threshold than 1:" in told
    best = {name: score for name, score in metrics.items() if name.startswith("best_")}
    assert not best.items() <= emptied.items()
    run(ANSWER, *given, "--cpu", "--null-threshold", "1e9")
    answered, told = scored(*odds, "--threshold", "-5000")
    assert answered.items() <= metrics.items()  # the best scores, too
    assert "threshold" not in told


def test_questions_are_answered(answer_runs, facts):
    context, asked = facts
    given = (answer_runs / "first", "--context", context, "--cpu")
    shown = run(ASK, *given, "--question", *asked).out.strip().split("\n\n")
    for (question, answer), block in zip(asked.items(), shown):
        first, second, *rest = block.splitlines()
        assert first == f"Q: {question}"
        assert second.startswith(f"A: {answer or 'no answer'}  (probability ")
        assert (f">>{answer}<<" in rest[-1]) if answer else ("best span: " in rest[0])
    assert "\x1b" not in "".join(shown)
    lines = "".join(f"{question}\n" for question in asked)
    flags = [word for question in asked for word in ("--question", question)]
    assert run(ASK, *given, *flags).out.strip().split("\n\n") == shown
    piped = run(ASK, *given, stdin=f"\n{lines}")
    assert piped.out.strip().split("\n\n") == shown
    assert "standard input:1: no question" in piped.err
    never = run(ASK, *given, "--null-threshold", "1e9", "--question", *asked).out
    assert "A: no answer" not in never


def test_a_moved_run_answers_without_its_prepared_folder(refusal, answer_runs, facts, tmp_path):
    context, asked = facts
    own = answer_runs / "first"
    given = ("--context", context, "--cpu", "--question", *asked)
    before = run(ASK, own, *given).out
    raw = ("--input", answer_runs / "raw" / "train-v2.0.json", "--cpu", "--output")
    run(ANSWER, own, *raw, tmp_path / "before")
    with moved(own, answer_runs / "data", tmp_path) as there:
        assert run(ASK, there, *given).out == before
        run(ANSWER, there, *raw, tmp_path / "after")
        split = ("--split", "valid", "--output", tmp_path / "none")
        assert "--data" in refusal(ANSWER, there, *split)
    for name in ("predictions.json", "null_odds.json"):
        assert (tmp_path / "after" / name).read_bytes() == (tmp_path / "before" / name).read_bytes()


def test_a_question_that_cannot_be_read_does_not_end_the_session(refusal, answer_runs, facts):
    context, (question, *_) = facts
    given = (answer_runs / "first", "--context", context, "--cpu")
    found = run(ASK, *given, stdin=f"\u200b\u0001\n{question}\n")
    assert "no character that the encoder can see" in found.err
    assert f"Q: {question}" in found.out
    assert "no character" in refusal(ASK, *given, "--question", "\u200b")


def test_what_cannot_be_asked_is_refused(refusal, answer_runs, facts, tmp_path):
    context, _ = facts
    start = (answer_runs / "first", "--cpu", "--context")
    (tmp_path / "empty").write_text(" \n")
    line = refusal(ASK, *start, tmp_path / "empty", "--question", "Who?")
    assert line == f"error: {tmp_path / 'empty'} is empty: there is nothing to ask about"
    assert "--context 'nowhere': no such file; write the text into a file" in refusal(
        ASK, *start, "nowhere", "--question", "Who?"
    )
    line = refusal(ASK, *start, context, "--question", "Who?", " ", code=2)
    assert "--question: number 2 is empty" in line
    line = refusal(ASK, *start, context, "--null-threshold", "low", code=2)
    assert "invalid float value: 'low'" in line


OTHERS = {
    "predict": "RUN --split valid",
    "plot attention": "RUN --sentence Who? --output out/figure",
    "plot gates": "RUN --output out/gates",
    "compare": "RUN --split valid --html out/page.html",
    "robustness": "RUN --sets . --output out/stem",
}


@pytest.mark.parametrize("script", OTHERS)
def test_subcommands_for_labels_name_those_for_answers(
    refusal, answer_runs, tmp_path, monkeypatch, script
):
    words = OTHERS[script].replace("RUN", str(answer_runs / "first")).split()
    monkeypatch.chdir(tmp_path)
    line = refusal(script, *words)
    assert "of task 'extractive_qa'" in line
    assert "; it is read by fairseq-plugins answer, ask and plot coattention" in line
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_answers_of_two_runs_are_compared(refusal, answer_runs, tmp_path):
    for name in ("first", "second"):
        given = (answer_runs / name, "--split", "valid", "--cpu", "--output")
        run(ANSWER, *given, tmp_path / name)
    systems = [tmp_path / name / "predictions.json" for name in ("first", "second")]
    compare = "compare"
    gold = answer_runs / "data" / "valid.examples.jsonl"
    done = run(compare, *systems, "--gold", gold, "--better", "any", "--max", 99)
    said = [json.loads(path.read_text()) for path in systems]
    assert f"{len(said[0])} questions: " in done.out
    for shown in done.out.split("\n\n")[:-3]:  # behind them counts of all
        identifier, judged = shown.split()[1].rstrip(":"), shown.splitlines()[-2:]
        assert sorted(line.split()[1] for line in judged) == ["right", "wrong"]
        for line, answers in zip(judged, said):
            assert (answers[identifier] or "no answer") in line
    line = refusal(compare, *systems)
    assert line.endswith("predictions.json holds answers: --gold names the questions")
    line = refusal(compare, *systems, "--gold", gold, "--positive", "yes")
    assert "--positive is not for answers" in line
    best = tmp_path / "first" / "nbest_predictions.json"
    line = refusal(compare, best, systems[0], "--gold", gold)
    assert line.endswith("nbest_predictions.json is one JSON object, but not of ids with answers")
    line = refusal(compare, systems[0], gold, "--gold", gold)
    assert "valid.examples.jsonl" in line
    line = refusal(compare, gold, systems[0], "--gold", gold)
    assert line.endswith(f"holds translations, {systems[0]} answers")


def test_windows_are_options_of_the_command_line(refusal, answer_runs, tmp_path):
    given = (answer_runs / "first", "--split", "valid", "--cpu", "--output", tmp_path)
    run(ANSWER, *given, *"--max-positions 24 --doc-stride 5 --max-query-length 6".split())
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    sizes = [metrics[name] for name in ("max_positions", "doc_stride", "max_query_length")]
    assert sizes == [24, 5, 6]
    line = refusal(ANSWER, *given, "--max-positions", 10)
    assert "choices: a larger --max-positions, at most " in line
    assert "or a smaller --max-query-length" in line
    line = refusal(ANSWER, *given, "--max-positions", 1000)
    assert "--max-positions 1000: the model has only " in line


def test_checkpoints_that_are_not_there_are_refused(refusal, answer_runs):
    line = refusal(ANSWER, answer_runs, "--split", "valid", "--output", "out")
    assert "holds no checkpoint_best.pt" in line
