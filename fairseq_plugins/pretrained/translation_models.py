"""Trained translation models from elsewhere, as data: options, weights, dictionaries, forms.

A model is a checkpoint of fairseq, or the folder with it, or a directory of Hugging Face's
(`translation_directories`). The dictionaries of a checkpoint lie beside it, as in the archives that
fairseq's authors published. Nothing of a file runs (`door.torch_files`), and no other place is
read, whatever a checkpoint names.
"""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor

from ..door.torch_files import check_finite, read_state
from ..errors import InputError
from ..language_codes import base_code
from ..messages import named, quoted
from ..text_reading import read_lines
from . import translation_directories as directories
from .directory import CONFIG
from .fairseq_folder import options_of
from .translation_directories import SPECIALS, filled
from .weights import weights_file

CHECKPOINTS = ("checkpoint_best.pt", "model.pt", "checkpoint_last.pt")  # the first is taken
# dictionaries beside a checkpoint, the first is taken
DICTIONARIES = ("dict.{}.txt", "dict.txt", "model_dict.*.txt", "dictionary.txt")
LANGUAGE = re.compile(r"_{0,2}\[?[a-z]{2,3}(_[A-Z][A-Za-z]+)?\]?_{0,2}")  # a token of one
BARE = re.compile(r"[a-z]{2,3}")  # may be a subword as well
STYLES = {"mbart": "[{}]", "multilingual": "__{}__"}  # --lang-tok-style
PLAIN = ("$ </s>", "$ </s>")
# Task of a fairseq checkpoint -> forms of source and target (`syntax.forms`) of its options; in
# these, L is the language of the side, T that of the target.
FORMS: dict[str, Callable[[Mapping[str, Any]], tuple[str, str]]] = {
    "translation": lambda told: PLAIN,
    "translation_from_pretrained_bart": lambda told: directories.BEHIND,
    "translation_multi_simple_epoch": lambda told: (
        {"src": "L $ </s>", "tgt": "T $ </s>"}.get(str(told.get("encoder_langtok")), PLAIN[0]),
        "L $ </s>" if told.get("decoder_langtok") else PLAIN[1],
    ),
}


@dataclass(frozen=True)
class TranslationModel:
    """The content of a trained model."""

    path: Path  # the file with its weights
    options: Mapping[str, Any]  # by fairseq's names, unchecked; ``_name`` is the architecture
    read_weights: Callable[[], Mapping[str, Tensor]]  # by fairseq's names
    # of a language: the file of the dictionary, and its symbols in the order of their ids
    dictionary: Callable[[str], tuple[Path, list[str]]]
    patterns: tuple[str, str] = PLAIN  # forms of source and target, see `FORMS`

    def forms(self, languages: Sequence[str]) -> list[str]:
        """Return the forms of source and target; empty text for fairseq's own."""
        symbols = [self.dictionary(language)[1] for language in languages]
        found = []
        for pattern, language, known in zip(self.patterns, languages, symbols, strict=True):
            tokens = {"L": (known, language), "T": (known, languages[1])}
            parts = (
                language_token(*tokens[part]) if part in tokens else part
                for part in pattern.split()
            )
            found.append("" if pattern in PLAIN else " ".join(parts))
        return found


def read_model(place: str | Path) -> TranslationModel:
    """Read a checkpoint, the checkpoint of a folder, or a directory of Hugging Face's."""
    place = Path(place)
    if not (place / CONFIG).is_file():
        return _read_checkpoint(_file(place))
    options, patterns = directories.read_options(place)
    found = directories.vocabulary_file(place), directories.read_symbols(place, options)
    read = partial(directories.read_weights, place)
    return TranslationModel(weights_file(place), options, read, lambda language: found, patterns)


def _read_checkpoint(path: Path) -> TranslationModel:
    state = read_state(path)
    options = {str(name): value for name, value in options_of(state, path).items()}
    options["_name"] = options.get("_name") or options.get("arch")
    cfg = state.get("cfg")
    told: Any = cfg.get("task") if isinstance(cfg, Mapping) else options
    told = vars(told) if isinstance(told, argparse.Namespace) else told or {}
    patterns = FORMS.get(str(told.get("task") or told.get("_name")), FORMS["translation"])(told)
    if told.get("lang_tok_replacing_bos_eos"):
        raise InputError(f"{path}: --lang-tok-replacing-bos-eos is not read here")

    def read() -> Mapping[str, Tensor]:
        check_finite(state["model"], path)
        return state["model"]

    def dictionary(language: str) -> tuple[Path, list[str]]:
        file, symbols = _symbols(path, language)
        if patterns != PLAIN:
            symbols += [one for one in _added(told, path) if one not in symbols]
            symbols = filled(symbols, len(state["model"].get(directories.TABLES[0], ())))
        return file, symbols

    return TranslationModel(path, options, read, dictionary, patterns)


def _added(told: Mapping[str, Any], path: Path) -> list[str]:
    """Return the symbols that a multilingual task of fairseq's adds to its dictionary."""
    langs = told.get("langs")
    langs = langs.split(",") if isinstance(langs, str) else langs
    if not isinstance(langs, list) or not all(isinstance(one, str) for one in langs):
        raise InputError(f"{path} does not list its languages (--langs)")
    style = STYLES.get(str(told.get("lang_tok_style") or "mbart"), STYLES["multilingual"])
    mask = ["<mask>"] if style == STYLES["mbart"] else []
    return [*(style.format(one) for one in langs), *mask]


def _file(place: Path) -> Path:
    """Return the checkpoint that a path names."""
    if not place.is_dir():
        return place  # the reader reports a missing file
    held = sorted(path.name for path in place.glob("*.pt"))
    found = [name for name in CHECKPOINTS if name in held] or held
    if not found or (found[0] not in CHECKPOINTS and len(found) > 1):
        raise InputError(
            f"{place} holds {named(held, none='no checkpoint (*.pt)')}: give the checkpoint itself"
        )
    return place / found[0]


def _symbols(path: Path, language: str) -> tuple[Path, list[str]]:
    """Read a dictionary of fairseq's beside a checkpoint."""
    file = dictionary_beside(path.parent, language)
    if file is None:
        raise InputError(
            f"{path}: no dict.{language}.txt beside it, so its subwords cannot be compared with "
            "those of the prepared folder: copy the dictionaries with which it was trained there"
        )
    return file, [*SPECIALS, *(line.split(" ")[0] for line in read_lines(file))]


def dictionary_beside(folder: Path, language: str) -> Path | None:
    """Return the dictionary of a language in a folder of fairseq's, if any."""
    names = (name.format(Path(language).name) for name in DICTIONARIES)
    return next((path for name in names for path in sorted(folder.glob(name))), None)


def vocabulary_of(path: Path, language: str = "") -> list[str]:
    """Return the symbols of a model from one of its files; none for a dictionary of fairseq's."""
    if path.name in directories.VOCABULARIES:
        return directories.read_symbols(path.parent, directories.read_options(path.parent)[0])
    return _read_checkpoint(path).dictionary(language)[1] if path.suffix == ".pt" else []


def language_token(symbols: Sequence[str], language: str) -> str:
    """Return the token of a language: ``__en__``, ``[en_XX]``, ``en_XX``, ``eng_Latn``."""
    own = {f"__{language}__", f"[{language}]"}
    own |= set() if BARE.fullmatch(language) else {language}
    tokens = [one for one in symbols if LANGUAGE.fullmatch(one) and not BARE.fullmatch(one)]
    found = [one for one in tokens if one in own]
    found = found or [one for one in tokens if base_code(one) == base_code(language)]
    if len(found) != 1:
        raise InputError(
            f"language {quoted(language)} is that of {len(found)} tokens of the model: "
            f"{named(found or tokens)}; name the language so, or give --source-form and "
            "--target-form"
        )
    return found[0]
