"""Paraphrased questions: which are chosen, which are kept, what is written, how work resumes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from squad_files import paragraph, question, toy_squad, write_squad

from fairseq_plugins.augment.squad_augmentation import augment, open_work
from fairseq_plugins.augment.squad_augmentation_options import AugmentOptions, TranslationStep
from fairseq_plugins.augment.squad_augmentation_rules import (
    MARKS,
    REASONS,
    choose,
    clean,
    fault,
    folded,
)
from fairseq_plugins.corpora import squad
from fairseq_plugins.errors import InputError

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
LIMITS = {"max_ratio": 3.0, "max_characters": 500}


def made(count: int) -> list[squad.Question]:
    return [squad.Question(f"id{k}", f"What is {k % 7}?") for k in range(count)]


@given(st.integers(0, 60), st.floats(0, 1), st.floats(0, 1), st.integers(0, 5), st.randoms())
def test_the_choice_is_exact_nested_and_knows_no_order(count, rate, other, seed, random) -> None:
    low, high = sorted((rate, other))
    questions = made(count)
    chosen = choose(questions, low, seed)
    assert len(chosen) == len(set(chosen)) == round(low * count)
    assert choose(questions, high, seed)[: len(chosen)] == chosen
    random.shuffle(questions)
    assert choose(questions, low, seed) == chosen


def test_every_question_is_chosen_as_often_as_the_rate_says() -> None:
    questions, seeds, rate = made(40), 400, 0.35
    counts = dict.fromkeys(questions, 0)
    for seed in range(seeds):
        for asked in choose(questions, rate, seed):
            counts[asked] += 1
    spread = 4.5 * (seeds * rate * (1 - rate)) ** 0.5
    assert all(abs(count - seeds * rate) < spread for count in counts.values())


@given(TEXT, TEXT)
def test_clean_paraphrases_are_one_line_and_end_as_the_question(text, asked) -> None:
    found = clean(text, asked)
    assert found == clean(found, asked) == " ".join(found.split())
    mark = asked.rstrip()[-1:]
    if found and mark and mark in MARKS:
        assert found.endswith(mark)
        assert not found[:-1].endswith(tuple(MARKS))
    assert folded(found) == folded(text)


def test_clean_puts_only_the_mark_right() -> None:
    for text in ("who ran", "who ran .", "who ran ?", "who ran ??", " who  ran?. "):
        assert clean(text, "Who runs?") == "who ran?"
    assert clean("part of the U.S. ?", "Who?") == "part of the U.S.?"
    assert clean("谁跑。", "谁跑步？") == "谁跑？"
    assert clean("name them.", "Name all.") == "name them."
    assert clean(" ?", "Who?") == ""


@given(TEXT, TEXT, st.lists(TEXT, max_size=3))
def test_kept_paraphrases_say_something_new(text, asked, others) -> None:
    others = {folded(other) for other in others}
    found = fault(text, asked, others, **LIMITS)
    assert found is None or found in REASONS
    if found is None:
        assert folded(text)
        assert folded(text) not in {folded(asked), *others}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("?!", "empty"),
        ("WHO built  the mill", "unchanged"),
        ("Who built “the mill”?", "unchanged"),
        ("who sold the boat?", "duplicate"),
        ("Who?", "length"),
        ("who " * 13 + "?", "length"),
        ("Who built the m" + "i" * 60 + "ll?", "length"),
        ("Who built the <unk>?", "unknown_words"),
        ("Who made the mill?", None),
    ],
)
def test_each_reason_to_drop_a_paraphrase(text, reason) -> None:
    others = {folded("Who built the mill?"), folded("Who sold the boat?")}
    assert fault(text, "Who built the mill?", others, **LIMITS) == reason


def test_ratio_and_length_are_options() -> None:
    assert fault("Who?", "Who built the mill?", (), max_ratio=0, max_characters=500) is None
    assert fault("Who then?", "Who built it?", (), max_ratio=0, max_characters=8) == "length"
    assert fault("Who?", "Who, then?", (), max_ratio=0, max_characters=8) == "length"


def politely(step: TranslationStep, options: AugmentOptions):
    """Stand for a model: asks politely on the way there; the way back loses the mark."""
    if step.flag == "--forward":
        return lambda texts: [f"Please say {text[0].lower()}{text[1:]}" for text in texts]
    return lambda texts: [text.replace("?", " .") for text in texts]


@pytest.fixture
def options(tmp_path) -> AugmentOptions:
    """Augment half of a toy file with two models that are no models."""
    source, _ = toy_squad(tmp_path)
    for name in ("there.pt", "back.pt"):
        (tmp_path / name).write_text(name)
    models = {"forward": str(tmp_path / "there.pt"), "backward": str(tmp_path / "back.pt")}
    return AugmentOptions(str(source), str(tmp_path / "new.json"), 0.5, chunk=2, **models)


def questions_of(path) -> dict[str, squad.Question]:
    return {asked.id: asked for asked in squad.read(path).questions}


def test_paraphrases_are_new_questions_with_the_same_answers(options) -> None:
    report = augment(options, politely)
    before, after = questions_of(options.input), questions_of(options.output)
    new = {name: asked for name, asked in after.items() if name.endswith("-q")}
    assert report.chosen == report.kept == len(new) == round(len(before) / 2)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + len(new)
    for name, asked in new.items():
        old = before[name.removesuffix("-q")]
        assert asked.text == f"Please say {old.text[0].lower()}{old.text[1:]}"
        assert asked.answers == old.answers
    assert any(asked.answers for asked in new.values())
    assert any(asked.answers == () for asked in new.values())
    contexts = [
        [p.context for p in squad.read(path).paragraphs] for path in (options.input, options.output)
    ]
    assert contexts[0] == contexts[1]
    body = json.loads(open(options.output, encoding="utf-8").read())
    asked = [q for a in body["data"] for p in a["paragraphs"] for q in p["qas"]]
    assert all(q["is_impossible"] == (not q["answers"]) for q in asked)


def test_the_report_and_the_list_say_what_became_of_each(options) -> None:
    def half(step, options):
        return lambda texts: [t if t.startswith("Who") else f"{t} {step.flag}" for t in texts]

    report = augment(options, half)
    output, listed, reported = options.results
    rows = [json.loads(line) for line in listed.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == report.chosen
    assert sum(row["dropped"] is None for row in rows) == report.kept > 0
    assert sum(row["dropped"] == "unchanged" for row in rows) == report.dropped["unchanged"] > 0
    assert {row["id"] + "-q" for row in rows if row["dropped"] is None} == {
        name for name in questions_of(output) if name.endswith("-q")
    }
    body = json.loads(reported.read_text(encoding="utf-8"))
    assert body["kept"] == report.kept
    assert [step["checkpoint"] for step in body["options"]["translation"]] == [
        options.forward,
        options.backward,
    ]
    assert not options.work.exists()


def test_larger_shares_hold_smaller_ones_and_seeds_differ(options, tmp_path) -> None:
    found = {}
    for rate, seed in ((0.0, 1), (0.3, 1), (0.6, 1), (1.0, 1), (0.6, 2)):
        output = str(tmp_path / f"{rate}-{seed}.json")
        augment(replace(options, rate=rate, seed=seed, output=output), politely)
        found[rate, seed] = {name for name in questions_of(output) if name.endswith("-q")}
    assert set() == found[0.0, 1] < found[0.3, 1] < found[0.6, 1] < found[1.0, 1]
    assert len(found[1.0, 1]) == len(questions_of(options.input))
    assert found[0.6, 1] != found[0.6, 2]


def test_two_questions_of_a_paragraph_never_become_one(tmp_path) -> None:
    asked = [question("a", "Who ran?", "Ida"), question("b", "Who walked?"), question("c", "Why?")]
    source = write_squad(tmp_path / "in.json", [paragraph("Ida ran.", *asked)])
    command = "sed 's/.*/Who walked/'"
    options = AugmentOptions(str(source), str(tmp_path / "o.json"), 1.0, command=command)
    report = augment(options, politely)
    assert (report.kept, report.dropped["duplicate"], report.dropped["unchanged"]) == (0, 2, 1)
    options = replace(options, command="sed 's/.*/Who moved/'", output=str(tmp_path / "p.json"))
    report = augment(options, politely)
    assert (report.kept, report.dropped["duplicate"]) == (1, 2)


def test_files_of_version_1_and_without_gold_stay_what_they_are(tmp_path) -> None:
    body = paragraph("Ida ran.", question("a", "Who ran?", "Ida"))
    source = write_squad(tmp_path / "in.json", [body], version="1.1")
    options = AugmentOptions(str(source), str(tmp_path / "o.json"), 1.0, command="sed 's/^/So /'")
    augment(options, politely)
    assert "is_impossible" not in (tmp_path / "o.json").read_text()
    assert squad.read(tmp_path / "o.json").version == "1.1"
    body = paragraph("Ida ran.", question("a", "Who ran?", gold=False))
    write_squad(source, [body])
    augment(replace(options, overwrite=True), politely)
    assert questions_of(tmp_path / "o.json")["a-q"].answers is None


def kill_after(options: AugmentOptions, chunks: int) -> None:
    """Augment in a process that is killed in the chunk after so many."""
    left = [chunks]

    def dying(step, options):
        def translate(texts):
            if step.flag == "--backward":
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return politely(step, options)(texts)

        return translate

    process = multiprocessing.get_context("fork").Process(target=augment, args=(options, dying))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def counting(calls: list[int]):
    """Return `politely`, counting the questions that go there."""

    def load(step, options):
        def translate(texts):
            calls.append(len(texts) * (step.flag == "--forward"))
            return politely(step, options)(texts)

        return translate

    return load


@pytest.mark.parametrize("torn", [0, 3])
def test_killed_work_goes_on_and_ends_in_the_same_bytes(options, tmp_path, torn) -> None:
    whole = replace(options, rate=1.0)
    augment(whole, politely)
    wanted = [path.read_bytes() for path in whole.results]
    for path in whole.results:
        path.unlink()
    kill_after(whole, 3)
    assert whole.work.is_file()
    assert not any(path.exists() for path in whole.results)
    with open(whole.work, "r+b") as stream:  # as if the last line had been under way
        stream.truncate(whole.work.stat().st_size - torn)
    calls: list[int] = []
    report = augment(whole, counting(calls))
    assert sum(calls) == len({q.text for q in squad.read(whole.input).questions}) - (
        4 if torn else 6
    )
    assert [path.read_bytes() for path in whole.results] == wanted
    assert report.kept == report.chosen


def test_work_of_other_options_is_not_taken(options, caplog) -> None:
    for change in ({"seed": 2}, {"rate": 0.9}, {"forward": options.backward}):
        kill_after(options, 1)
        calls: list[int] = []
        other = replace(options, overwrite=True, **change)
        report = augment(other, counting(calls))
        assert sum(calls) >= report.chosen - 1  # two questions may be worded the same
        assert "beginning anew" in caplog.text


def test_damaged_work_is_refused(options) -> None:
    kill_after(options, 1)
    options.work.write_text(options.work.read_text().split("\n")[0] + '\n{"a\n')
    with pytest.raises(InputError, match=f"{options.work}:2: no chunk"):
        augment(options, counting([]))


def test_two_at_once_are_refused(options) -> None:
    with (
        open_work(options.work, "another"),
        pytest.raises(InputError, match="is in use: another augmentation writes this output"),
    ):
        augment(options, politely)


def test_translators_that_lose_lines_stop_the_work(options) -> None:
    with pytest.raises(InputError, match="2 sentences went in, 1 came back"):
        augment(options, lambda step, options: lambda texts: texts[:1])
    assert not any(path.exists() for path in options.results)


def test_ids_that_are_there_already_are_refused_before_work(options, tmp_path) -> None:
    augment(replace(options, rate=1.0), politely)
    twice = replace(options, input=options.output, output=str(tmp_path / "twice.json"), rate=1.0)
    with pytest.raises(InputError, match=r"has a question '.*-q' already.*another --suffix"):
        augment(twice, None)
    report = augment(replace(twice, suffix="-again"), politely)
    assert report.chosen == 2 * len(questions_of(options.input))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 1.5}, "--rate 1.5: must be from 0 to 1"),
        ({"rate": -0.1}, "--rate -0.1: must be from 0 to 1"),
        ({"rate": float("nan")}, "--rate nan: must be from 0 to 1"),
        ({"beam": 0}, "--beam 0: must be at least 1"),
        ({"sampling": -1}, "--sampling -1: must be at least 0"),
        ({"chunk": 0}, "--chunk 0: must be at least 1"),
        ({"max_ratio": 0.5}, "--max-ratio 0.5: 0"),
        ({"max_characters": 0}, "--max-characters 0: must be at least 1"),
        ({"suffix": ""}, "--suffix ''"),
        ({"suffix": " q"}, "--suffix ' q'"),
        ({"command": "cat"}, "what translates is either --command, or one for each way"),
        ({"backward": ""}, "what translates is either --command, or one for each way"),
        ({"forward": "", "backward": ""}, "what translates is either"),
        ({"forward_command": "cat"}, "what translates is either"),
        ({"forward": "nowhere.pt"}, "--forward: no file 'nowhere.pt'"),
        ({"input": "nowhere.json"}, "no file 'nowhere.json'"),
    ],
)
def test_bad_options_are_refused(options, change, message) -> None:
    with pytest.raises((ValueError, FileNotFoundError)) as caught:
        replace(options, **change)
    assert message in str(caught.value)


def test_outputs_that_would_destroy_something_are_refused(options, tmp_path) -> None:
    with pytest.raises(InputError, match="would replace the input"):
        replace(options, output=options.input, overwrite=True)
    (tmp_path / "link.json").symlink_to(options.input)
    with pytest.raises(InputError, match="would replace the input"):
        replace(options, output=str(tmp_path / "link.json"), overwrite=True)
    with pytest.raises(InputError, match="is a folder"):
        replace(options, output=str(tmp_path), overwrite=True)
    with pytest.raises(InputError, match=r"--output '\.': name a file"):
        replace(options, output=".", overwrite=True)
    augment(options, politely)
    with pytest.raises(InputError, match=r"is there already: name another or give --overwrite"):
        replace(options)
    augment(replace(options, overwrite=True), politely)


def test_a_way_by_model_and_a_way_by_command_mix(options) -> None:
    mixed = replace(options, backward="", backward_command="sed 's/Please say/Tell/'")
    assert [step.flag for step in mixed.steps] == ["--forward", "--backward-command"]
    augment(mixed, politely)
    new = [q for name, q in questions_of(options.output).items() if name.endswith("-q")]
    assert new
    assert all(asked.text.startswith("Tell ") for asked in new)


def test_a_model_that_is_none_of_ours_is_told_of_commands(options) -> None:
    def refuse(step, options):
        raise InputError(f"{step.checkpoint} holds no such model")

    with pytest.raises(InputError, match=r"--forward: .*no such model; .*--forward-command"):
        augment(options, refuse)
