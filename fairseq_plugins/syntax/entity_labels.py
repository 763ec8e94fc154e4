"""Labels of words that name entities: a mark, and usually a type (``B-PER``, ``B_PER``, ``B``)."""

from collections.abc import Collection, Sequence

OUTSIDE = "O"
MARKS = frozenset("BIESLUM")  # the place of a word in an entity
_WITHIN = frozenset("IELM")  # marks of a word that continues an entity
_OPEN = frozenset("BIM")  # of a word that may be continued
_ENDS = frozenset("EL")  # of a word that ends several


def label_parts(label: str) -> tuple[str, str]:
    """Return mark and type of a label; ``B`` has an empty type."""
    if label[1:2] == "_" and label[0] in MARKS:
        return label[0], label[2:]
    mark, _, type_ = label.partition("-")
    return mark, type_


def allowed_steps(labels: Sequence[str]) -> list[list[bool]]:
    """Return which of C labels may follow which, (C + 1, C + 1).

    The last row is the beginning of a sentence, the last column its end. A label within an entity
    (I, E, L, M) only continues an entity of its type, if there is a label that begins one. If
    labels end entities (E, L), every begun entity is continued to its end. Labels without entities
    are all allowed.
    """
    types, edge = {*entity_types(labels)}, (OUTSIDE, "")
    parts = [label_parts(label) if types else edge for label in labels]
    begun = {kind for mark, kind in parts if mark == "B"}
    ends = {kind for mark, kind in parts if mark in _ENDS}

    def follows(one: tuple[str, str], other: tuple[str, str]) -> bool:
        (mark, kind), (next_mark, next_kind) = one, other
        is_open = mark in _OPEN and kind in types
        if next_mark in _WITHIN and next_kind in begun:
            return is_open and kind == next_kind
        return not (is_open and kind in ends)

    return [[follows(one, other) for other in [*parts, edge]] for one in [*parts, edge]]


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
