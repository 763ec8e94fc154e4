"""Checks that a model was trained with the words, labels and values of a folder."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..door.records import read_list
from ..errors import InputError
from ..messages import named, shortened
from ..syntax.layers import Layer


def check_texts(
    cfg: Any, manifest: Any, vocabulary: bytes, layers: Sequence[Layer], folder: object
) -> None:
    """Refuse a model that was not trained for texts as a folder has them."""
    check_vocabulary(cfg, manifest, vocabulary, folder)
    check_labels(cfg, manifest, folder)
    check_inventories(cfg, layers, folder)


def check_labels(cfg: Any, manifest: Any, folder: object) -> None:
    """Refuse a model that was trained for other labels than a folder's."""
    trained = read_list(getattr(cfg, "labels", None), "labels")
    target = getattr(cfg, "target", None)
    if (target, trained) != (manifest.target, manifest.labels):
        sides = [
            shortened(str(kind)) + (f" ({named(labels)})" if labels else "")
            for kind, labels in ((target, trained), (manifest.target, manifest.labels))
        ]
        raise InputError(f"the model was trained for {sides[0]}, but {folder} has {sides[1]}")


def vocabulary_digest(content: bytes) -> str:
    """Return the SHA-256 of a vocabulary file, independent of its line ends."""
    lines = content.replace(b"\r\n", b"\n").removesuffix(b"\n")
    return hashlib.sha256(lines + b"\n").hexdigest()


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return the settings of a folder's tokeniser as text: ``lowercase=True``, ..."""
    return ", ".join(f"{name}={settings[name]}" for name in sorted(settings))


def check_vocabulary(cfg: Any, manifest: Any, content: bytes, folder: object) -> None:
    """Refuse a model that was trained with another vocabulary than a folder of texts has.

    Args:
        cfg: options, in older releases without a vocabulary.
        content: vocabulary file of the folder.
    """
    if getattr(cfg, "vocabulary", None) not in (None, vocabulary_digest(content)):
        raise InputError(
            f"the model was trained with another vocabulary than {folder} has: prepare it with the "
            "same --pretrained, or with --words-from and the folder that the model was trained on"
        )
    trained, held = getattr(cfg, "text_settings", None), settings_text(manifest.tokenizer)
    if trained not in (None, held):
        raise InputError(
            f"the model reads text cut with {trained}, but {folder} was cut with {held}: prepare "
            "it with the same --pretrained and its tokenizer's files"
        )


def other_words(trained: str | None, manifest: Any, needs: Any, folder: object) -> str:
    """Return a warning if a model reads words that its training data split otherwise."""
    if trained in (None, manifest.cutting) or not (needs.words or needs.reads(training=False)):
        return ""
    return (
        f"OTHER WORDS: the words that the model was trained on are by {trained}, those of {folder} "
        f"by {manifest.cutting}; features and trees are of other words, and results may suffer"
    )


def check_inventories(cfg: Any, layers: Sequence[Layer], folder: object) -> None:
    """Refuse a model that knows other values of a learnt layer than a folder has."""
    trained = _digests(getattr(cfg, "inventories", None))
    held = {layer.name: layer.inventory.digest for layer in layers if layer.learnt}
    if other := [name for name in trained if held.get(name, trained[name]) != trained[name]]:
        raise InputError(
            f"{folder} has other values of {' and of '.join(other)} than the folder that the model "
            "was trained on: prepare it with --layer-dicts and that folder"
        )


def check_words(cfg: Any, words: str, folder: object, *, start: bool = False) -> None:
    """Refuse a model that knows other words or languages than a folder of translation.

    Args:
        cfg: options, in older releases without words.
        words: see `data.translation_folders.word_digests`.
        start: whether the model only starts a training, perhaps of other languages.
    """
    trained, held = _digests(getattr(cfg, "words", None)), _digests(words)
    if trained and start:
        trained = dict(zip(held, trained.values()))
    if trained and [*trained] != [*held]:
        pairs = "-".join(trained), "-".join(held)
        raise InputError(f"the model translates {pairs[0]}, but {folder} holds {pairs[1]}")
    if other := [language for language, own in trained.items() if held[language] != own]:
        raise InputError(
            f"{folder} has other subwords of {' and of '.join(other)} than the folder that the "
            "model was trained on: prepare it with --like and that folder"
        )


def _digests(text: str | None) -> dict[str, str]:
    parts = (part.partition("=") for part in (text or "").split(","))
    return {name: digest for name, _, digest in parts if name}
