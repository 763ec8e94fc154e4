"""What stands in prepared folders of texts and questions: files, targets, what words carry."""

LABELS = "labels.txt"
EXAMPLES, SCORES = "examples.jsonl", "score.txt"  # of a split
CONTEXTS, MISALIGNED = "contexts.jsonl", "misaligned.jsonl"
TARGETS = {
    "classes": "text_classification",
    "score": "text_classification",
    "word_labels": "sequence_labeling",
    "spans": "extractive_qa",
}
SPANS, WORD_LABELS = "spans", "word_labels"
LABELLED = ("classes", "word_labels")  # targets that have a list of labels
TOKENIZE = ("whitespace", "characters", "spacy")
CASED, AS_TOKENISED = PARSE_TEXT = ("cased", "as-tokenised")  # what an annotator is shown
UNKNOWN, UNANSWERABLE, ANSWERABLE = range(3)  # what is known of a question's answer
WINDOWS = ("max_positions", "doc_stride", "max_query_length")
