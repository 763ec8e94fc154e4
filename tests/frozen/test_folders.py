"""Every folder that a command prepares is, byte for byte, what the code of before made of it."""

from __future__ import annotations

from shutil import copytree

import pytest
from frozen.recipes import FOLDERS
from frozen.workshop import read_frozen, record
from older_folders import make_older

pytestmark = pytest.mark.slow

FROZEN = read_frozen("folders")
OLDER = read_frozen("older_streams")  # of releases that stored a value a subword


def test_every_folder_is_on_record():
    assert list(FROZEN) == list(FOLDERS)


@pytest.mark.parametrize("name", FOLDERS)
def test_folder_is_what_it_was(name, workshop):
    found = record(workshop.folder(name))
    assert found["files"] == FROZEN[name]["files"]
    for entry, value in FROZEN[name].get("manifest", {}).items():
        assert found["manifest"][entry] == value, entry
    assert _ordered(found) == _ordered(FROZEN[name])


@pytest.mark.parametrize("name", [name for name in FOLDERS if FOLDERS[name].same])
def test_shards_make_the_folder_of_one_go(name):
    assert _ordered(FROZEN[name]) == _ordered(FROZEN[FOLDERS[name].same])


@pytest.mark.parametrize("name", OLDER)
def test_layers_say_what_older_releases_stored(name, workshop, tmp_path):
    found = record(make_older(copytree(workshop.folder(name), tmp_path / name)))
    assert found["files"].items() >= OLDER[name].items()


def _ordered(found):
    """Everything on record with the order of its entries."""
    return repr(found)
