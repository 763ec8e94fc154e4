"""What fairseq's translation offers in generation works with source features as well."""

from __future__ import annotations

import re

import pytest
from cli.commands import differences, generate, interactive, state_of

from fairseq_plugins.data.dictionaries import load_dictionary
from fairseq_plugins.data.streams import stream_prefix
from fairseq_plugins.syntax.rows import Rows

pytestmark = pytest.mark.slow


def scores(outcome):
    """Scores of the H- lines by sentence, then rank."""
    found = re.findall(r"^H-(\d+)\t(\S+)\t", outcome.out, re.MULTILINE)
    return [(int(n), float(score)) for n, score in found]


def test_ensemble_of_a_model_with_itself_is_the_model(folder, model, generated):
    assert generate(folder, f"{model}:{model}").lines("H") == generated.lines("H")


def test_ensemble_of_models_with_different_features(folder, model, plain, generated, test_lines):
    together = generate(folder, f"{model}:{plain}")
    alone = generate(folder, plain)
    assert len(together.lines("H")) == 37
    assert together.lines("P") != generated.lines("P")
    assert together.lines("P") != alone.lines("P")
    raw = interactive(folder, f"{model}:{plain}", "--buffer-size 9", stdin=test_lines)
    assert raw.lines("H") == together.lines("H")


def test_sampling_is_repeated_by_its_seed(folder, model):
    options = "--sampling --sampling-topk 8 --nbest 4 --seed"
    one, again, other = (generate(folder, model, f"{options} {n}").lines("H") for n in (3, 3, 4))
    assert len(one) == 4 * 37
    assert one == again
    assert one != other


def test_prefix_is_kept(folder, model, generated):
    found = generate(folder, model, "--prefix-size 2")
    dictionary = load_dictionary(folder / "dict.de.txt")
    targets = Rows.read(stream_prefix(folder, "test", "en-de", "de"))
    assert found.lines("H") != generated.lines("H")
    for i, line in enumerate(found.lines("H")):
        prefix = [dictionary[n] for n in targets[i][:2].tolist() if n != dictionary.eos()]
        assert line.split()[: len(prefix)] == prefix


def test_nbest_lists_come_in_order(folder, model, generated):
    found = generate(folder, model, "--nbest 3")
    lines = found.lines("H")
    assert len(lines) == 3 * 37
    assert lines[::3] == generated.lines("H")
    by_sentence = {}
    for number, score in scores(found):
        by_sentence.setdefault(number, []).append(score)
    assert all(ranks == sorted(ranks, reverse=True) for ranks in by_sentence.values())


def test_hard_alignment_has_one_link_a_token(folder, model):
    found = generate(folder, model, "--print-alignment hard")
    for line, links in zip(found.lines("H"), found.lines("A")):
        targets = [int(link.split("-")[1]) for link in links.split()]
        assert sorted(targets) == list(range(len(line.split())))


def test_soft_alignment_has_one_distribution_a_token(folder, model):
    found = generate(folder, model, "--print-alignment soft")
    for line, rows in zip(found.lines("H"), found.lines("A")):
        weights = [[float(p) for p in row.split(",")] for row in rows.split()]
        assert len(weights) == len(line.split()) + 1  # and </s>
        assert all(abs(sum(row) - 1) < 1e-3 for row in weights)


@pytest.mark.parametrize("limit", [12, 5])
def test_long_sources_are_truncated_alike_on_both_paths(
    folder, model, generated, test_lines, limit
):
    options = f"--truncate-source --max-source-positions {limit}"
    found = generate(folder, model, options)
    assert found.numbers("H") != []
    assert len(found.lines("H")) == 37
    assert found.lines("H") != generated.lines("H")
    raw = interactive(folder, model, f"{options} --buffer-size 20", stdin=test_lines)
    assert raw.lines("H") == found.lines("H")


def test_too_long_sources_are_refused_or_skipped_as_asked(folder, model):
    limit = "--max-source-positions 12"
    assert "--skip-invalid-size-inputs-valid-test" in generate(folder, model, limit, fails=True).err
    found = generate(folder, model, f"{limit} --skip-invalid-size-inputs-valid-test")
    assert 0 < len(found.lines("H")) < 37
    assert "invalid sizes and will be skipped" in found.out + found.err


def test_constraints_are_segmented_as_the_target(folder, model):
    """A constraint follows a tab, as plain text; 'Bahnhof' is cut into several subwords."""
    text = "The dog closes the play.\tBahnhof\nThe watch lights the dog.\tNachbar\n"
    found = interactive(folder, model, "--constraints --buffer-size 2", stdin=text)
    first, second = found.lines("D")
    assert "Bahnhof" in first
    assert "Nachbar" in second


def test_subwords_removed_by_fairseq_leave_the_translation_as_it_is(folder, model, generated):
    found = generate(folder, model, "--remove-bpe")
    assert found.lines("D") == generated.lines("D")
    assert not any("@@" in line for line in found.lines("H"))


def test_options_of_the_run_do_not_touch_the_checkpoint(folder, model):
    before = state_of(model)
    generate(folder, model, "--ablate-features pos --truncate-source")
    assert differences(before, state_of(model)) == []
