"""Trained models behind HTTP: what concurrent requests ask is gathered into batches."""
