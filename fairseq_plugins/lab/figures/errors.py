"""Errors by question word as bars (Chadha and Sood 2019, Figure 5)."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from ...evaluation.contrast_answers import TypeErrors
from .drawing import LETTER, SMALL, legend_above, look, note, style, tidy

GROUP = 0.8  # of the room of a type that its bars take
HATCHES = {"-": "", "--": "//", ":": "..", "-.": "xx"}  # where colours do not suffice


@style()
def plot_errors(found: Sequence[TypeErrors]) -> Figure:
    """Draw the percentage of wrong answers of every type of question, a bar a system.

    Numbers above the bars are counts of wrong answers, as in the paper's text.

    Args:
        found: of all types and systems, at least one.
    """
    counts = {one.kind: one.questions for one in found}
    systems, kinds = list(dict.fromkeys(one.system for one in found)), list(counts)
    room, width = 0.35 + 0.3 * len(systems), GROUP / len(systems)  # of a type in inches; of a bar
    turned = max(len(f"{one.wrong:,}") for one in found) * SMALL * LETTER > room * width
    figure = Figure(figsize=(max(4.5, 1.2 + len(kinds) * room), 3.5), layout="constrained")
    ax = figure.subplots()
    for k, system in enumerate(systems):
        rows, looks = [one for one in found if one.system == system], look(k)
        places = [kinds.index(one.kind) - GROUP / 2 + width * (k + 0.5) for one in rows]
        how = {"color": looks["color"], "edgecolor": "white", "linewidth": 0, "label": system}
        hatch = HATCHES[looks["linestyle"]]
        bars = ax.bar(places, [one.percent for one in rows], width, hatch=hatch, **how)
        told = [f"{one.wrong:,}" for one in rows]
        ax.bar_label(bars, told, fontsize=SMALL, padding=2, rotation=90 * turned)
    ax.set_xticks(range(len(kinds)), [f"{kind}\n({counts[kind]:,})" for kind in kinds])
    ax.set(ylabel="wrong answers (%)", xlabel="type of question (how many there are)")
    tidy(ax, 0.02, 0.25 if turned else 0.12, "")
    top = ax.get_ylim()[1] if any(one.wrong for one in found) else 1
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= min(100, top)])
    ax.set_ylim(0, top)
    legend_above(figure, ax)
    note(figure, "numbers: wrong answers")
    return figure
