"""Choices of users for scoring; this file imports no library."""

SUBWORDS = ("auto", "bpe", "sentencepiece", "none")
TOKENIZED = ("auto", "yes", "no")
SENTENCE_METRICS = ("bleu", "chrf")  # metrics of translated sentences
MISSING = ("error", "skip", "empty")  # handling of questions without a prediction
