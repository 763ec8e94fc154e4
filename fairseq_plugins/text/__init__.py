"""Raw text to words, annotations and subwords, and back: one code for preparation and inference."""
