"""Items in which systems differ, as text or as a page.

In text, what one alone has right stands in ``{+...+}``, what is wrong or missing in the other in
``[-...-]``, a gold answer in ``>>...<<``; on a page the first and the last are bold and what is
wrong is struck out.
"""

from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from .contrast import FIRST, HIT, MISS, SECOND, SPAN, WRONG, Item, Runs
from .shown_text import MARKS, straight
from .templates import render

_SIGNS = {HIT: ("{+", "+}"), MISS: ("[-", "-]"), FIRST: ("[-", "-]"), SECOND: ("{+", "+}")}
_SIGNS |= {SPAN: MARKS}
_TAGS = {mark: ("<b>", "</b>") for mark in (HIT, FIRST, SECOND, SPAN)}
_TAGS |= {mark: ("<s>", "</s>") for mark in (MISS, WRONG)}
STYLES = {  # style -> template, signs around what is marked, and what makes text safe there
    "text": ("contrast.txt", _SIGNS, straight),
    "html": ("contrast.html", _TAGS, lambda text: escape(straight(text))),
}


def format_items(
    items: Sequence[Item],
    *,
    names: Sequence[str],
    noun: str,
    is_judged: bool,
    style: str = "text",
) -> str:
    """Render items.

    Args:
        items: what to show, in this order.
        names: of the systems.
        noun: what one item is called.
        is_judged: whether systems are right or wrong, not better or worse.
        style: of `STYLES`.
    """
    shown = [(item, item.view()) for item in items]
    template, signs, clean = STYLES[style]
    labels = list(dict.fromkeys(label for _, view in shown for label in view.lines))
    return render(
        template,
        shown=shown,
        names=names,
        noun=noun,
        is_judged=is_judged,
        labels=labels,
        width=max(map(len, [*labels, *names])),
        marked=lambda runs: _marked(runs, signs, clean),
    )


def _marked(runs: Runs, signs: dict[str, tuple[str, str]], clean: Callable[[str], str]) -> str:
    """Return a text with signs around what is marked, for a page as markup."""
    parts = []
    for text, mark in runs:
        begin, end = signs.get(mark, ("", ""))
        parts.append(f"{begin}{clean(text)}{end}")
    return Markup("".join(parts))
