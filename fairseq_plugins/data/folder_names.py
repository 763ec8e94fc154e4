"""Names in prepared folders of texts and questions: files, targets, annotations."""

LABELS = "labels.txt"
EXAMPLES = "examples.jsonl"  # of a split
CONTEXTS, MISALIGNED = "contexts.jsonl", "misaligned.jsonl"
TOKENIZE = ("whitespace", "characters", "spacy")
CASED, AS_TOKENISED = PARSE_TEXT = ("cased", "as-tokenised")  # text for an annotator
UNKNOWN, UNANSWERABLE, ANSWERABLE = range(3)  # states of a question's answer
NO_SPLITS = "none; name a prepared folder with --data"  # for folders of runs and bundles
WINDOWS = ("max_positions", "doc_stride", "max_query_length")
