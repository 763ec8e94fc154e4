"""Curves, maps and pages; the only room that draws."""
