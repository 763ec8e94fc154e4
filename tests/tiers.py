"""The three tiers of tests, from cheap to dear."""

import pytest

TIERS = ("fast", "slow", "long")


def tier_of(item: pytest.Item) -> str:
    """Return the tier of a test: its dearest mark, or ``fast``."""
    return next((name for name in reversed(TIERS) if item.get_closest_marker(name)), "fast")
