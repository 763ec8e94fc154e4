"""BackTrans: sentences translated into another language and back, by whatever translates.

A command reads one sentence a line on its standard input and writes as many lines.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from random import Random

from tqdm import tqdm

from .pairs import Change, Pair, Resources, Rewriting, changed
from .sentences import Edit

Translate = Callable[[Sequence[str]], Sequence[str]]
CHUNK = 256  # sentences at a time, for the progress bar


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


def one_line(text: str) -> str:
    """Return a text that fits a line and a column."""
    return " ".join(text.split())


def translate_all(texts: Sequence[str], translate: Translate) -> Mapping[str, str]:
    """Translate distinct sentences, with a progress bar.

    Raises:
        ValueError: another number of sentences came back.
    """
    found: dict[str, str] = {}
    with tqdm(total=len(texts), desc="translate there and back", unit=" sentences") as bar:
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            back = translate([one_line(text) for text in chunk])
            if len(back) != len(chunk):
                raise ValueError(
                    f"BackTrans: {len(chunk)} sentences went in, {len(back)} came back; there must "
                    "be one a line, in the same order"
                )
            found |= {text: one_line(new) for text, new in zip(chunk, back)}
            bar.update(len(chunk))
    return found


def run_command(command: str) -> Translate:
    """Make a translation of a shell command, started once for every chunk of sentences.

    Raises:
        ValueError: when called, that the command fails, or writes no UTF-8.
    """

    def translate(texts: Sequence[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in texts).encode()
        done = subprocess.run(command, shell=True, input=text, capture_output=True, check=False)
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise ValueError(
                f"--back-translate {command!r} ended with status {done.returncode}: {''.join(last)}"
            )
        try:
            out = done.stdout.decode()
        except UnicodeDecodeError:
            raise ValueError(f"--back-translate {command!r} wrote no UTF-8") from None
        return out.removesuffix("\n").split("\n") if out else []

    return translate
