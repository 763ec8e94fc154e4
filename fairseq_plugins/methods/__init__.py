"""The methods of models of text: each is one file, from its options to its part of a model."""
