"""Results of runs: rows, seeds, comparisons, tables."""
