"""Raw text on the command line and in Python gives what the prepared test set gives."""

from __future__ import annotations

import json
import shutil

import pytest
from cli.commands import generate, interactive

from fairseq_plugins.models.syntax_transformer import SyntaxTransformerModel

BUFFERS = [
    "--buffer-size 1",
    "--buffer-size 5 --batch-size 5",
    "--buffer-size 1000 --batch-size 7",
    "--buffer-size 1000 --max-tokens 150",
    pytest.param("--buffer-size 5", marks=pytest.mark.slow),
    pytest.param("--buffer-size 1000", marks=pytest.mark.slow),
]
WARNING = "ANOTHER ANNOTATOR"


@pytest.mark.parametrize("buffer", BUFFERS)
def test_interactive_equals_generation(folder, model, test_lines, generated, buffer):
    found = interactive(folder, model, buffer, stdin=test_lines)
    assert found.numbers("H") == list(range(37))
    assert found.lines("H") == generated.lines("H")
    assert found.lines("D") == generated.lines("D")
    assert WARNING not in found.out + found.err


def test_interactive_answers_an_empty_line(folder, model, test_lines, generated):
    """An empty line must not shift the features of its neighbours."""
    lines = test_lines.splitlines()
    text = "\n".join([*lines[:5], "", *lines[5:]]) + "\n"
    found = interactive(folder, model, "--buffer-size 10 --batch-size 4", stdin=text)
    assert found.numbers("H") == list(range(38))
    answers = found.lines("H")
    assert answers[:5] + answers[6:] == generated.lines("H")


def test_python_equals_generation(trained, test_lines, generated):
    translator = SyntaxTransformerModel.from_pretrained(str(trained), "checkpoint_best.pt")
    lines = test_lines.splitlines()
    assert translator.translate(lines, beam=4, max_len_b=20) == generated.lines("D")
    assert translator.translate(lines[3], beam=4, max_len_b=20) == generated.lines("D")[3]


@pytest.mark.parametrize("mode", ["shuffle", pytest.param("drop", marks=pytest.mark.slow)])
def test_ablation_changes_the_translations_alike_on_both_paths(
    folder, model, test_lines, generated, mode
):
    options = f"--ablate-features pos,subword --ablation-mode {mode}"
    found = generate(folder, model, options)
    assert found.lines("H") != generated.lines("H")
    assert len(found.lines("H")) == 37
    raw = interactive(folder, model, f"{options} --buffer-size 5", stdin=test_lines)
    assert raw.lines("H") == found.lines("H")


@pytest.mark.slow
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
