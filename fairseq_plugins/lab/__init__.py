"""Experiments: planned, carried out, read, drawn and reported."""
