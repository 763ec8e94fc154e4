"""Kinds of targets as values: from a file to gold values, losses and metrics."""
