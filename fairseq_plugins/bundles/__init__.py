"""Bundles: folders that hold a trained model and all it needs, without fairseq and without code."""
