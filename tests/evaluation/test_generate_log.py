"""fairseq's generation logs: any order of ids, n-best, and every way a log can be broken."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.generate_log import (
    is_generate_log,
    parse_generate_log,
    read_system,
)
from fairseq_plugins.files import write_text
from fairseq_plugins.text_reading import read_lines

SENTENCES = ["das ist gut .", "ja", "", "nein , nie"]


def make_log(texts: list[str], *, nbest: int = 1, total: int | None = None) -> list[list[str]]:
    """Return one block of lines for each sentence, as fairseq-generate prints them."""
    blocks = []
    for i, text in enumerate(texts):
        block = [f"S-{i}\tsource {i}", f"T-{i}\t{text}"]
        for k in range(nbest):
            score = f"{-0.25 - k}"
            block += [f"H-{i}\t{score}\t{text} h{k}", f"D-{i}\t{score}\t{text} d{k}"]
            block += [f"P-{i}\t-0.5000 -1.0000", f"A-{i}\t0-0 1-1"]
        blocks.append(block)
    if total is not None:
        blocks.append([f"2026-01-01 | INFO | x | Translated {total:,} sentences (9 tokens) in 1s"])
    return blocks


def flat(blocks: list[list[str]]) -> list[str]:
    return [line for block in blocks for line in block]


def test_sentences_come_back_in_order_whatever_the_order_of_the_log() -> None:
    blocks = make_log(SENTENCES)
    random.Random(3).shuffle(blocks)
    found = parse_generate_log(["some INFO line", *flat(blocks)])
    assert found.targets == SENTENCES
    assert found.sources == [f"source {i}" for i in range(4)]
    assert found.lines == [f"{text} d0" for text in SENTENCES]


def test_the_best_hypothesis_counts_wherever_it_is_printed() -> None:
    lines = ["S-0\ta", "H-0\t-2.0\tworse", "H-0\t-1.0\tbetter", "H-0\t-1.0\ttied"]
    assert parse_generate_log(lines).lines == ["better"]
    assert parse_generate_log(flat(make_log(SENTENCES, nbest=3))).lines[1] == "ja d0"


def test_interactive_and_grepped_logs_are_read() -> None:
    interactive = ["S-0\ta", "W-0\t0.1\tseconds", "H-0\t-1\tb", "D-0\t-1\tc", "P-0\t-1"]
    found = parse_generate_log(interactive)
    assert (found.sources, found.targets, found.lines) == (["a"], None, ["c"])
    assert parse_generate_log(["H-0\t-1\tb"]).lines == ["b"]
    assert parse_generate_log(["D-0\t-inf\tc"]).lines == ["c"]


def test_ten_sentences_are_not_sorted_as_strings() -> None:
    texts = [f"satz {i}" for i in range(12)]
    assert parse_generate_log(flat(make_log(texts))).targets == texts


def test_missing_ids_are_named() -> None:
    blocks = make_log(SENTENCES, total=4)
    del blocks[1]
    with pytest.raises(InputError, match=r"gen\.log: 1 of 4 sentences are missing \(ids 1\)"):
        parse_generate_log(flat(blocks), name="gen.log")


def test_truncated_log_is_refused_at_every_line() -> None:
    lines = flat(make_log(SENTENCES, total=4))
    whole = parse_generate_log(lines)
    for keep in range(len(lines) - 1):
        kept = [*lines[:keep], lines[-1]]  # the stated total survives, as on standard error
        with pytest.raises(
            ValueError, match=r"gen\.log: (no hypotheses|sentence|.*missing|states)"
        ):
            parse_generate_log(kept, name="gen.log")
    assert len(whole.lines) == 4


def test_truncation_without_a_total_is_seen_in_the_group_of_lines() -> None:
    lines = flat(make_log(SENTENCES))
    with pytest.raises(InputError, match="sentence 3 has 1 H- line.* but 0 A- line"):
        parse_generate_log(lines[:-1])
    with pytest.raises(InputError, match="sentence 3 has no hypothesis"):
        parse_generate_log(lines[:-4])


def test_joined_logs_are_refused() -> None:
    lines = flat(make_log(SENTENCES))
    with pytest.raises(InputError, match=r"line 25: S-0 again \(first in line 1\)"):
        parse_generate_log(lines + lines)
    hypotheses_only = ["H-0\t-1\ta", "H-1\t-1\tb", "Translated 3 sentences"]
    with pytest.raises(InputError, match="states 3 sentences but holds 2"):
        parse_generate_log(hypotheses_only)
    no_records = ["Translated , sentences", f"H-{'9' * 5000}\t-1\ta"]
    assert len(parse_generate_log([*hypotheses_only[:2], *no_records]).lines) == 2


def test_malformed_lines_are_named() -> None:
    with pytest.raises(InputError, match="line 2: expected 'H-0<tab>score<tab>text'"):
        parse_generate_log(["S-0\ta", "H-0\tno score"])
    with pytest.raises(InputError, match="another score than the H-0"):
        parse_generate_log(["H-0\t-1\ta", "D-0\t-2\tb"])
    with pytest.raises(InputError, match="no hypotheses"):
        parse_generate_log(["nothing here"])


def test_progress_bar_before_a_record_is_skipped_and_inside_one_refused() -> None:
    bar = "\r  3%|3  | 1/32 [00:01<00:40,  1.3s/it, wps=500]"
    assert parse_generate_log([f"{bar}S-0\ta", "H-0\t-1\tb"]).sources == ["a"]
    with pytest.raises(InputError, match="progress bar cuts through H-0"):
        parse_generate_log(["S-0\ta", f"H-0\t-1\tb{bar}c"])


def test_detection_needs_a_hypothesis_line() -> None:
    assert is_generate_log(flat(make_log(SENTENCES)))
    assert not is_generate_log(["H-1 is a vitamin", "S-0\tx", "plain text"])


@given(
    st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",)))), st.data()
)
def test_any_text_survives_the_log(texts: list[str], data: st.DataObject) -> None:
    texts = [text for text in texts if "%|" not in text]
    blocks = data.draw(st.permutations(make_log(texts)))
    lines = flat(list(blocks))
    if not texts:
        return
    assert parse_generate_log(lines).targets == texts


def test_files_are_told_apart_by_content(tmp_path) -> None:
    write_text(tmp_path / "gen.log", "\n".join(flat(make_log(SENTENCES))) + "\n")
    write_text(tmp_path / "plain.txt", "eins\n\nzwei\u2028drei\r\n")
    log, plain = (read_system(tmp_path / name) for name in ("gen.log", "plain.txt"))
    assert log.lines == [f"{text} d0" for text in SENTENCES]
    assert log.targets == SENTENCES
    assert (plain.lines, plain.targets) == (["eins", "", "zwei\u2028drei"], None)
    assert len(read_system(tmp_path / "gen.log").lines) == 4


def test_unreadable_files_are_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        read_lines(tmp_path / "absent")
    (tmp_path / "latin").write_bytes("gut\nschön\n".encode("latin-1"))
    with pytest.raises(InputError, match="latin:2: byte 4 .* not valid UTF-8"):
        read_lines(tmp_path / "latin")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(InputError, match="empty file"):
        read_system(tmp_path / "empty")


def test_writing_replaces_whole_files_and_leaves_no_temporary(tmp_path) -> None:
    write_text(tmp_path / "out.txt", "old")
    write_text(tmp_path / "out.txt", "neu\n")
    assert (tmp_path / "out.txt").read_text() == "neu\n"
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "out.txt", "\ud800")
    assert (tmp_path / "out.txt").read_text() == "neu\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_file_is_on_the_disk_before_its_name_is(tmp_path, monkeypatch) -> None:
    done = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        act = lambda *a, name=name, real=real: (done.append(name), real(*a))[1]  # noqa: E731
        monkeypatch.setattr(os, name, act)
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "out.txt", "neu\n")
    finally:
        os.umask(mask)
    assert done == ["fsync", "replace", "fsync"]
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o640
