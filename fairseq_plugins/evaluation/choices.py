"""What users may say of what is scored; importing this loads no library."""

SUBWORDS = ("auto", "bpe", "sentencepiece", "none")
TOKENIZED = ("auto", "yes", "no")
SENTENCE_METRICS = ("bleu", "chrf")  # what a translation of the test set has
MISSING = ("error", "skip", "empty")  # what becomes of questions without a prediction
