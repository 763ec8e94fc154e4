"""What stands in prepared folders of texts and questions: files, targets, what words carry."""

LABELS = "labels.txt"
EXAMPLES = "examples.jsonl"  # of a split
CONTEXTS, MISALIGNED = "contexts.jsonl", "misaligned.jsonl"
TOKENIZE = ("whitespace", "characters", "spacy")
CASED, AS_TOKENISED = PARSE_TEXT = ("cased", "as-tokenised")  # what an annotator is shown
UNKNOWN, UNANSWERABLE, ANSWERABLE = range(3)  # what is known of a question's answer
NO_SPLITS = "none; name a prepared folder with --data"  # of what a run or a bundle keeps
WINDOWS = ("max_positions", "doc_stride", "max_query_length")
