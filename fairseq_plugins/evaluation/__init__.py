"""Scoring: pure functions on strings and numbers, without torch or fairseq."""
