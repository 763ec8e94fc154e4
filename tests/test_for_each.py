"""One test of many values names all that are wrong, and has the fixtures of its function."""

from __future__ import annotations

import inspect

import pytest
from for_each import for_each


def test_all_that_are_wrong_are_named_and_fixtures_are_handed_on():
    @for_each([1, 2, 3, 4])
    def check(value, more):
        seen.append(value)
        assert value + more < 4
        if value == 2:
            raise SystemExit(5)

    seen: list[int] = []
    with pytest.raises(AssertionError, match=r"^2: SystemExit\(5\)\n3: Assert.*\n4: Assert.*$"):
        check(more=1)
    assert seen == [1, 2, 3, 4]
    assert [*inspect.signature(check).parameters] == ["more"]
    for_each(range(3))(lambda value, more: None)(more=1)
