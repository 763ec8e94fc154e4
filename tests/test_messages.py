"""Lists and values in messages: whole when short, and never longer than one reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.messages import LONGEST, MOST, like, named, quoted, shortened


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
