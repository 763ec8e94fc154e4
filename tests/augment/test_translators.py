"""Whatever translates lines: counts, errors, one translator after another."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.augment.translators import (
    chain,
    chunks,
    one_line,
    run_command,
    translate_chunk,
)
from fairseq_plugins.errors import InputError

PYTHON = f'"{sys.executable}" -c'
TEXTS = st.lists(st.text(max_size=8), unique=True, max_size=8)


@given(TEXTS, st.integers(1, 5))
def test_chunks_are_the_texts_in_order(texts, size) -> None:
    parts = list(chunks(texts, size))
    assert [text for part in parts for text in part] == texts
    assert all(len(part) == size for part in parts[:-1])


@given(TEXTS)
def test_a_chain_keeps_order_and_count_and_sends_no_empty_line(texts) -> None:
    def shout(sentences):
        assert all(sentences)
        return [text.upper() for text in sentences]

    def forget(sentences):
        return ["" if text.startswith("A") else f"{text}!" for text in sentences]

    wanted = [one_line(text).upper() for text in texts]
    wanted = ["" if not text or text.startswith("A") else f"{text}!" for text in wanted]
    found = chain(shout, forget, shout)(texts)
    assert found == wanted


def test_a_chunk_is_one_line_a_text_and_counted() -> None:
    assert translate_chunk(["a\nb", "c"], lambda texts: [f" {t} \n x" for t in texts]) == {
        "a\nb": "a b x",
        "c": "c x",
    }
    with pytest.raises(InputError, match="2 sentences went in, 1 came back"):
        translate_chunk(["a", "b"], lambda texts: texts[:1])


def test_a_command_reads_and_writes_lines() -> None:
    assert run_command("tr a-z A-Z", "--command")(["who?", "täglich"]) == ["WHO?", "TäGLICH"]
    assert run_command("cat", "--command")([]) == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-command-here", "ended with status 127: .*not found"),
        ("echo why >&2; exit 3", "--x 'echo why >&2; exit 3' ended with status 3: why"),
        ("head -1; echo late >&2", "2 sentences went in, 1 came back.*: late$"),
        ("cat; echo more", "2 sentences went in, 3 came back"),
        ("true", "2 sentences went in, 0 came back"),
        (r"printf '\377\n\377\n'", "wrote no UTF-8"),
    ],
)
def test_a_command_that_does_not_translate_is_refused(command, message) -> None:
    with pytest.raises(InputError, match=message):
        run_command(command, "--x")(["a", "b"])
