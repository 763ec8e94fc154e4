"""Curves are written whole, deterministic, and show what they were given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairseq_plugins.lab.figures.drawing import BLUE, RED
from fairseq_plugins.lab.figures.plots import gates_csv, plot_curves, plot_gates, plot_learning

CURVES = {
    name: {share: [10 * share**0.5 + bonus] for share in (0.01, 0.1, 1.0)}
    for name, bonus in (("baseline", 0.0), ("syntax-infused", 1.5))
}


def svg(stem: Path) -> str:
    """Read the SVG of a figure."""
    return stem.with_name(f"{stem.name}.svg").read_text(encoding="utf-8")


def test_same_curves_same_svg(tmp_path) -> None:
    plot_curves(CURVES, tmp_path / "a")
    plot_curves(CURVES, tmp_path / "b")
    assert svg(tmp_path / "a") == svg(tmp_path / "b")


def test_curves_show_fractions_in_percent_and_both_systems(tmp_path) -> None:
    plot_curves(CURVES, tmp_path / "curve", metric="sacreBLEU")
    text = svg(tmp_path / "curve")
    for label in ("1 %", "10 %", "100 %", "baseline", "syntax-infused", "sacreBLEU", "+1.5"):
        assert f">{label}</text>" in text
    plot_curves({"baseline": CURVES["baseline"]}, tmp_path / "single")
    assert "minus" not in svg(tmp_path / "single")


def test_order_only_names_the_first_system(tmp_path) -> None:
    turned = {name: dict(reversed(points.items())) for name, points in CURVES.items()}
    plot_curves(CURVES, tmp_path / "a")
    plot_curves(turned, tmp_path / "b")
    assert svg(tmp_path / "a") == svg(tmp_path / "b")
    plot_curves(dict(reversed(CURVES.items())), tmp_path / "c")
    assert ">-1.5</text>" in svg(tmp_path / "c").replace("\u2212", "-")


def test_several_seeds_are_drawn_as_mean_and_range(tmp_path) -> None:
    seeds = {
        name: {share: [score - 1, score + 1] for share, (score,) in points.items()}
        for name, points in CURVES.items()
    }
    plot_curves(CURVES, tmp_path / "one")
    plot_curves(seeds, tmp_path / "many")
    assert "FillBetween" not in svg(tmp_path / "one")
    assert "FillBetween" in svg(tmp_path / "many")
    assert ">+1.5</text>" in svg(tmp_path / "many")


@pytest.mark.parametrize("points", [{10: [1]}, {0: [1]}, {0.1: [1, float("nan")]}])
def test_bad_points_are_named(tmp_path, points: dict) -> None:
    with pytest.raises(ValueError, match=r"a: share must be in \(0, 1\] and scores finite"):
        plot_curves({"a": points}, tmp_path / "x")
    with pytest.raises(ValueError, match="no curves"):
        plot_curves({}, tmp_path / "x")


TOKENS = {(data, f"bert_{name}"): 50 for data in ("SST-2", "FCE") for name in ("wla", "sla")}


def shares(*seeds: float, systems: tuple[str, ...] = ("bert_wla", "bert_sla")) -> dict:
    """Return gates of three layers of two datasets, one run a seed."""
    return {
        dataset: {
            system: {n: [0.1 + 0.2 * place + 0.1 * n + seed for seed in seeds] for n in range(3)}
            for place, system in enumerate(systems)
        }
        for dataset in ("SST-2", "FCE")
    }


def polylines(stem: Path) -> dict[str, list[tuple[float, ...]]]:
    """Return the points of the lines with three of them, the legend's flat ones apart."""
    found: dict[str, list] = {}
    for path, color in re.findall(r'd="(M [^"]*)"[^>]*stroke: (#\w{6})', svg(stem)):
        numbers = tuple(map(float, re.findall(r"[\d.]+", path)))
        if len(numbers) == 6 and len({*numbers[1::2]}) > 1:
            found.setdefault(color, []).append(numbers)
    return found


def test_gates_are_one_polyline_a_system_and_dataset(tmp_path) -> None:
    plot_gates(shares(0.0), tmp_path / "gates")
    text = svg(tmp_path / "gates")
    for label in ("SST-2", "FCE", "layer", "gate value (share of local attention)"):
        assert f">{label}</text>" in text
    assert text.count(">bert_sla</text>") == text.count(">bert_wla</text>") == 1
    lines = polylines(tmp_path / "gates")
    wla, sla = lines[BLUE.lower()], lines[RED.lower()]
    assert len(wla) == len(sla) == 2
    for low, high in zip(wla, sla):
        assert low[1] > low[3] > low[5]  # rising: SVG counts downwards
        assert all(high[i] < low[i] for i in (1, 3, 5))
        assert low[::2] == high[::2]


def test_colours_follow_names_not_order(tmp_path) -> None:
    """WLA is blue and SLA red, as in the paper; all others have colours of their own."""
    names = ("SLA", "masks", "WLA", "sla m=3")
    plot_gates(shares(0.0, systems=names), tmp_path / "a")
    lines = polylines(tmp_path / "a")
    assert len(lines) == 4
    heights = {color: rows[0][1] for color, rows in lines.items()}
    order = sorted(heights, key=heights.get, reverse=True)  # first system lowest, so largest
    assert (order[0], order[2]) == (RED.lower(), BLUE.lower())


def test_seeds_of_gates_are_mean_and_range(tmp_path) -> None:
    plot_gates(shares(0.0), tmp_path / "one")
    plot_gates(shares(-0.05, 0.05), tmp_path / "two")
    assert "FillBetween" not in svg(tmp_path / "one")
    assert "FillBetween" in svg(tmp_path / "two")
    table = [line.split(",") for line in gates_csv(shares(-0.05, 0.05), TOKENS).splitlines()]
    assert table[0][:7] == ["dataset", "system", "layer", "mean", "min", "max", "runs"]
    assert len(table) == 1 + 2 * 2 * 3
    row = dict(zip(table[0], table[1]))
    assert row["values"].split() == [row["min"], row["max"]] == ["0.050000", "0.150000"]
    assert (row["mean"], row["runs"], row["tokens"]) == ("0.100000", "2", "50")


def test_systems_may_have_gates_in_other_layers(tmp_path) -> None:
    some = shares(0.0)
    for series in some.values():
        series["bert_sla"] = {1: series["bert_sla"][1]}
    plot_gates(some, tmp_path / "a")
    assert gates_csv(some, TOKENS).count("bert_sla,1,") == 2
    assert gates_csv(some, TOKENS).count("bert_sla") == 2


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan")])
def test_bad_gates_are_named(tmp_path, value: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1.*'FCE'"):
        plot_gates({"FCE": {"sla": {0: [value]}}}, tmp_path / "x")
    with pytest.raises(ValueError, match="no gate values"):
        plot_gates({}, tmp_path / "x")


def test_learning_is_drawn_for_every_system_as_svg_alone(tmp_path) -> None:
    curves = {f"system {k} $x$": {10: [0.1], 20: [0.1 + k]} for k in range(8)}
    path = plot_learning(curves, tmp_path / "a", label="mcc $")
    assert [found.name for found in tmp_path.iterdir()] == ["a.svg"]
    drawn = path.read_text(encoding="utf-8")
    assert all(name in drawn for name in (*curves, "mcc $", "updates"))
    assert "stroke-dasharray" in drawn  # of more systems than colours
    assert "FillBetween" not in drawn
    seeds = {"one": {10: [0.1, 0.2]}}
    assert "FillBetween" in plot_learning(seeds, tmp_path / "b", label="mcc").read_text()
    with pytest.raises(ValueError, match="no curves"):
        plot_learning({}, tmp_path / "c", label="mcc")
