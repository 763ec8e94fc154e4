"""Runs carried out: here, in jobs, resumed, and what follows them."""
