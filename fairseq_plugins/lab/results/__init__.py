"""What runs came to: rows, seeds, comparisons, tables."""
