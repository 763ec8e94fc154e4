"""Whether a spaCy pipeline out of a bundle is one of plain parts, before spaCy reads any of it.

The configuration of a pipeline names functions that spaCy calls when it loads it: those of this
list compute, and open nothing but files of the pipeline. What comes from other packages, copies
parts of other pipelines or calls something on the way is refused.
"""

import json
import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigError
from itertools import chain
from pathlib import Path
from typing import Any

from confection import Config

from ..messages import named, quoted
from ..text_reading import read_text

FILE_NAME = "config.cfg"
LONGEST = 1 << 20  # characters of a configuration
MOST = 1_000_000  # of any number in it
FACTORIES = frozenset(
    ("tok2vec", "tagger", "morphologizer", "parser", "trainable_lemmatizer", "lemmatizer")
    + ("ner", "attribute_ruler", "senter", "sentencizer")
)
CALLBACKS = ("before_creation", "after_creation", "after_pipeline_creation")
PARTS = frozenset(  # of the registries of spaCy, without "spacy." and their versions
    ("Tokenizer", "Vectors", "Tok2Vec", "Tok2VecListener", "HashEmbedCNN", "MultiHashEmbed")
    + ("CharacterEmbed", "MaxoutWindowEncoder", "MishWindowEncoder", "Tagger")
    + ("TransitionBasedParser", "tagger_scorer", "morphologizer_scorer", "parser_scorer")
    + ("lemmatizer_scorer", "ner_scorer", "attribute_ruler_scorer", "senter_scorer")
    + ("zh.ChineseTokenizer",)
)
_REFERENCE = re.compile(r"\$\{([^}]*)\}?")
_OF_SPACY = re.compile(r"spacy\.(?P<name>[\w.]+?)(?:\.v\d+)?")
SUFFIXES = (".py", ".pyc", ".so", ".pkl", ".pickle", ".pt")


def check_pipeline(folder: Path) -> None:
    """Refuse a pipeline that asks for more than spaCy's plain parts.

    Raises:
        FileNotFoundError: it has no configuration.
        ValueError: names what it asks for.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: {folder} is no spaCy pipeline")
    text = _text(path)
    # As it stands there, and as spaCy reads it: sections are put in the places that refer to them.
    plain, whole = (_read(path, text, interpolate=how) for how in (False, True))
    for problem in chain(_references(plain), _problems(folder, whole), _tokenizer(folder)):
        raise ValueError(
            f"{path}: {problem}; a pipeline in a bundle has plain parts alone, and nothing of it "
            "was loaded: name one that you trust with --spacy-model (spacy_model=... in Python)"
        )


def _text(path: Path) -> str:
    text = read_text(path)
    if len(text) > LONGEST:
        raise ValueError(f"{path} is longer than {LONGEST:,} characters")
    return text


def _read(path: Path, text: str, *, interpolate: bool) -> Config:
    """Read a configuration; nothing that it names is looked up or called."""
    try:
        return Config().from_str(text, interpolate=interpolate)
    except (ValueError, KeyError, TypeError, ConfigError, RecursionError) as error:
        raise ValueError(f"{path} is no configuration of spaCy: {quoted(error)}") from None


def _references(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the parts that are loaded refer to outside themselves."""
    for section in ("nlp", "components"):
        for value in _values(_section(config, section)):
            for name in _REFERENCE.findall(value) if isinstance(value, str) else ():
                if not name.startswith(("nlp.", "components.")):
                    yield f"{section} refers to {quoted(name)}"


def _tokenizer(folder: Path) -> Iterator[str]:
    """Yield what a tokeniser's own settings, which go before the configuration, ask for."""
    path = folder / "tokenizer" / "cfg"
    if path.is_file():
        try:
            found = json.loads(read_text(path))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("segmenter", "char") != "char":
            yield f"tokenizer/cfg says {quoted(found)}"
    yield from (
        f"{path.relative_to(folder)} lies in it" for path in sorted(folder.rglob("pkuseg*"))
    )


def _problems(folder: Path, config: Mapping[str, Any]) -> Iterator[str]:
    nlp, components = (_section(config, name) for name in ("nlp", "components"))
    language = nlp.get("lang")
    if not (isinstance(language, str) and language.isalpha() and len(language) <= 3):
        yield f"its language is {quoted(language)}"
    yield from (f"it calls {name}" for name in CALLBACKS if nlp.get(name) is not None)
    for name, component in components.items():
        factory = component.get("factory") if isinstance(component, Mapping) else None
        if factory not in FACTORIES:
            choices = named(sorted(FACTORIES), len(FACTORIES))
            yield f"component {quoted(name)} is made by {quoted(factory)}; choices: {choices}"
    for asked in _asked({"nlp": nlp, "components": components}):
        if _bare(asked) not in PARTS:
            yield f"it asks for {quoted(asked)}"
    for value in _values({"nlp": nlp, "components": components}):
        if isinstance(value, (int, float)) and not -MOST <= value <= MOST:
            yield f"it asks for {value}, more than {MOST:,}"
    tokenizer = nlp.get("tokenizer")
    if isinstance(tokenizer, Mapping) and tokenizer.get("segmenter", "char") != "char":
        yield f"its tokenizer segments by {quoted(tokenizer['segmenter'])}"
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.name.endswith(SUFFIXES):
            yield f"{file.relative_to(folder)} lies in it"


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}


def _values(value: Any) -> Iterator[Any]:
    """Yield all values of a section that are neither sections nor lists."""
    if isinstance(value, (Mapping, list)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _values(part)
    else:
        yield value


def _asked(value: Any) -> Iterator[str]:
    """Yield the names of all functions that a section asks for."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if str(key).startswith("@"):
                yield str(part)
            yield from _asked(part)
    elif isinstance(value, list):
        for part in value:
            yield from _asked(part)


def _bare(name: str) -> str:
    """Return the name of a function of spaCy without its package and version; others whole."""
    found = _OF_SPACY.fullmatch(name)
    return found["name"] if found else name
