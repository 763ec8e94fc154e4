"""Words and annotations from a spaCy pipeline; only this file uses spaCy."""

import gc
import hashlib
import importlib.metadata
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, cast

from ..deferred_imports import deferred
from ..door.pipeline_files import damaged
from ..door.pipelines import NAMED_PIPELINE
from ..errors import InputError
from ..messages import named
from ..resources import BUNDLED, PIPELINES, pipeline_path
from ..syntax.annotation import Annotation
from ..syntax.layers import STANDARD_TAGS, annotated_names, layers_of
from .raw_text import parts_of

with deferred("spacy.cli.info"):  # spaCy's command line takes more than half of the import time
    import spacy
    from spacy.language import Language
    from spacy.tokens import Doc

SCORES = "scores.json"  # scores of a pipeline
# components that run only for requested layers, or never
ON_REQUEST = (
    *("ner", "entity_ruler", "lemmatizer", "trainable_lemmatizer", "parser"),
    *("entity_linker", "textcat", "senter"),
)


class Annotator:
    """A loaded spaCy pipeline.

    Args:
        model: ``bundled`` or ``bundled-layers`` (the project's small English pipelines), the name
            of an installed pipeline, or the path of a pipeline.
        names: requested layers; heads take longer. Parts of speech are always given.
    """

    def __init__(self, model: str = BUNDLED, names: Sequence[str] = STANDARD_TAGS) -> None:
        self._asked = layers_of(annotated_names(names))
        needed = {name for layer in self._asked for name in layer.components}
        self.model = model
        self.nlp = load_pipeline(model, [one for one in ON_REQUEST if one not in needed])
        self.nlp.max_length = 10**9
        meta = self.nlp.meta
        self.name = f"{meta['lang']}_{meta['name']}"
        self.version = str(meta["version"])
        self._check()

    def _check(self) -> None:
        """Refuse a pipeline without a requested layer."""
        with _readable(self.files):
            given = _gives(self.nlp)
        if lacking := [one.name for one in self._asked if one.set_by not in given]:
            found = sorted(one[6:] for one in given if one.startswith("MORPH."))
            asked = any(one.startswith("morph.") for one in lacking) and found
            known = f"; features of its morph: {', '.join(found)}" if asked else ""
            raise InputError(
                f"spaCy pipeline {self.model!r} gives no {' and no '.join(lacking)} (components: "
                f"{named(self.nlp.pipe_names)}{known}): name another one, or leave "
                f"{named(lacking)} out"
            )

    @property
    def files(self) -> Path:
        return Path(cast(Path, self.nlp.path))

    @lru_cache(maxsize=1)  # noqa: B019 (an annotator lives as long as its process)
    def identity(self) -> dict[str, str]:
        """Name, version and content hash, as the manifest keeps them."""
        return {
            "name": self.name,
            "version": self.version,
            "hash": directory_hash(self.files),
            "model": recorded_name(self.model),
        }

    def annotate_words(self, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
        """Annotate sentences with given words, which a pipeline may still split."""
        docs = (Doc(self.nlp.vocab, words=list(words)) for words in sentences if words)
        with self.nlp.memory_zone():
            tagged = self._tag(docs)
            empty = Annotation([], {layer.name: [] for layer in self._asked})
            return [next(tagged) if words else empty for words in sentences]

    def annotate_text(self, lines: Sequence[str]) -> list[Annotation]:
        """Find and annotate the words of raw lines; spans refer to each line.

        The time of spaCy's tokeniser grows with the square of a stretch without white space, so an
        overlong stretch (`text.LONGEST_WORD`) is tokenised in parts. No character changes.
        """
        with self.nlp.memory_zone():
            return list(self._tag(map(self._tokenized, lines)))

    def _tokenized(self, line: str) -> Doc:
        docs = [self.nlp.make_doc(part) for part in parts_of(line)]
        return docs[0] if len(docs) == 1 else Doc.from_docs(docs, ensure_whitespace=False)

    def _tag(self, docs) -> Iterator[Annotation]:
        made: dict[str, dict[Any, Any]] = {layer.name: {} for layer in self._asked}
        for doc in self.nlp.pipe(docs, batch_size=256):
            tokens = [token for token in doc if not token.is_space]
            words = [token.text for token in tokens]
            spans = [(token.idx, token.idx + len(word)) for token, word in zip(tokens, words)]
            kept = [token.i for token in tokens]
            found = {one.name: one.of_doc(doc, kept, made[one.name]) for one in self._asked}
            yield Annotation(words, found, spans)


def _gives(nlp: Language) -> set[str]:
    """Return spaCy's names of a pipeline's annotations; ``MORPH.Case`` for features."""
    doc, names = nlp("The cat sat on 2 mats ."), {*nlp.pipe_names}
    found = {name for name in ("POS", "TAG", "LEMMA", "DEP", "ENT_IOB") if doc.has_annotation(name)}
    # pipelines of other languages may not know these English words
    found |= {"POS"} if names & {"morphologizer", "attribute_ruler"} else set()
    features = {name for token in doc for name in token.morph.to_dict()}
    known = [*nlp.pipe_labels.get("morphologizer", ())]
    if "attribute_ruler" in names:
        ruler: Any = nlp.get_pipe("attribute_ruler")
        known += [str(rule["attrs"].get("MORPH", "")) for rule in ruler.patterns]
    pairs = (part.partition("=") for label in known for part in label.split("|"))
    features |= {name for name, equals, _ in pairs if equals} - {"POS"}
    return found | {f"MORPH.{name}" for name in features} | ({"MORPH"} if features else set())


def load_pipeline(model: str, exclude: Sequence[str] = ON_REQUEST):
    """Load a spaCy pipeline by name or path, without the components named in ``exclude``."""
    path = pipeline_path(model) if model in PIPELINES else model
    try:
        with _readable(Path(path)):
            return spacy.load(path, exclude=list(exclude))
    except OSError:
        installed = named(sorted(spacy.util.get_installed_models()))
        raise FileNotFoundError(
            f"no spaCy pipeline {str(path)!r}: give {BUNDLED!r} (English), an installed pipeline "
            f"(installed here: {installed}) or the path of one; "
            "pip install its wheel to add another; udpipe:MODEL is a UDPipe model"
        ) from None


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn spaCy's errors of damaged files in a folder into one sentence."""
    try:
        NAMED_PIPELINE.admit(path)
        yield
    except Exception as error:  # any error of spaCy about damaged files
        gc.enable()  # srsly leaves collection off
        if isinstance(error, OSError) and not (path / "config.cfg").is_file():
            raise
        found = damaged(path)
        reason = (
            f"{found} is damaged"
            if found
            else " ".join(f"{type(error).__name__}: {error}".split())[:200]
        )
        raise InputError(f"the spaCy pipeline {str(path)!r} cannot be loaded: {reason}") from None


def recorded_name(model: str) -> str:
    """Return a manifest's name of a pipeline: an absolute path, or a package name."""
    if model in PIPELINES or spacy.util.is_package(model) or not Path(model).exists():
        return model
    return str(Path(model).resolve())


def check_recorded(model: str, folder: Path) -> None:
    """Refuse a prepared folder's pipeline unless bundled or installed."""
    if isinstance(model, str) and model in PIPELINES:
        return
    cure = f"give --spacy-model {model} (spacy_model=... in Python) if you trust what lies there"
    if not isinstance(model, str) or not model.isidentifier():
        raise InputError(
            f"raw text of {folder} is to be read by the annotator in {model!r}, and a folder "
            f"does not decide which path is loaded: {cure}"
        )
    if not import_installed(model):
        raise FileNotFoundError(
            f"raw text of {folder} is to be read by the spaCy pipeline {model!r}, which is not "
            f"installed in this environment: pip install its wheel; elsewhere, {cure}"
        )


def import_installed(name: str) -> bool:
    """Import a pipeline from this environment, never from the working directory.

    Returns:
        Whether an installed distribution declares a spaCy pipeline of this name, and the imported
        package belongs to this distribution.
    """
    places = site_folders()
    found = importlib.metadata.distributions(name=name, path=places)
    points = [point for one in found for point in one.entry_points]
    if not any(p.group == "spacy_models" and p.name == p.value == name for p in points):
        return False
    spec = PathFinder.find_spec(name, places)
    if spec is None or spec.loader is None:
        return False
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None) == spec.origin
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return True


def site_folders() -> list[str]:
    """Return the folders of this environment's packages, without the working directory."""
    found = [sysconfig.get_path(name) for name in ("purelib", "platlib")] + site.getsitepackages()
    found += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return [place for place in dict.fromkeys(found) if Path(place).resolve() != Path.cwd()]


def directory_hash(folder: Path) -> str:
    """Hash a pipeline's files (names and bytes): the first 16 hex digits of SHA-256.

    Cards, licences and `SCORES` do not count.
    """
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        is_about = path.name == SCORES or path.name.startswith("LICEN")
        if path.suffix in (".md", ".pyc") or is_about:
            continue
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
