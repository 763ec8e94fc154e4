"""What the file of an experiment may not say: nothing in it runs, however fairseq reads it."""

from __future__ import annotations

import runpy
import string
import sys

import pytest
from fairseq import options
from hypothesis import example, given
from hypothesis import strategies as st

from fairseq_plugins.experiments.after_steps import ALLOWED
from fairseq_plugins.experiments.file_safety import GENERATION, refuse_code, refuse_generation
from fairseq_plugins.experiments.run import SCRIPTS

PLAIN = [
    "(0.9, 0.98)",
    "[-1, 1e-5]",
    "[(512, 3)] * 4 + [(1024, 5)]",
    '{"beam": 4, "lenpen": 0.6, "sampling": true}',
    "{'encoder_layers': 3}",
    "0.1",
    "polynomial_decay",
    "/data/a b/model.pt",
    "it's one word",
    "'a' \"b\"",
]
ACTING = [
    "print(1)",
    "(print)(1)",
    "[0 for os.path.exists in [os.system]]",
    "help['x']",
    "(lambda: 1)()",
    "(x := 1)",
    "f'{x!r}'",
    "(a.b, 1)",
    "f\\\n(1)",
    "(f #,\n(1))",
    "1),print(",
    "['pri' + 'nt(1)']",
    "'print(1)'",
    "'print\\x281\\x29'",
    '"[f(1)]"',
    "{'encoder_layers': 'print(1)'}",
    "b'print\\x281\\x29'",
    "${common.wandb_project}",
    '"${x}"',
]


@pytest.mark.parametrize("text", PLAIN)
def test_literals_and_words_are_values(text) -> None:
    refuse_code({"x": text})
    refuse_code({"x": [1, text, None]})


@pytest.mark.parametrize("text", ACTING)
def test_what_would_act_when_evaluated_is_refused(text) -> None:
    for value in (text, [1, text]):
        with pytest.raises(ValueError, match="(?s)option 'x': .* would be evaluated"):
            refuse_code({"x": value})


@pytest.mark.parametrize("name", ["user-dir", "user_dir", "post-save-script", "log-file"])
def test_options_that_bring_code_or_write_are_refused(name) -> None:
    with pytest.raises(ValueError, match=f"option '{name}': not in a file"):
        refuse_code({name: "x"})


def test_generation_takes_what_says_how_to_search() -> None:
    refuse_generation({"beam": 4, "lenpen": 0.6, "max-tokens": 4000, "sampling": True})
    with pytest.raises(ValueError, match="option 'path': not in a file; choices are beam, "):
        refuse_generation({"beam": 4, "path": "x.pt"})
    with pytest.raises(ValueError, match="option 'model-overrides': not in a file"):
        refuse_generation({"model-overrides": "{}"})
    with pytest.raises(ValueError, match="would be evaluated"):
        refuse_generation({"beam": "f(1)"})


def test_all_options_of_generation_are_fairseqs() -> None:
    known = options.get_generation_parser()._option_string_actions
    assert [name for name in GENERATION if f"--{name}" not in known] == []


@pytest.mark.parametrize("script", sorted(ALLOWED))
def test_what_scripts_write_is_known(script, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(SCRIPTS / script), run_name="__main__")
    lines = capsys.readouterr().out.replace("\n                        ", " ").splitlines()
    found = [line.split() for line in lines if line.startswith("  --")]
    told = ("write", "draw", "written", "folder STEM", "file name without suffix", "files go")
    telling = {
        words[0].rstrip(",") for words in found if any(one in " ".join(words) for one in told)
    }
    assert set(ALLOWED[script]) == telling - {"--fields", "--no-arcs"}


@given(st.text(st.sampled_from("act()[]{},.: '\"=+\\\n#" + string.digits), max_size=12))
@example("act()")
@example("{act(): 1}")
@example("[act][0]")
@example("'act()'")
@example("'act' + '()'")
def test_no_value_calls_anything(text) -> None:
    called = []
    names = {"act": lambda *_: called.append(1), "__builtins__": {}}
    try:
        refuse_code({"x": text})
    except ValueError:
        return
    for _ in range(2):  # fairseq evaluates some values twice
        try:
            text = eval(text, names)  # noqa: S307
        except Exception:
            break
        if not isinstance(text, str | bytes):
            break
    assert called == []
