"""Invented corpora in which what a method reads decides: a module a kind, a function a corpus."""
