"""Files are translated and predicted line by line, and no more of them is held than a window."""

from __future__ import annotations

import json
from random import Random
from types import SimpleNamespace

import pytest
from odd_lines import odd_texts

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.predictions import renderer
from fairseq_plugins.inference import bundle_translation, prediction_files, prediction_inputs
from fairseq_plugins.inference.bundle_translation import translate_text
from fairseq_plugins.inference.options import PredictionOptions
from fairseq_plugins.inference.prediction_inputs import Wanted, kept_examples
from fairseq_plugins.targets.classes import CLASSES, ClassPrediction
from fairseq_plugins.text_reading import read_lines


class Upper:
    """Translates lines, and remembers the number of the first of each part and their count."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, int]] = []

    def __call__(self, lines, *, first):
        self.parts.append((first, len(lines)))
        return [line.encode(errors="replace").decode().upper() for line in lines]


def test_every_line_is_translated_in_order_whatever_the_window(tmp_path, monkeypatch):
    """n in, n out: the same bytes as of one that takes all lines at once."""
    draw, source, output = Random(3), tmp_path / "in", tmp_path / "out"
    for lines in odd_texts(8, 300):
        window = draw.randint(1, 7)
        monkeypatch.setattr(bundle_translation, "WINDOW", window)
        raw = "\n".join(lines).encode() + draw.choice((b"", b"\n", b"\n\n", b"\n\xff\n"))
        source.write_bytes(raw)
        whole = raw.removesuffix(b"\n").split(b"\n")
        once = Upper()([line.decode(errors="surrogateescape") for line in whole], first=1)
        translate = Upper()
        translate_text(translate, str(source), str(output))
        assert output.read_bytes() == "".join(f"{line}\n" for line in once).encode()
        assert {first % window for first, _ in translate.parts} == {1 % window}
        assert sum(count for _, count in translate.parts) == len(whole)


def test_standard_input_is_read_no_further_than_a_window(monkeypatch, capsys):
    """Memory does not grow with the input: what was written is no longer held."""
    monkeypatch.setattr(bundle_translation, "WINDOW", 10)
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield b"a line\n"

    def translate(lines, *, first):
        assert taken == first + 9
        if first > 500:
            raise ValueError("enough")
        return lines

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=endless()))
    with pytest.raises(ValueError, match="enough"):
        translate_text(translate, "-", "")
    assert capsys.readouterr().out == "a line\n" * 500


@pytest.mark.parametrize("raw", [b"", b"a\nb\nc\n"])
def test_a_failure_on_the_way_leaves_no_file(raw, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_translation, "WINDOW", 2)
    (tmp_path / "in").write_bytes(raw)

    def translate(lines, *, first):
        if first > 1:
            raise ValueError("too much")
        return lines

    if not raw:
        translate_text(translate, str(tmp_path / "in"), str(tmp_path / "out"))
        assert (tmp_path / "out").read_bytes() == b""
        return
    with pytest.raises(ValueError, match="too much"):
        translate_text(translate, str(tmp_path / "in"), str(tmp_path / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


class Predictor:
    """Predicts a class of every text, and remembers how far its file had been read by then."""

    wanted, labels, target = Wanted(1), ["a", "b"], CLASSES

    def __init__(self, read: list[int]) -> None:
        self.read, self.ahead = read, 0

    def predict_examples(self, examples, **limits):
        begun = self.read[0]
        for number, one in enumerate(examples, start=1):
            self.ahead = max(self.ahead, self.read[0] - begun - number)
            yield ClassPrediction(one.id, "a", texts=one.texts, probabilities={"a": 0.7})


@pytest.fixture
def read(monkeypatch):
    """How many lines were read of files, in all."""
    count = [0]

    def numbered(path, *more):
        for number, line in enumerate(read_lines(path), start=1):
            count[0] += 1
            yield number, line

    for module in (prediction_files, prediction_inputs):
        monkeypatch.setattr(module, "numbered_lines", numbered)
    return count


def test_a_file_is_checked_to_its_end_and_then_read_as_it_is_predicted(read, tmp_path):
    texts = [line for lines in odd_texts(6, 300) for line in lines if "\t" not in line]
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes("\n".join(texts).encode())
    options = PredictionOptions("run", input=str(path), output=str(out))
    predictor = Predictor(read)
    job = prediction_files._job(predictor, options)
    assert (job.total, read[0]) == (len(texts), len(texts))
    prediction_files._write(job, renderer("jsonl", CLASSES), options)
    rows = [json.loads(line) for line in out.read_text().split("\n")[:-1]]
    assert [row["id"] for row in rows] == [str(i) for i in range(len(texts))]
    texts[0] = texts[0].removeprefix("\ufeff")
    assert [row["texts"][0] for row in rows] == [text.rstrip("\r") for text in texts]
    assert predictor.ahead <= 1
    assert read[0] == 2 * len(texts)


def test_a_bad_last_line_is_refused_before_the_first_prediction(read, tmp_path):
    path = tmp_path / "in"
    path.write_text("a\n" * 50 + "\n")
    predictor = Predictor(read)
    with pytest.raises(InputError, match=r"in:51: empty line"):
        prediction_files._job(predictor, PredictionOptions("run", input=str(path)))


def test_of_predictions_that_are_needed_later_texts_are_not_kept(read):
    options = PredictionOptions("run", input="-", metrics="m.json")
    made = ClassPrediction("7", "a", "b", ("a long text",), {"a": 0.7, "b": 0.3})
    (kept,) = prediction_files._write(
        prediction_files.Job(iter([made]), 1), renderer("jsonl", CLASSES), options
    )
    assert (kept.id, kept.answer, kept.gold) == ("7", "a", "b")
    assert not kept.texts
    assert kept.probabilities == {"a": 0.7}  # for the calibration


def test_what_a_folder_keeps_is_read_as_it_is_taken(read, tmp_path):
    path = tmp_path / "valid.examples.jsonl"
    rows = [json.dumps({"id": str(i), "texts": ["x"], "words": ["x"]}) for i in range(300)]
    path.write_text("\n".join(rows))
    for number, one in enumerate(kept_examples(path, 300, [1] * 300), start=1):
        assert one.id == str(number - 1)
        assert read[0] == number
