"""Names of the files of a translated split: ``generate.test.log``, ``score.test.json`` ..."""

EVALUATION, GENERATED, SCORE = "evaluation.json", "generate.log", "score.json"


def of_split(name: str, split: str) -> str:
    """Return what a file is called for a split: ``generate.log`` becomes ``generate.test.log``."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{split}.{suffix}"
