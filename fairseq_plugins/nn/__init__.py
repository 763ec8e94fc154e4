"""The mathematics, batch-first, in plain torch; one idea per file."""
