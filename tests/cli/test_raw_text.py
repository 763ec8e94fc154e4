"""Raw text on the command line and in Python gives what the prepared test set gives."""

from __future__ import annotations

import json
import shutil
from functools import partial

import pytest
from cli.commands import generate, interactive, run

from fairseq_plugins.inference import bundle_translation
from fairseq_plugins.models.syntax_transformer import SyntaxTransformerModel

pytestmark = pytest.mark.slow

BUFFERS = [
    "--buffer-size 1",
    "--buffer-size 5 --batch-size 5",
    "--buffer-size 1000 --batch-size 7",
    "--buffer-size 1000 --max-tokens 150",
    "--buffer-size 5",
    "--buffer-size 1000",
]
WARNING = "ANOTHER ANNOTATOR"


@pytest.mark.parametrize("buffer", BUFFERS)
def test_interactive_equals_generation(folder, model, test_lines, generated, buffer):
    found = interactive(folder, model, buffer, stdin=test_lines)
    assert found.numbers("H") == list(range(37))
    assert found.lines("H") == generated.lines("H")
    assert found.lines("D") == generated.lines("D")
    assert WARNING not in found.out + found.err


def with_bad_lines(lines):
    """Ten lines among which stand empty, invisible and too long ones, and their numbers from 0."""
    return [*lines[:3], "", "\u200b \x01", *lines[3:6], "dog " * 1100, "a" * 20_001, *lines[6:10]]


BAD = {3: "0.0", 4: "0.0", 8: "-inf", 9: "-inf"}


@pytest.mark.parametrize(
    ("options", "nbest"),
    [
        ("--buffer-size 10 --batch-size 4", 1),
        ("--buffer-size 100 --nbest 2 --print-alignment --max-tokens 8", 2),
        ("--buffer-size 1", 1),
        ("--buffer-size 5 --batch-size 5 --skip-invalid-size-inputs-valid-test", 1),
    ],
)
def test_interactive_answers_every_line(folder, model, test_lines, generated, options, nbest):
    """n in, n out: what cannot be translated is answered by nothing, and shifts no other line."""
    lines = test_lines.splitlines()[:10]
    found = interactive(folder, model, options, stdin="\n".join(with_bad_lines(lines)))
    for mark in "HD":
        assert found.numbers(mark) == [i for i in range(14) for _ in range(nbest)]
        answers = found.lines(mark)[::nbest]
        assert {i for i, answer in enumerate(answers) if not answer} == set(BAD)
        assert [a for i, a in enumerate(answers) if i not in BAD] == generated.lines(mark)[:10]
    for number, score in BAD.items():
        assert f"\nH-{number}\t{score}\t\n" in found.out
    assert found.numbers("A") == (found.numbers("H") if "align" in options else [])
    if "100" in options:
        assert "lines 4, 5: nothing to translate" in found.out
        assert "lines 9, 10: longer than 1024 subwords or 20000 characters" in found.out


def test_bytes_that_are_no_text_are_replaced_and_named(
    folder, model, test_lines, generated, tmp_path
):
    lines = test_lines.splitlines()[:4]
    text = "\n".join([lines[0], "The d\udcffg\udcc3", "\rThe\rdog.\r", *lines[1:]]) + "\r\n"
    found = interactive(folder, model, "--buffer-size 3 --max-tokens 999", stdin=text)
    answers = found.lines("D")
    assert len(answers) == 6
    assert answers[:1] + answers[3:] == generated.lines("D")[:4]
    assert answers[1]
    assert "line 2: bytes that are no UTF-8 text, replaced by U+FFFD" in found.out
    (tmp_path / "in").write_bytes(text.encode(errors="surrogateescape"))
    again = interactive(folder, model, f"--buffer-size 5 --input {tmp_path / 'in'}")
    assert again.lines("D") == answers


def test_python_answers_every_line(trained, test_lines, generated, caplog):
    lines = test_lines.splitlines()[:10]
    translator = SyntaxTransformerModel.from_pretrained(str(trained), "checkpoint_best.pt")
    answers = translator.translate(with_bad_lines([*lines[:9], "\ud800"]), beam=4, max_len_b=20)
    assert {i for i, answer in enumerate(answers) if not answer} == set(BAD)
    assert [a for i, a in enumerate(answers) if i not in BAD][:9] == generated.lines("D")[:9]
    assert "line 14: bytes that are no UTF-8" in caplog.text
    cutting = SyntaxTransformerModel.from_pretrained(
        str(trained), "checkpoint_best.pt", truncate_source=True, max_source_positions=9
    )
    cut = cutting.translate(["dog " * 9000, "dog " * 8, "dog " * 7], beam=4, max_len_b=20)
    assert cut[0] == cut[1]
    assert all(cut)


def test_a_test_set_prepared_like_the_folder_is_translated_alike(
    folder, model, corpus, generated, tmp_path
):
    options = f"--like {folder} --testpref {corpus / 'test'} --destdir {tmp_path / 'new'}"
    run("prepare translation", *options.split(), "--workers", 1)
    assert generate(tmp_path / "new", model).lines("D") == generated.lines("D")
    refused = run(*("prepare translation", *options.split(), "--tokenizer", "none"), fails=True)
    assert "error: --tokenizer none contradicts --like" in refused.err


def test_python_equals_generation(trained, test_lines, generated, tmp_path, monkeypatch):
    translator = SyntaxTransformerModel.from_pretrained(str(trained), "checkpoint_best.pt")
    lines = test_lines.splitlines()
    assert translator.translate(lines, beam=4, max_len_b=20) == generated.lines("D")
    assert translator.translate(lines[3], beam=4, max_len_b=20) == generated.lines("D")[3]
    monkeypatch.setattr(bundle_translation, "WINDOW", 5)
    (tmp_path / "in").write_text(test_lines, encoding="utf-8")
    translate = partial(translator.translate, beam=4, max_len_b=20)
    bundle_translation.translate_text(translate, str(tmp_path / "in"), str(tmp_path / "out"))
    out = (tmp_path / "out").read_text(encoding="utf-8")
    assert out == "".join(f"{line}\n" for line in generated.lines("D"))


@pytest.mark.parametrize("mode", ["shuffle", "drop"])
def test_ablation_changes_the_translations_alike_on_both_paths(
    folder, model, trained, test_lines, generated, mode
):
    options = f"--ablate-features pos,subword --ablation-mode {mode}"
    found = generate(folder, model, options)
    assert found.lines("H") != generated.lines("H")
    assert len(found.lines("H")) == 37
    raw = interactive(folder, model, f"{options} --buffer-size 5", stdin=test_lines)
    assert raw.lines("H") == found.lines("H")
    how = {"ablate_features": "pos,subword", "ablation_mode": mode}
    translator = SyntaxTransformerModel.from_pretrained(str(trained), model.name, **how)
    lines, search = test_lines.splitlines(), {"beam": 4, "max_len_b": 20}
    parts = [translator.translate(lines[i : i + 9], first=i + 1, **search) for i in (0, 9, 18)]
    assert [line for part in parts for line in part] == found.lines("D")[:27]


def test_ablation_seed_decides_the_shuffle(folder, model):
    options = "--ablate-features pos,case,subword --ablation-mode shuffle --ablation-seed"
    one, again, other = (generate(folder, model, f"{options} {n}").lines("P") for n in (1, 1, 2))
    assert one == again
    assert one != other


def test_ablation_of_a_feature_the_folder_lacks_is_refused(folder, model):
    found = generate(folder, model, "--ablate-features colour", fails=True)
    assert "colour" in found.err
    assert "pos" in found.err


@pytest.fixture(scope="module")
def retagged(folder, tmp_path_factory):
    """The folder as another tagger's work."""
    copy = tmp_path_factory.mktemp("retagged") / "tiny"
    shutil.copytree(folder, copy)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["annotator"]["hash"] = "0123456789abcdef"
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return copy


def test_generation_on_text_of_another_tagger_warns(generated, retagged, model):
    found = generate(retagged, model)
    assert WARNING in found.out + found.err
    assert "0123456789abcdef" in found.out + found.err
    assert WARNING not in generated.out + generated.err


def test_raw_text_of_another_tagger_warns(retagged, model):
    """The folder names a tagger that is not the installed one, nor the model's."""
    found = interactive(retagged, model, stdin="The dog watches the play.\n")
    assert WARNING in found.out + found.err
    assert "THE TAGGER DIFFERS" in found.out + found.err
