"""Label inventories: ids, files, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.labels import PAD_ID, SPECIAL_ID, UPOS, upos_label
from fairseq_plugins.syntax.layers import LAYERS, columns_of, parse_features

INVENTORIES = [
    layer.inventory for layer in columns_of(LAYERS.values()).values() if not layer.learnt
]


@pytest.mark.parametrize("inventory", INVENTORIES, ids=lambda i: i.name)
def test_inventory_ids_are_a_bijection_after_the_reserved_two(inventory) -> None:
    ids = inventory.ids(inventory.labels)
    assert sorted(ids) == list(range(2, len(inventory)))
    assert [inventory.symbols[i] for i in ids] == list(inventory.labels)
    assert inventory.ids(["<pad>", "<special>"]) == [PAD_ID, SPECIAL_ID]


def test_inventory_names_an_unknown_label_and_the_choices() -> None:
    with pytest.raises(InputError, match=r"'middle' is no value of feature 'case'.*lower, upper"):
        LAYERS["case"].inventory.ids(["upper", "middle"])


@pytest.mark.parametrize("inventory", INVENTORIES, ids=lambda i: i.name)
def test_inventory_file_is_known_again(inventory, tmp_path) -> None:
    inventory.save(tmp_path / "dict.txt", {inventory.labels[0]: 7})
    lines = (tmp_path / "dict.txt").read_text().splitlines()
    assert lines[2] == f"{inventory.labels[0]} 7"
    assert len(lines) == len(inventory)
    inventory.check_file(tmp_path / "dict.txt")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<pad> 0\n<special> 0\nlower\nupper 1\n", ""),
        ("<pad> 0\n<special> 0\nlower x\nupper 1\n", "lower, upper"),
        ("lower 0\nupper 0\n", "none"),
        ("<pad> 0\n<special> 0\nlower 1\nlower 1\n", "lower, lower"),
    ],
)
def test_inventory_file_of_other_labels_is_refused(text, found, tmp_path) -> None:
    (tmp_path / "dict.txt").write_text(text)
    with pytest.raises(InputError, match=f"dict.txt lists other .* found .*{found}; expect"):
        LAYERS["case"].inventory.check_file(tmp_path / "dict.txt")


def test_features_keep_the_order_given() -> None:
    assert parse_features("subword, pos") == ("subword", "pos")
    assert parse_features("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [("pos,mood", "unknown layer 'mood'; choices: pos, case, subword"), ("pos,pos", "twice")],
)
def test_features_that_are_none_are_refused(text, message) -> None:
    with pytest.raises(InputError, match=message):
        parse_features(text)


def test_upos_label_takes_spacys_extra_values() -> None:
    assert [upos_label(t) for t in ("SPACE", "", "_", "CONJ")] == ["X", "X", "X", "CCONJ"]
    assert [upos_label(t) for t in UPOS] == list(UPOS)


@given(st.text())
def test_upos_label_accepts_nothing_else(text) -> None:
    if text in (*UPOS, "SPACE", "EOL", "", "_", "CONJ"):
        assert upos_label(text) in UPOS
    else:
        with pytest.raises(InputError, match="no universal part of speech; choices: ADJ"):
            upos_label(text)
