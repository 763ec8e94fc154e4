"""Options as fields: flags, defaults, checks."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.option_flags import add_flags, check, option


@dataclass
class Options:
    destdir: str = option("folder")
    source: str | None = option("language", short="-s", required=False)
    workers: int = option("100 % of them", 2, least=1)
    ratio: float = option("of lengths", 0.5)
    kind: str = option("kind", "a", choices=("a", "b"))
    quick: bool = option("quick", False)
    names: str = option("names", "")
    inner: str = "no option"

    def __post_init__(self) -> None:
        check(self)


def _parsed(*words: str) -> Options:
    parser = argparse.ArgumentParser()
    add_flags(parser, Options)
    parser.format_help()
    return Options(**vars(parser.parse_args(words)))


def test_flags_give_the_record_with_its_types_and_defaults():
    assert _parsed("--destdir", "d") == Options("d", None)
    words = ["--destdir", "d", "-s", "en", "--workers", "3", "--ratio", "2", "--quick"]
    assert _parsed(*words, "--kind", "b") == Options("d", "en", 3, 2.0, "b", True)


def test_flags_left_out_and_fields_that_are_no_options_have_no_flag():
    parser = argparse.ArgumentParser()
    add_flags(parser, Options, leave_out=("workers",))
    text = parser.format_help()
    assert "--workers" not in text
    assert "--inner" not in text
    assert "kind: a | b (default: a)" in text
    assert "names (default" not in text


def test_an_option_without_default_is_asked_for(capsys):
    with pytest.raises(SystemExit):
        _parsed()
    assert "--destdir" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "c"), r"--kind 'c': choices are a, b"),
        (("--workers", "0"), "--workers 0: must be at least 1"),
    ],
)
def test_values_outside_choices_and_limits_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        _parsed("--destdir", "d", *words)


def test_an_option_that_is_not_given_is_none_and_has_its_type_otherwise(capsys):
    @dataclass
    class Some:
        most: int | None = option("most", None, least=1)
        kind: str | None = option("kind", None, choices=("a", "b"))

        def __post_init__(self) -> None:
            check(self)

    parser = argparse.ArgumentParser()
    add_flags(parser, Some, strict=True)
    assert Some(**vars(parser.parse_args([]))) == Some(None, None)
    assert Some(**vars(parser.parse_args(["--most", "3", "--kind", "a"]))) == Some(3, "a")
    with pytest.raises(SystemExit):
        parser.parse_args(["--kind", "c"])
    assert "invalid choice: 'c'" in capsys.readouterr().err
    with pytest.raises(InputError, match="--most 0: must be at least 1"):
        Some(0)
