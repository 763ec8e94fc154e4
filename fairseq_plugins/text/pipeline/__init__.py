"""Training and scoring of spaCy pipelines on a Universal Dependencies treebank."""
