"""The papers' tables, and those of experiments, filled in."""
