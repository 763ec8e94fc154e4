"""Every flag of our commands and every option that fairseq takes for us is still there.

New ones may come, and new choices; defaults and presets stay.
"""

from __future__ import annotations

import pytest
from frozen.commands import COMMANDS
from frozen.flags import lost, make_flags, make_options
from frozen.workshop import read_frozen

FLAGS, OPTIONS = read_frozen("flags"), read_frozen("options")


@pytest.fixture(scope="session")
def flags(workshop):
    """The flags of all commands of today."""
    return make_flags(workshop)


@pytest.fixture(scope="session")
def options(workshop):
    """The registered options of today."""
    return make_options(workshop)


def test_every_command_is_on_record():
    assert set(FLAGS) == set(COMMANDS)


@pytest.mark.parametrize("name", FLAGS)
def test_command_has_its_flags(name, flags):
    today = flags[name]
    gone = {flag["names"][0] if flag["names"] else flag["dest"]: lost(flag, today)
            for flag in FLAGS[name]}  # fmt: skip
    assert {flag: change for flag, change in gone.items() if change} == {}


@pytest.mark.parametrize("kind", [kind for kind in OPTIONS if kind != "architectures"])
def test_registered_classes_have_their_options(kind, options):
    for name, old in OPTIONS[kind].items():
        gone = {flag["dest"]: lost(flag, options[kind][name]) for flag in old}
        assert {flag: change for flag, change in gone.items() if change} == {}, name


@pytest.mark.parametrize("name", OPTIONS["architectures"])
def test_architecture_keeps_its_presets(name, options):
    today = options["architectures"][name]
    old = OPTIONS["architectures"][name]
    assert {key: today.get(key, "gone") for key in old} == old


def test_lost_flags_are_seen():
    flag = {"names": ["--a"], "dest": "a", "default": 1, "choices": ["x"], "required": False}
    assert lost(flag, []) == {"names": None}
    assert lost(flag, [flag | {"names": ["-a", "--a"], "choices": ["x", "y"]}]) == {}
    assert lost(flag, [flag | {"default": 2}]) == {"default": 2}
    assert lost(flag, [flag | {"choices": ["y"]}]) == {"choices": ["y"]}
