"""Lists and values in messages: whole when short, and never longer than one reads."""

from __future__ import annotations

import logging
import random
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.cli import command
from fairseq_plugins.errors import InputError
from fairseq_plugins.messages import (
    LONGEST,
    MOST,
    WHOLE,
    like,
    named,
    plain,
    plain_record,
    quoted,
    shortened,
)
from fairseq_plugins.tasks._checks import Refused


def test_short_lists_are_whole_and_long_ones_tell_their_number() -> None:
    assert named(["a", "b", 3]) == "a, b, 3"
    assert named([], none="nothing") == "nothing"
    assert named(map(str, range(10))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert named(range(121), 2) == "0, 1 and 119 more, 121 in all"
    assert named(["a", "b", "c"], 2, between="; ") == "a; b and 1 more, 3 in all"


def test_the_nearest_names_are_told() -> None:
    assert like("bert_slaa", ["bert_wla", "esim", "bert_sla"]) == "bert_sla, bert_wla"
    assert like("x", ["esim"]) == like(1, []) == ""


def test_long_values_say_how_long_they_are() -> None:
    assert quoted("x" * LONGEST) == repr("x" * LONGEST)
    assert quoted("x" * 1_000_000) == f"{'x' * LONGEST!r}… (1,000,000 characters)"
    assert quoted(None) == "None"
    assert shortened("a\tb") == r"'a\tb'"


@given(st.lists(st.text(max_size=300), max_size=40))
def test_messages_are_one_short_printable_line(values) -> None:
    for text in (named(values), *map(quoted, values), quoted(values)):
        assert text.isprintable() or not text
        assert len(text) <= (MOST + 1) * 10 * (LONGEST + 40)


SCRIPTS = [
    "a",
    " ",
    "é",
    "文字",
    "日本",
    "العربية",
    "नमस्ते",
    "🙂",
    "👩‍👩‍👧",
    "\u3000",
    "\xa0",
    "'",
    '"',
    "\\",
]
ACTING = [
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\x07",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\x08",
    "\x7f",
    "\x9b31m",
]
ACTING += [
    "\x85",
    "\u2028",
    "\u2029",
    "\u202e",
    "\u2066",
    "\u200f",
    "\udc9b",
    "\nerror: all is well",
]


def test_nothing_in_a_message_acts_on_a_terminal(capsys) -> None:
    dice, filtered = random.Random(21), logging.Formatter()
    for _ in range(400):
        parts = dice.choices([*SCRIPTS, *ACTING], k=dice.randint(1, 30))
        text = "".join(parts) * (1 + 2000 * (dice.random() < 0.1))
        shown = plain(text)
        categories = {unicodedata.category(letter) for letter in shown}
        assert not categories & {"Cc", "Zl", "Zp", "Cs"}
        assert not {*"\u202e\u2066\u200f"} & {*shown}
        assert len(shown) < 8 * WHOLE
        if not {*parts} & {*ACTING} and len(text) < WHOLE:
            assert shown == text  # whatever the script
        assert plain(text, breaks=True).count("\n") == text.count("\n")

        def fail(text=text) -> None:
            raise InputError(text)

        assert command.run(fail) == 1
        record = logging.LogRecord("fairseq_plugins.data", 30, "", 1, "x %s", (text,), None)
        assert plain_record(record)
        for line in (capsys.readouterr().err.removesuffix("\n"), filtered.format(record)):
            assert shown in line or len(text) > WHOLE - 10
            assert line.count("\n") == 0
            assert "\x1b" not in line
        assert str(Refused(text)) == shown


def test_other_programs_log_as_they_did() -> None:
    record = logging.LogRecord("fairseq_cli.train", 20, "", 1, "a\n%s", ("\tb",), None)
    assert plain_record(record)
    assert record.getMessage() == "a\n\tb"
    record = logging.LogRecord("fairseq_plugins.lab.execution.x", 20, "", 1, "a\n\x07", (), None)
    assert plain_record(record)
    assert record.getMessage() == "a\n\\x07"
