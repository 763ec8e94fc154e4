"""Small invented parallel text, a stand-in for the tagger, and readers of prepared folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_plugins.data.dictionaries import load_dictionary
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.pair_columns import read_side
from fairseq_plugins.data.streams import stream_prefix
from fairseq_plugins.data.translation_folders import load_layers
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.prep.recipes.translation_options import TranslationOptions
from fairseq_plugins.syntax.annotation import Annotation
from fairseq_plugins.syntax.labels import UPOS
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.syntax.rows import Rows

SUBJECTS = ("The watchmaker", "A small dog", "My neighbour's aunt", "Nobody", "Mr. O'Neill")
VERBS = ("doesn't play", "watched", "will close", "has seen", "is painting")
OBJECTS = ("the old lighthouse", "3.5 apples", "her state-of-the-art radio", "it", "café chairs")
ENDS = (".", "!", ", didn't they?", " (twice).", " & more...")

# Text that has broken preparations: marks of the tools themselves, and unkind Unicode.
NASTY = (
    *(
        "@@",
        "x@@",
        "</w>",
        "a</w>",
        "<pad>",
        "</s>",
        "<s>",
        "<unk>",
        "<special>",
        "&apos;",
        "&amp;",
    ),
    *("\u2581", "a\u2581b", "e\u0301", "\u0301", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u061c"),
    *("\u2028", "\u0085", "\u00a0", "\u3000", "\u000b", "\x1c", "\r", "\t", "\x00", "\x01", "\x7f"),
    *("\U0001f600", "\U0001f468\u200d\U0001f469", "\ufb01", "\u2026", "\u338f", "\u0130", "\u1e9e"),
    *(
        "\u0645\u0631\u062d\u0628\u0627",
        "\u05e9\u05dc",
        "\u4e2d\u6587",
        "don't",
        "1,000.5",
        "madeupword0000",
    ),
)


def invented_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Make English-looking lines and a 'translation' of the same words in other letters."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        parts = [part[rng.integers(len(part))] for part in (SUBJECTS, VERBS, OBJECTS, ENDS)]
        extra = "".join(chr(97 + i) for i in rng.integers(0, 26, rng.integers(2, 9)))
        source = f"{parts[0]} {parts[1]} {parts[2]} {extra}{parts[3]}"
        pairs.append((source, source.swapcase().replace("e", "\u00fc")))
    return pairs


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write lines as UTF-8."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def write_pairs(prefix: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    """Write ``PREFIX.en`` and ``PREFIX.de``; return the prefix."""
    write_lines(Path(f"{prefix}.en"), (source for source, _ in pairs))
    write_lines(Path(f"{prefix}.de"), (target for _, target in pairs))
    return prefix


def make_options(destdir: Path, **values: Any) -> TranslationOptions:
    """Options for small data, in one process; paths may be given as they are."""
    values = {k: str(v) if isinstance(v, Path) else v for k, v in values.items()}
    return TranslationOptions(
        **{"source_lang": "en", "target_lang": "de", "destdir": str(destdir)}
        | {"bpe_size": 60, "workers": 1}
        | values
    )


def tag(word: str) -> str:
    """Tag a word by its last character alone."""
    return UPOS[ord(word[-1]) % len(UPOS)]


class RuleAnnotator:
    """Stands in for the spaCy annotator: cuts at punctuation, tags by `tag`."""

    def identity(self) -> dict[str, str]:
        """Name it as the real one does."""
        return {"name": "rule", "version": "1", "hash": "00", "model": "rule"}

    def annotate_words(self, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
        """Tag given words."""
        return [Annotation(list(words), {"pos": [tag(w) for w in words]}) for words in sentences]

    def annotate_text(self, lines: Sequence[str]) -> list[Annotation]:
        """Cut and tag raw lines."""
        notes = []
        for line in lines:
            found = list(re.finditer(r"\w+|[^\w\s]", line))
            words = [m.group() for m in found]
            tags = {"pos": [tag(w) for w in words]}
            notes.append(Annotation(words, tags, [m.span() for m in found]))
        return notes


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder, hidden ones and those of its own folders included."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def stream_rows(folder: Path, split: str, stream: str) -> list[list[int]]:
    """Read a binary stream."""
    data = Rows.read(stream_prefix(folder, split, "en-de", stream))
    return [data[i].tolist() for i in range(len(data))]


def symbols(folder: Path, lang: str, split: str) -> list[str]:
    """Return a split's rows as text, unknown words as ``<unk>``, without ``</s>``."""
    dictionary = load_dictionary(folder / f"dict.{lang}.txt")
    rows = stream_rows(folder, split, lang)
    return [" ".join(dictionary[i] for i in row[:-1]) for row in rows]


def labels(folder: Path, feature: str, split: str) -> list[list[str]]:
    """Return a split's feature labels, one a subword."""
    manifest = read_manifest(folder, TranslationManifest)
    layers = load_layers([str(folder)], manifest)
    side, (layer,) = read_side(folder, manifest, split, layers), layers_of([feature])
    rows = [side.of_row([layer], number)[0] for number in range(len(side.words))]
    return [[layer.inventory.symbols[i] for i in row] for row in rows]
