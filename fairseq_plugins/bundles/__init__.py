"""Bundles: folders with a trained model and everything it needs, without fairseq or code."""
