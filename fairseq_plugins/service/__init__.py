"""Trained models behind HTTP: concurrent requests are gathered into batches."""
