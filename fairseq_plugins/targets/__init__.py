"""Kinds of targets as values: what a model learns of an example, from its file to its metrics."""
