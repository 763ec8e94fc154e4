"""Folders of every family, from raw files to answers: prepared, trained on, resumed, predicted."""

from __future__ import annotations

import json

import pytest
import torch
from family_directories import FORMS, family_of
from prepared_text import train
from raw_datasets import write_raw
from raw_text import RuleParser, text_options
from squad_files import toy_squad

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest, load_vocabulary
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference import (
    coattention,
    encoder_attention,
    question_answering,
)
from fairseq_plugins.inference.difference_study import word_strengths
from fairseq_plugins.inference.options import DIFFERENCE, DIRECTIONS
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.inference.prediction_inputs import kept_examples
from fairseq_plugins.prep.folder_check import check_folder
from fairseq_plugins.prep.recipes import text
from fairseq_plugins.prep.recipes.question_options import QuestionOptions
from fairseq_plugins.prep.recipes.questions import prepare as prepare_questions
from fairseq_plugins.text import text_encoder

FLAGS = "--max-update 4 --save-interval-updates 2 --batch-size 3 --no-epoch-checkpoints".split()
OTHERS = ["roberta of fairseq", "xlm-roberta of fairseq", "albert", "modernbert"]
CASES = [("roberta", "mrpc"), pytest.param("albert", "conll2003", marks=pytest.mark.slow)]
FURTHER = [*((form, "mrpc") for form in OTHERS), ("xlm-roberta", "cola")]
FURTHER += [("deberta-v2", "cola"), ("roberta", "conll2003")]
CASES += [pytest.param(*case, marks=pytest.mark.long) for case in FURTHER]
MARKS = {form: pytest.mark.slow if "xlm" in form else pytest.mark.long for form in OTHERS}
QUESTIONS = ["roberta", *(pytest.param(form, marks=mark) for form, mark in MARKS.items())]


@pytest.fixture(autouse=True)
def _rule(monkeypatch) -> None:
    """Put a rule where spaCy is loaded, to prepare and to predict."""
    monkeypatch.setattr(text, "load_annotator", lambda *_: RuleParser())
    monkeypatch.setattr(text_encoder, "reopen_annotator", lambda *_: RuleParser())


def run_of(root, form, dataset, **options):
    """Prepare a dataset, and train a small encoder of BERT's kind on it, interrupted once."""
    pretrained = FORMS[form](root / "model")
    write_raw(dataset, root, count=8)
    destdir = root / "data"
    given = {"dataset": dataset, "pretrained": pretrained, "overwrite": True, **options}
    text.prepare(text_options(root, "data", **given))
    flags = [*FLAGS, "--features", "pos,case,subword"]
    flags += ["--dual-layers", "all"] * (dataset == "mrpc")
    flags += ["--semantic-layers", "pos,subword"] * (dataset != "mrpc")
    train(destdir, root / "straight", *flags)
    train(destdir, root / "resumed", *flags, "--max-update", "2")
    train(destdir, root / "resumed", *flags)
    return destdir


def models(root):
    paths = (root / name / "checkpoint_last.pt" for name in ("straight", "resumed"))
    return [torch.load(path, weights_only=False)["model"] for path in paths]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "dataset"), CASES)
def test_a_folder_of_any_family_serves_from_raw_files_to_answers(tmp_path, form, dataset) -> None:
    folder = run_of(tmp_path, form, dataset)
    manifest = read_manifest(folder, TextManifest)
    assert manifest.family.name == manifest.tokenizer["family"] == family_of(form)
    assert (folder / manifest.family.vocabulary_file).is_file()
    assert "sound" in check_folder(folder)
    straight, resumed = models(tmp_path)
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)
    predictor = load(tmp_path / "straight", checkpoint="checkpoint_last.pt", cpu=True)
    split = list(predictor.predict_split("valid"))
    kept = [*kept_examples(folder / "valid.examples.jsonl", len(split))]
    rows = [json.loads(line) for line in (folder / "valid.examples.jsonl").open(encoding="utf-8")]
    raw = predictor.predict([tuple(row.get("words", ())) or row["texts"] for row in rows])
    assert [one.id for one in kept] == [one.id for one in split]
    assert [one.probabilities for one in raw] == [one.probabilities for one in split]
    counts = manifest.splits["valid"]
    dataset = predictor.load_split("valid")
    assert counts["longest"] == dataset.sizes.max()
    assert counts["unknown"]["tokens0"]["of"] > 0
    item, own = dataset[0], manifest.family.specials
    pieces = [predictor.inputs.vocabulary.pieces[i] for i in item["tokens"]]
    count = manifest.family.row.specials(manifest.sentences) - 1
    assert (pieces[0], pieces.count(own.sep)) == (own.cls, count)
    if manifest.target == "classes":  # attention without the special tokens
        found = encoder_attention.attend(predictor, rows[0]["texts"])
        assert found.tokens == [piece for piece in pieces if piece not in (own.cls, own.sep)]
    if manifest.sentences == 2:
        found = encoder_attention.attend(predictor, rows[0]["texts"], kind=DIFFERENCE)
        for words, strengths in word_strengths(found):
            assert len(words) == len(strengths)
            assert 0 < sum(strengths) < 1


@pytest.mark.slow
@pytest.mark.parametrize("form", QUESTIONS)
def test_questions_of_any_family_are_answered(tmp_path, form) -> None:
    pretrained = FORMS[form](tmp_path / "model")
    toy_squad(tmp_path / "raw", paragraphs=3, dev=2)
    windows = {"max_positions": 90, "doc_stride": 24, "max_query_length": 40}
    options = {"raw_dir": str(tmp_path / "raw"), "pretrained": str(pretrained), **windows}
    destdir = tmp_path / "data"
    prepare_questions(QuestionOptions(str(destdir), annotations="none", workers=1, **options))
    assert "sound" in check_folder(destdir)
    train(destdir, tmp_path / "run", *FLAGS, "--coattention-blocks", "1", "--dual-layers", "all")
    reader = question_answering.load(tmp_path / "run", checkpoint="checkpoint_last.pt", cpu=True)
    dataset = reader.predictor.load_split("valid")
    for number in range(len(dataset)):
        passage, item = dataset.passage(number), dataset[number]
        if not passage.answers:
            continue
        held = [row for row in item["target"].tolist() if row[0] > 0]
        assert held
        offsets = passage.offsets
        for row, (first, last) in enumerate(item["target"].tolist()):
            if first > 0:
                begin, end = (place - int(passage.shifts[row, 0]) for place in (first, last))
                answer = passage.context[offsets[begin, 0] : offsets[end, 1]]
                assert passage.answers[0] in answer
    replies = list(reader.answer_split("valid"))
    assert len(replies) == len(dataset)
    for direction in DIRECTIONS:
        found = coattention.attend(reader, dataset, 0, direction=direction)
        own = read_manifest(destdir, TextManifest).family.specials
        assert (found.question[0], found.question[-1]) == (own.cls, own.sep)
        assert (found.attended[-1], found.weights.shape) == (
            own.sep,
            (len(found.question), len(found.context)),
        )
        if found.span is not None:
            first, last = found.span
            tokens = found.context[first : last + 1]
            assert tokens
            assert own.sep not in tokens


def test_a_folder_of_another_family_is_refused(tmp_path) -> None:
    pretrained = FORMS["roberta"](tmp_path / "model")
    write_raw("cola", tmp_path, count=4)
    text.prepare(text_options(tmp_path, "data", dataset="cola", pretrained=pretrained))
    manifest = read_manifest(tmp_path / "data", TextManifest)
    vocabulary = load_vocabulary(tmp_path / "data", manifest)
    assert vocabulary.family.name == "roberta"
    body = json.loads((tmp_path / "data" / "manifest.json").read_text())
    for family, message in (("gpt2", "of the family 'gpt2'; choices: bert, roberta"), (3, "3")):
        body["tokenizer"]["family"] = family
        (tmp_path / "data" / "manifest.json").write_text(json.dumps(body))
        with pytest.raises(InputError, match=message):
            read_manifest(tmp_path / "data", TextManifest)
