"""Sweeps, and figures drawn from their rows."""
