"""A Hugging Face directory of BERT, and ours: the only room that knows foreign names."""
