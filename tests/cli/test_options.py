"""``options`` lists what is ours, with an architecture's own defaults, and names what is near."""

from __future__ import annotations

import pytest

from fairseq_plugins.cli.main import main
from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.plan.allowed import of_training


def test_options_are_ours_with_the_presets_of_the_architecture(capsys):
    assert main(["options", "text_classification", "bert_sla_released"]) == 0
    said = capsys.readouterr().out
    assert "--task text_classification" in said
    assert "--tree-threshold  [3]" in said
    assert "--max-update" not in said


def test_without_names_all_are_listed(capsys):
    assert main(["options"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--task extractive_qa, mrc_ner" in said
    assert "bert_sla_minilm" in said


def test_a_mistyped_name_is_refused_with_the_nearest(capsys):
    assert main(["options", "bert_sla_minilmm"]) == 1
    assert "like it: bert_sla_minilm" in capsys.readouterr().err


def test_a_file_with_a_mistyped_architecture_is_told_the_nearest():
    with pytest.raises(InputError, match="like it: bert_sla_minilm"):
        of_training()["arch"].check("bert_sla_minilmm")
