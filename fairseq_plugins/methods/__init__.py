"""The methods of models of text: one file each, from options to parts of a model."""
