"""BackTrans: sentences translated into another language and back, by whatever translates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from tqdm import tqdm

from ..translators import Translate, chunks, one_line, translate_chunk
from .pairs import Change, Pair, Resources, Rewriting, changed
from .sentences import Edit


def swap_translation(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Exchange sentences for what came back; one that came back as it was is not changed."""
    new = {number: resources.translated[pair[number].text] for number in numbers}
    rewritings = {
        number: Rewriting([Edit(0, len(pair[number].text), text)], ["translated"])
        for number, text in new.items()
        if text and text != one_line(pair[number].text)
    }
    return changed(pair, rewritings)


def translate_all(texts: Sequence[str], translate: Translate) -> Mapping[str, str]:
    """Translate distinct sentences, with a progress bar.

    Raises:
        ValueError: another number of sentences came back.
    """
    found: dict[str, str] = {}
    with tqdm(total=len(texts), desc="translate there and back", unit=" sentences") as bar:
        for chunk in chunks(texts):
            found |= translate_chunk(chunk, translate)
            bar.update(len(chunk))
    return found
