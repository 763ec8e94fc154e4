"""What a prepared folder of SQuAD holds; its bytes depend on input and options alone."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from raw_corpora import contents
from raw_text import RuleParser, examples_of, rows_of, write_pretrained
from squad_files import paragraph, question, toy_squad, write_squad
from stops import stopped_at

from fairseq_plugins.corpora.squad import read
from fairseq_plugins.data.manifest import FILE_NAME, Manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import engine, workspace
from fairseq_plugins.prep.recipes import question_chunks, questions
from fairseq_plugins.prep.recipes.question_chunks import encode_paragraphs
from fairseq_plugins.prep.recipes.question_options import QuestionOptions
from fairseq_plugins.prep.recipes.questions import prepare
from fairseq_plugins.prep.workspace import WORK
from fairseq_plugins.pretrained.vocabulary import Vocabulary

CONTEXT = "The small dog rose; the dog can not rose"


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch) -> None:
    """Put the rule where preparations load spaCy, and cut files into chunks of two paragraphs."""

    def load(annotations, model="", tokenize=""):
        return RuleParser() if annotations or tokenize == "spacy" else None

    monkeypatch.setattr(questions, "load_annotator", load)
    monkeypatch.setattr(questions, "CHUNK_PARAGRAPHS", 2)


@pytest.fixture
def raw(tmp_path):
    """A raw folder of toy facts with a pretrained directory beside it."""
    write_pretrained(tmp_path / "bert")
    toy_squad(tmp_path / "raw", paragraphs=7, dev=3)
    return tmp_path


def options_for(raw, destdir: str = "out", **values) -> QuestionOptions:
    fixed = {"pretrained": str(raw / "bert"), "workers": 1, "raw_dir": str(raw / "raw")}
    values = {key: str(v) if hasattr(v, "name") else v for key, v in values.items()}
    return QuestionOptions(**{**fixed, "destdir": str(raw / destdir), **values})


def one_file(raw, *paragraphs, **values) -> Manifest:
    """Prepare paragraphs as training and validation."""
    path = write_squad(raw / "one.json", paragraphs)
    files = {"raw_dir": "", "train_file": path, "valid_file": path}
    return prepare(options_for(raw, overwrite=True, **{**files, **values}))


def lines_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_folder_holds_what_the_files_say(raw) -> None:
    manifest, folder = prepare(options_for(raw)), raw / "out"
    assert {p.name for p in folder.iterdir()} == {
        FILE_NAME,
        *(p.name for p in manifest.files(folder)),
    }
    assert (manifest.task, manifest.target, manifest.labels) == ("extractive_qa", "spans", [])
    assert manifest.windows == {"max_positions": 384, "doc_stride": 128, "max_query_length": 64}
    assert list(manifest.splits) == ["train", "valid"]
    for split, name in (("train", "train"), ("valid", "dev")):
        paragraphs = read(raw / "raw" / f"{name}-v2.0.json").paragraphs
        check_split(folder, manifest, split, paragraphs)


def check_split(folder, manifest, split, paragraphs) -> None:
    """Assert that a split holds its file's paragraphs once, and every question with its answers."""
    streams = {
        name: rows_of(folder, split, name) for name in (*manifest.streams(), "paragraph", "answers")
    }
    contexts, examples = lines_of(folder / f"{split}.contexts.jsonl"), examples_of(folder, split)
    assert contexts == [{"title": p.title, "context": p.context} for p in paragraphs]
    asked = [(k, q) for k, p in enumerate(paragraphs) for q in p.questions]
    assert [example["id"] for example in examples] == [q.id for _, q in asked]
    assert [example["texts"] for example in examples] == [[q.text] for _, q in asked]
    assert streams["paragraph"] == [[k] for k, _ in asked]
    for stream, rows in streams.items():
        assert len(rows) == len(contexts if stream.endswith("1") else examples), stream
    for (k, q), example, (state, *places) in zip(asked, examples, streams["answers"]):
        assert example["answers"] == [answer.as_json() for answer in q.answers]
        assert state == (2 if q.answers else 1)
        offsets = streams["offsets1"][k]
        spans = zip(places[::2], places[1::2])
        texts = [contexts[k]["context"][offsets[2 * b] : offsets[2 * e + 1]] for b, e in spans]
        assert texts == [answer.text for answer in q.answers]
    for offsets, tokens in zip(streams["offsets1"], streams["tokens1"]):
        assert len(offsets) == 2 * len(tokens)
    counts = manifest.splits[split]
    lengths = [
        len(tokens) + len(streams["tokens1"][k]) + 3
        for tokens, [k] in zip(streams["tokens0"], streams["paragraph"])
    ]
    assert counts == {
        "examples": len(asked),
        "labelled": len(asked),
        "tokens": sum(len(row) for k in (0, 1) for row in streams[f"tokens{k}"]),
        "words": sum(len(row) for k in (0, 1) for row in streams[f"case{k}"]),
        "longest": max(lengths),
        "paragraphs": len(contexts),
        "answerable": sum(bool(q.answers) for _, q in asked),
        "unknown": {
            name: {"count": 0, "of": sum(map(len, streams[name])), "commonest": {}}
            for name in ("tokens0", "tokens1")
        },
    }


def test_prepared_rows_are_those_of_raw_text(raw) -> None:
    manifest, folder = prepare(options_for(raw)), raw / "out"
    recipe = questions.QuestionRecipe(options_for(raw))
    recipe.load_tools(RuleParser())
    paragraphs = read(raw / "raw" / "train-v2.0.json").paragraphs
    found = encode_paragraphs(recipe.encoder, paragraphs)
    assert manifest.annotations == ["pos", "heads"]
    for name, k, sentences in (
        ("tokens", 0, [q for one in found for q in one.questions]),
        ("tokens", 1, [one.context for one in found]),
    ):
        assert rows_of(folder, "train", f"{name}{k}") == [s.tokens for s in sentences]
        assert rows_of(folder, "train", f"heads{k}") == [s.layers["heads"] for s in sentences]
        assert rows_of(folder, "train", f"pos{k}") == [s.layers["pos"] for s in sentences]
    offsets = [one.offsets.ravel().tolist() for one in found]
    assert rows_of(folder, "train", "offsets1") == offsets
    assert Vocabulary.load(folder / "vocab.txt").indices == encoder_vocabulary(raw).indices


def encoder_vocabulary(raw) -> Vocabulary:
    return Vocabulary.load(raw / "bert" / "vocab.txt")


ODD = (
    question("moved", "Who?", ("dog", 11)),
    question("gone", "Who?", ("cat", 4)),
    question("partly", "Who?", ("cat", 4), "dog"),
    question("inside", "Who?", ("mall dog", 5)),
)


def test_unknown_words_are_counted_on_both_sides(raw, caplog) -> None:
    context = f"{CONTEXT} \u2602 \u2602 \u2603"
    manifest = one_file(raw, paragraph(context, question("a", "Who \u2603?", "dog")))
    found = manifest.splits["train"]["unknown"]
    assert found["tokens0"]["commonest"] == {"\u2603": 1}
    assert found["tokens1"]["commonest"] == {"\u2602": 2, "\u2603": 1}
    assert "replaced by [UNK]; most often '\u2602' 2, '\u2603' 1" in caplog.text


def test_overlong_words_are_counted_and_keep_their_characters(raw) -> None:
    context = f"{CONTEXT} {'?!' * 251} Otto"
    manifest = one_file(raw, paragraph(context, question("a", "b" * 501, "Otto")))
    assert manifest.alignment["train"]["overlong_words"] == 2
    assert lines_of(raw / "out" / "train.contexts.jsonl")[0]["context"] == context
    (offsets,) = rows_of(raw / "out", "train", "offsets1")
    assert (offsets[-2], offsets[-1]) == (len(context) - 1, len(context))


def test_answers_out_of_place_are_repaired_counted_and_listed(raw) -> None:
    manifest = one_file(raw, paragraph(CONTEXT, *ODD))
    folder, counts = raw / "out", manifest.alignment["valid"]
    assert [e["id"] for e in examples_of(folder, "train")] == ["moved", "partly", "inside"]
    assert [e["id"] for e in examples_of(folder, "valid")] == [q["id"] for q in ODD]
    assert examples_of(folder, "train")[0]["answers"] == [{"text": "dog", "answer_start": 10}]
    assert rows_of(folder, "valid", "answers")[1] == [2]
    assert [row[0] for row in rows_of(folder, "valid", "answers")] == [2] * 4
    rows = lines_of(folder / "misaligned.jsonl")
    assert [(r["split"], r["id"], r["reason"]) for r in rows] == [
        (split, name, reason)
        for split in ("train", "valid")
        for name, reason in (
            ("moved", "moved"),
            ("gone", "not_found"),
            ("partly", "not_found"),
            ("inside", "inside_wordpiece"),
        )
    ]
    assert rows[0]["text"] == "dog"
    assert (rows[0]["answer_start"], rows[0]["moved_to"], rows[3]["covered"]) == (
        11,
        10,
        "small dog",
    )
    for name, count in (
        ("moved_answers", 1),
        ("skipped_answers", 2),
        ("widened_answers", 1),
        ("unplaced_questions", 1),
        ("left_out_questions", 0),
    ):
        assert counts[name] == count, name
    assert manifest.alignment["train"]["left_out_questions"] == 1
    assert manifest.splits["train"]["examples"] + 1 == manifest.splits["valid"]["examples"] == 4


def test_answers_out_of_place_are_passed_over_or_refused(raw) -> None:
    manifest = one_file(raw, paragraph(CONTEXT, *ODD), on_misalignment="skip")
    assert manifest.alignment["valid"]["skipped_answers"] == 3
    assert manifest.alignment["valid"]["moved_answers"] == 0
    assert [e["id"] for e in examples_of(raw / "out", "train")] == ["partly", "inside"]
    with pytest.raises(
        ValueError,
        match=r"one.json: data\[0\].paragraphs\[0\].qas\[0\] \(id 'moved'\): answers\[0\] is "
        r"'dog', but at answer_start 11 the context says 'og '; --on-misalignment repair",
    ):
        one_file(raw, paragraph(CONTEXT, *ODD), on_misalignment="error", destdir=raw / "bad")
    assert not (raw / "bad").exists()


def test_training_without_a_placed_answer_is_refused(raw) -> None:
    with pytest.raises(InputError, match="no question of split 'train' is left"):
        one_file(raw, paragraph(CONTEXT, ODD[1]))
    assert not (raw / "out" / FILE_NAME).exists()


def test_more_wordpieces_than_the_encoder_embeds_are_refused_before_work(raw) -> None:
    (raw / "bert" / "config.json").write_text('{"model_type": "bert", "vocab_size": 9}')
    with pytest.raises(InputError, match=r"bert/config\.json: vocab_size is 9, but the vocabulary"):
        prepare(options_for(raw))
    assert not (raw / "out").exists()


def test_long_questions_are_counted_or_refused(raw) -> None:
    odd = paragraph(CONTEXT, question("long", "the dog the dog the?", "dog"), ODD[0])
    manifest = one_file(raw, odd, max_query_length=5)
    assert manifest.alignment["train"]["cut_questions"] == 1
    assert len(rows_of(raw / "out", "train", "tokens0")[0]) == 6  # the task cuts it
    with pytest.raises(InputError, match=r"\(id 'long'\) has 6 wordpieces, and --max-query-len"):
        one_file(raw, odd, max_query_length=5, long_questions="error")
    one_file(raw, odd, max_query_length=6, long_questions="error")


def test_answers_in_no_window_are_counted_and_listed(raw) -> None:
    odd = paragraph(CONTEXT, question("wide", "Who?", CONTEXT[:31]), question("near", "?", "dog"))
    limits = {"max_positions": 12, "doc_stride": 2, "max_query_length": 2}
    manifest = one_file(raw, odd, **limits)
    assert manifest.alignment["train"]["answers_in_no_window"] == 1
    assert manifest.windows == limits
    [row, again] = lines_of(raw / "out" / "misaligned.jsonl")
    assert (row["id"], row["reason"], again["split"]) == ("wide", "no_window", "valid")
    assert len(examples_of(raw / "out", "train")) == 2  # another limit of the task may hold it


def test_files_without_answers_can_be_tested_on(raw) -> None:
    path = write_squad(
        raw / "t.json", [paragraph(CONTEXT, question("q", "Who?", gold=False))], None
    )
    manifest = prepare(options_for(raw, test_file=path))
    assert manifest.splits["test"]["labelled"] == manifest.splits["test"]["answerable"] == 0
    assert rows_of(raw / "out", "test", "answers") == [[0]]
    assert examples_of(raw / "out", "test") == [{"id": "q", "texts": ["Who?"]}]


def test_texts_that_bert_cannot_see_are_refused_before_work(raw) -> None:
    with pytest.raises(InputError, match=r"qas\[0\] \(id 'q'\): 'question' '.*' has no character"):
        one_file(raw, paragraph(CONTEXT, question("q", "\x01", "dog")), destdir=raw / "bad")
    assert not (raw / "bad").exists()


@pytest.mark.parametrize("annotations", ["none", "pos", "pos,heads"])
@pytest.mark.parametrize("tokenize", ["", "whitespace", "characters"])
def test_words_are_as_asked(annotations, tokenize, raw) -> None:
    manifest = one_file(
        raw,
        paragraph("The cannot \u6771\u4eac dog.", question("q", "the dog?", "dog")),
        annotations=annotations,
        tokenize=tokenize,
    )
    spacy = annotations != "none" and not tokenize
    assert manifest.tokenize == (tokenize or ("spacy" if spacy else "whitespace"))
    assert rows_of(raw / "out", "train", "answers") == [[2, 4, 4]]
    words = {"": 4, "whitespace": 4, "characters": 5}[tokenize]
    assert len(rows_of(raw / "out", "train", "case1")[0]) == words + spacy * 2 - spacy
    assert ("pos0" in manifest.streams()) == (annotations != "none")


def test_official_names_are_found(raw) -> None:
    (raw / "raw" / "dev-v2.0.json").rename(raw / "raw" / "dev.json")
    assert [*prepare(options_for(raw)).splits] == ["train", "valid"]
    write_squad(raw / "raw" / "train-v1.1.json", [paragraph(CONTEXT, question("q", "?", "dog"))])
    with pytest.raises(
        ValueError, match=r"has train-v2.0.json and train-v1.1.json: .*--train-file"
    ):
        prepare(options_for(raw, "both"))
    own = raw / "raw" / "train-v1.1.json"
    assert prepare(options_for(raw, "own", train_file=own)).splits["train"]["examples"] == 1
    (raw / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"holds no SQuAD file \(train: train-v2.0.json or"):
        prepare(options_for(raw, "none", raw_dir=raw / "empty"))


@pytest.mark.skipif("SQUAD_DIR" not in os.environ, reason="SQUAD_DIR names no official files")
def test_official_answers_round_trip_or_are_listed(tmp_path) -> None:
    raw, folder = os.environ["SQUAD_DIR"], tmp_path / "out"
    manifest = prepare(QuestionOptions(str(folder), raw, annotations="none"))
    listed = {(row["split"], row["id"]) for row in lines_of(folder / "misaligned.jsonl")}
    for split in manifest.splits:
        contexts = [row["context"] for row in lines_of(folder / f"{split}.contexts.jsonl")]
        offsets, places = (rows_of(folder, split, name) for name in ("offsets1", "paragraph"))
        answers, missed = rows_of(folder, split, "answers"), set()
        for example, [k], (_, *row) in zip(examples_of(folder, split), places, answers):
            spans = zip(row[::2], row[1::2])
            texts = [contexts[k][offsets[k][2 * b] : offsets[k][2 * e + 1]] for b, e in spans]
            if texts != [answer["text"] for answer in example["answers"]]:
                missed.add((split, example["id"]))
        assert missed == {(name, id) for name, id in listed if name == split}


@pytest.fixture
def straight(raw) -> dict[str, bytes]:
    """What an undisturbed preparation writes."""
    prepare(options_for(raw, "straight"))
    return contents(raw / "straight")


def test_workers_and_chunks_change_no_byte(raw, straight, monkeypatch) -> None:
    prepare(options_for(raw, "two", workers=2))
    assert contents(raw / "two") == straight
    monkeypatch.setattr(questions, "CHUNK_PARAGRAPHS", 100)
    prepare(options_for(raw, "whole"))
    assert contents(raw / "whole") == straight


STEPS = ["plan", "carry", "SplitWriter.close", "Manifest.save", "close_work"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_stopped_at_any_step_nothing_looks_finished(
    step, after, raw, straight, monkeypatch
) -> None:
    place = workspace if step == "close_work" else engine
    with stopped_at(monkeypatch, place, step, after=after):
        prepare(options_for(raw))
    done = STEPS.index(step) + after > STEPS.index("Manifest.save")
    assert (raw / "out" / FILE_NAME).is_file() == done
    prepare(options_for(raw))
    assert contents(raw / "out") == straight


def test_killed_and_rerun_goes_on_with_the_same_bytes(raw, straight, monkeypatch) -> None:
    def slow(*args):
        time.sleep(0.05)
        return encode_paragraphs(*args)

    with monkeypatch.context() as patch:
        patch.setattr(question_chunks, "encode_paragraphs", slow)
        child = os.fork()
        if child == 0:
            os.setsid()
            prepare(options_for(raw, workers=2))
            os._exit(0)
        end = time.monotonic() + 30
        while not list((raw / "out").glob(f"{WORK}/*.safetensors")):
            assert time.monotonic() < end
            time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert not (raw / "out" / FILE_NAME).is_file()
    (raw / "out" / "train.offsets1.bin.tmp77").write_bytes(b"half")
    seen = []
    monkeypatch.setattr(
        question_chunks,
        "encode_paragraphs",
        lambda *args: seen.append(args) or encode_paragraphs(*args),
    )
    prepare(options_for(raw))
    assert len(seen) < 6  # four chunks of training, two of validation
    assert contents(raw / "out") == straight


def test_unchanged_rerun_does_nothing_and_changes_need_overwrite(
    raw, straight, monkeypatch
) -> None:
    with pytest.raises(InputError, match=r"options.doc_stride 128 -> 64.*--overwrite"):
        prepare(options_for(raw, "straight", doc_stride=64))
    monkeypatch.setattr(questions, "scan", None)
    prepare(options_for(raw, "straight", workers=2))  # their number is no content
    assert contents(raw / "straight") == straight
