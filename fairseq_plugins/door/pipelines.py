"""Checks that a spaCy pipeline from elsewhere has only plain parts, before spaCy reads any part.

The configuration of a pipeline names functions that spaCy calls when loading. The functions listed
here only compute, and open only files of the pipeline. Parts of other packages, copies from other
pipelines and callbacks are refused.
"""

import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigError
from pathlib import Path
from typing import Any

from confection import Config

from ..messages import named, quoted
from ..text_reading import read_text
from .kind import Kind
from .pipeline_files import SIZES, file_problems, tree_problems, values

FILE_NAME = "config.cfg"
LONGEST = 1 << 17  # characters of a configuration
LONGEST_VALUE = 500  # characters of a value that is referred to
MOST = 1_000_000  # the largest number in a configuration, except `SIZES`
MOST_PARTS, MOST_LAYERS = 1000, 512  # sections, or members of a list; sum of depths
FACTORIES = frozenset(
    ("tok2vec", "tagger", "morphologizer", "parser", "trainable_lemmatizer", "lemmatizer")
    + ("ner", "attribute_ruler", "senter", "sentencizer")
)
LOADED = ("nlp", "components")  # sections; spaCy leaves the others alone
CALLBACKS = ("before_creation", "after_creation", "after_pipeline_creation")
PARTS = frozenset(  # of spaCy's registries, without "spacy." and versions
    ("Tokenizer", "Vectors", "Tok2Vec", "Tok2VecListener", "HashEmbedCNN", "MultiHashEmbed")
    + ("CharacterEmbed", "MaxoutWindowEncoder", "MishWindowEncoder", "Tagger")
    + ("TransitionBasedParser", "tagger_scorer", "morphologizer_scorer", "parser_scorer")
    + ("lemmatizer_scorer", "ner_scorer", "attribute_ruler_scorer", "senter_scorer")
    + ("zh.ChineseTokenizer",)
)
_REFERENCE = re.compile(r"\$\{([^}]*)\}?")
_SECTION = re.compile(r"^[^\S\n]*\[", re.MULTILINE)
_COMPONENT = re.compile(r"\w[\w -]*")
_OF_SPACY = re.compile(r"spacy\.(?P<name>[\w.]+?)(?:\.v\d+)?")


def problems(folder: Path) -> Iterator[str]:
    """Yield the parts of a pipeline that are not spaCy's plain parts."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: {folder} is no spaCy pipeline")
    text = read_text(path)
    if len(text) > LONGEST or len(_SECTION.findall(text)) > MOST_PARTS:
        yield f"{FILE_NAME} has more than {LONGEST:,} characters or {MOST_PARTS:,} sections"
    try:
        yield from _references(Config().from_str(text, interpolate=False))
        whole = Config().from_str(text, interpolate=True)
    except (ValueError, KeyError, TypeError, ConfigError) as error:
        yield f"{FILE_NAME} is no configuration of spaCy: {quoted(error)}"
        return
    yield from _asked(whole)
    yield from file_problems(folder, whole["nlp"]["lang"])


PIPELINE = Kind(
    problems, "name a pipeline that you trust with --spacy-model (spacy_model=... in Python)"
)
NAMED_PIPELINE = Kind(tree_problems)  # named by the user


def _references(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the references that lead to no short plain value, or from loaded parts elsewhere."""
    seen, waiting = set[int](), [*config.items()]
    while waiting:
        section, value = waiting.pop()
        if isinstance(value, (Mapping, list)):
            if id(value) in seen:
                yield f"a part of {quoted(section)} stands in two places"
                return
            seen.add(id(value))
            inner = [*value, *value.values()] if isinstance(value, Mapping) else value
            waiting += [(section, one) for one in inner]
        elif isinstance(value, str):
            yield from _led(config, section, value)


def _led(config: Mapping[str, Any], section: str, text: str) -> Iterator[str]:
    """Yield what is wrong with the references of a text."""
    if "$" in _REFERENCE.sub("", text):
        yield f"{quoted(text)} has a sign $ that begins no reference"
    for name in _REFERENCE.findall(text):
        if section in LOADED and not name.startswith(tuple(f"{one}." for one in LOADED)):
            yield f"{section} refers to {quoted(name)}"
        found: Any = config
        for key in name.replace(":", ".").split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        is_plain = "." in name.replace(":", ".") and not isinstance(found, (Mapping, list))
        if not is_plain or "$" in str(found) or len(str(found)) > LONGEST_VALUE:
            yield f"{quoted(name)} refers to no plain value"


def _asked(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of the loaded parts."""
    nlp, components = (config.get(name) for name in LOADED)
    if not isinstance(nlp, Mapping) or not isinstance(components, Mapping):
        yield "it has no sections nlp and components"
        return
    language, tokenizer = nlp.get("lang"), nlp.get("tokenizer")
    if not (isinstance(language, str) and language.isalpha() and len(language) <= 3):
        yield f"its language is {quoted(language)}"
    yield from (f"it calls {name}" for name in CALLBACKS if nlp.get(name) is not None)
    if isinstance(tokenizer, Mapping) and tokenizer.get("segmenter", "char") != "char":
        yield f"its tokenizer segments by {quoted(tokenizer['segmenter'])}"
    for name, component in components.items():
        if not _COMPONENT.fullmatch(name):
            yield f"component {quoted(name)} has no plain name"
        factory = component.get("factory") if isinstance(component, Mapping) else None
        if factory not in FACTORIES:
            choices = named(sorted(FACTORIES), len(FACTORIES))
            yield f"component {quoted(name)} is made by {quoted(factory)}; choices: {choices}"
    yield from _sizes({"nlp": nlp, "components": components})


def _sizes(sections: Mapping[str, Any]) -> Iterator[str]:
    layers = 0
    for name, value in values("", sections):
        if name.startswith("@") and _bare(str(value)) not in PARTS:
            yield f"it asks for {quoted(value)}"
        if isinstance(value, list) and len(value) > MOST_PARTS:
            yield f"it asks for {len(value):,} {quoted(name)}, more than {MOST_PARTS:,}"
        most = SIZES.get(name, MOST)
        is_strange = name in SIZES and value is not None and type(value) is not int
        if is_strange or (isinstance(value, (int, float)) and not -most <= value <= most):
            yield f"{quoted(name)} is {quoted(value)}, more than {most:,} or no number"
        layers += value if name == "depth" and value else 0
    if layers > MOST_LAYERS:
        yield f"it asks for {layers:,} layers, more than {MOST_LAYERS:,}"


def _bare(name: str) -> str:
    """Return a spaCy function's name without package and version; other names unchanged."""
    found = _OF_SPACY.fullmatch(name)
    return found["name"] if found else name
