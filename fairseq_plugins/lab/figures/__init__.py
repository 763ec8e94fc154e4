"""Curves, maps and pages to look at; the only room that draws."""
