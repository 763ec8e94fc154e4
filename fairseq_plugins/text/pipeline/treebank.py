"""The folder of a treebank, as downloaded: its splits, its language and its licence."""

from pathlib import Path

from ...text_reading import read_lines


def split_file(directory: Path, split: str) -> Path:
    """Return the file of a split of a treebank folder.

    Args:
        directory: holds ``<split>.conllu`` or ``<anything>-ud-<split>.conllu``.
        split: ``train``, ``dev`` or ``test``.
    """
    plain = directory / f"{split}.conllu"
    found = [plain] if plain.is_file() else sorted(directory.glob(f"*-ud-{split}.conllu"))
    if len(found) != 1:
        raise FileNotFoundError(
            f"{directory}: expected {split}.conllu or one *-ud-{split}.conllu, found {len(found)}"
        )
    return found[0]


def language_of(directory: Path) -> str:
    """Return the language code of a treebank folder by the names of its files, or nothing."""
    names = {path.name.partition("_")[0] for path in directory.glob("*_*-ud-*.conllu")}
    return names.pop() if len(names) == 1 else ""


def licence_of(directory: Path) -> str:
    """Return the licence that a treebank's README names, or nothing."""
    for path in sorted(directory.glob("README*")):
        for line in read_lines(path):
            if line.startswith("License:"):
                return line.removeprefix("License:").strip()
    return ""
