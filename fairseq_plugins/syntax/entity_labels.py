"""Labels of words that name entities: a mark, and usually a type (``B-PER``, ``B_PER``, ``B``)."""

from collections.abc import Collection

OUTSIDE = "O"
MARKS = frozenset("BIESLUM")  # the place of a word in an entity


def label_parts(label: str) -> tuple[str, str]:
    """Return mark and type of a label; ``B`` has an empty type."""
    if label[1:2] == "_" and label[0] in MARKS:
        return label[0], label[2:]
    mark, _, type_ = label.partition("-")
    return mark, type_


def entity_types(labels: Collection[str]) -> tuple[str, ...]:
    """Return the types of entities in labels, in the labels' order; none without entities.

    Labels name entities if any begins with ``B-`` or ``I-``. Without a hyphen, all must be marks or
    ``O``, including B or I: ``B_PER``, ``I_PER``, ``O``, or ``B``, ``I``, ``O``.
    """
    parts = [label_parts(label) for label in labels]
    marks = [mark for mark, _ in parts if mark != OUTSIDE]
    alone = not {"B", "I"}.isdisjoint(marks) and MARKS.issuperset(marks)
    if not alone and not any(label[:2] in ("B-", "I-") for label in labels):
        return ()
    return tuple(dict.fromkeys(kind for mark, kind in parts if mark in MARKS))
