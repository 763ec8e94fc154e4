"""What stands in prepared folders of texts and questions: files, targets, what words carry."""

LABELS = "labels.txt"
EXAMPLES, SCORES = "examples.jsonl", "score.txt"  # of a split
CONTEXTS, MISALIGNED = "contexts.jsonl", "misaligned.jsonl"
TARGETS = {
    "classes": "text_classification",
    "score": "text_classification",
    "word_labels": "sequence_labeling",
    "spans": "extractive_qa",
    "entities": "mrc_ner",  # by questions, of folders for labels of words
}
SPANS, WORD_LABELS, ENTITIES = "spans", "word_labels", "entities"
LABELLED = ("classes", "word_labels", "entities")  # targets that have a list of labels
TOKENIZE = ("whitespace", "characters", "spacy")
CASED, AS_TOKENISED = PARSE_TEXT = ("cased", "as-tokenised")  # what an annotator is shown
UNKNOWN, UNANSWERABLE, ANSWERABLE = range(3)  # what is known of a question's answer
NO_SPLITS = "none; name a prepared folder with --data"  # of what a run or a bundle keeps
WINDOWS = ("max_positions", "doc_stride", "max_query_length")
