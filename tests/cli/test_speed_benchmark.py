"""The speed benchmark runs; what it measures is no matter for a test."""

from __future__ import annotations

import pytest
from cli.commands import ROOT, run


@pytest.mark.long
def test_benchmark_compares_both_systems(folder):
    options = "--size tiny --repeats 2 --steps 2 --max-tokens 500 --length 6 --cpu"
    script = str(ROOT / "benchmarks" / "translation_speed.py")
    found = run(script, folder, *options.split())
    assert "| target subwords/s | syntax_transformer_tiny | transformer_tiny | ratio |" in found.out
    rows = [line for line in found.out.splitlines() if line.startswith(("| training", "| gen"))]
    assert len(rows) == 2
    assert "a look, not a measurement" in found.out
