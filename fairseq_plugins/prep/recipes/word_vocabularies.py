"""The vocabulary of a preparation with ``--words-from``: from training examples, or a folder."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from ...data.manifests import read_manifest
from ...data.text_manifest import TextManifest, load_vocabulary
from ...errors import InputError
from ...pretrained.vocabulary import Vocabulary
from ...text.word_vocabulary import (
    SPECIALS,
    count_words,
    is_of_words,
    vocabulary_of,
    word_settings,
)
from .text_options import TRAIN, TextOptions
from .text_scan import TextScan, read_examples

logger = logging.getLogger(__name__)

Found = tuple[dict[str, Any], Vocabulary]  # settings of the tokeniser, and the words


def own_words(options: TextOptions, path: Path | None) -> Found:
    """Return the tokeniser's settings and the words of the training examples."""
    if path is None:
        raise InputError(
            "--words-from train: there is no training file; give the folder that the model was "
            "trained on in place of 'train'"
        )
    characters = options.tokenize == "characters"
    settings = word_settings(lowercase=options.lowercase, characters=characters)
    scan = TextScan(path, options.source.target)
    examples = (example for example, _ in read_examples(options, TRAIN, scan))
    vocabulary = vocabulary_of(count_words(examples, settings), options.min_count)
    logger.info("%s: a vocabulary of %d words", path, len(vocabulary) - len(SPECIALS))
    return settings, vocabulary


def words_of(folder: Path) -> Found:
    """Return the tokeniser's settings and the words of a prepared folder, or of a bundle."""
    manifest = read_manifest(folder, TextManifest)
    vocabulary = load_vocabulary(folder, manifest)
    if not is_of_words(vocabulary):
        raise InputError(
            f"--words-from {folder}: it was not prepared with --words-from; give --pretrained "
            "with the encoder that it was prepared for"
        )
    return dict(manifest.tokenizer), vocabulary
