"""Data preparation: raw text -> annotated, segmented, aligned, binarised. No models here."""
