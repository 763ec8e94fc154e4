"""WordNet (Fellbaum, 1998): base forms, antonyms and synonyms, from an installed database.

NLTK's reader reads the database's own files (``wndb(5WN)``), which this package does not include.
"""

import io
import os
import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named
from ..text_reading import read_lines

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}  # name in the files -> NLTK's letter
OF_UPOS = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}
FILES = tuple(f"{kind}.{part}" for part in PARTS for kind in ("index", "data")) + tuple(
    f"{part}.exc" for part in PARTS
)
USUAL = (
    "/usr/share/wordnet",
    "/usr/share/wordnet/dict",
    "/usr/local/share/wordnet/dict",
    "/usr/local/WordNet-3.0/dict",
    "/opt/homebrew/opt/wordnet/dict",
    "/usr/local/opt/wordnet/dict",
    "~/nltk_data/corpora/wordnet",
    "/usr/share/nltk_data/corpora/wordnet",
)
SENSES = 3  # senses of a word with antonyms
# The lexicographer files by number (lexnames(5WN)): NLTK's reader needs the list, Debian lacks it
LEXNAMES = (
    *("adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact"),
    *("noun.attribute", "noun.body", "noun.cognition", "noun.communication", "noun.event"),
    *("noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive", "noun.object"),
    *("noun.person", "noun.phenomenon", "noun.plant", "noun.possession", "noun.process"),
    *("noun.quantity", "noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time"),
    *("verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition"),
    *("verb.consumption", "verb.contact", "verb.creation", "verb.emotion", "verb.motion"),
    *("verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather"),
    "adj.ppl",
)


class WordNet:
    """An open database; every process needs its own, since the files stay open.

    Args:
        reader: NLTK's ``WordNetCorpusReader``, for everything beyond the methods here.
        folder: of its files.
    """

    def __init__(self, reader: Any, folder: Path) -> None:
        self.reader, self.folder = reader, folder
        self.version = str(reader.get_version() or "unknown")

    def read_lists(self) -> None:
        """Read the lists of irregular and of common words in advance."""
        for part in PARTS.values():
            self._exceptions(part)
            self._common(part)

    @lru_cache(maxsize=100_000)  # noqa: B019 (a database lives as long as its process)
    def base(self, form: str, part: str) -> str | None:
        """Return the base form (``mice`` -> ``mouse``) of a lower-case form; None if unknown.

        ``part`` is a letter of `PARTS`.
        """
        return self.reader.morphy(form, part)

    @lru_cache(maxsize=100_000)  # noqa: B019
    def likely_base(self, form: str, part: str) -> str | None:
        """Return the possible base form with the most senses, for nouns and verbs.

        ``years`` is a word of its own (old age) and the plural of ``year``, ``saw`` the past of
        ``see``; `base` prefers the word of its own. Other parts of speech are left to `base`.
        """
        found = self.base(form, part)
        if part not in "nv":
            return found
        endings = self.reader.MORPHOLOGICAL_SUBSTITUTIONS[part]
        cut = [form[: -len(old)] + new for old, new in endings if form.endswith(old)]
        cut += self._exceptions(part)[0].get(form, [])
        readings = dict.fromkeys(
            word for word in (found, *cut) if word and self.base(word, part) == word
        )
        if len(readings) < 2:
            return next(iter(readings), None)
        return max(readings, key=lambda word: self._count(word, part))

    def _count(self, lemma: str, part: str) -> int:
        """Count the senses of a base form; the reader adds senses of the form's own base forms."""
        found = self.reader.synsets(lemma, part)
        return sum(any(name.lower() == lemma for name in s.lemma_names()) for s in found)

    def irregular_forms(self, lemma: str, part: str) -> tuple[str, ...]:
        """Return the inflected forms of a base form in the exception lists."""
        return self._exceptions(part)[1].get(lemma, ())

    @lru_cache(maxsize=100_000)  # noqa: B019
    def antonyms(self, lemma: str, part: str) -> tuple[str, ...]:
        """Return common single words, antonyms of a word in its first sense with antonyms.

        Senses after the third are rare, and do not count.
        """
        for number in range(1, SENSES + 1):
            synset = self._sense(lemma, part, number)
            found = (
                opposite.name()
                for same in (synset.lemmas() if synset else ())
                if same.name().lower() == lemma
                for opposite in same.antonyms()
            )
            if words := self._common_words(found, lemma, part):
                return words
        return ()

    @lru_cache(maxsize=100_000)  # noqa: B019
    def synonyms(self, lemma: str, part: str) -> tuple[str, ...]:
        """Return common single words whose first sense is the first sense of a word."""
        own = self._sense(lemma, part, 1)
        names = own.lemma_names() if own else ()
        found = (name for name in names if self._sense(name.lower(), part, 1) == own)
        return self._common_words(found, lemma, part)

    def _common_words(self, names: Iterable[str], lemma: str, part: str) -> tuple[str, ...]:
        """Keep common words of letters only, once each, without the word itself."""
        common = self._common(part)
        fit = (name for name in names if name.isalpha() and name.lower() in common)
        return tuple(name for name in dict.fromkeys(fit) if name.lower() != lemma)

    @lru_cache(maxsize=4)  # noqa: B019
    def _common(self, part: str) -> frozenset[str]:
        """Read the words that occur in WordNet's counted texts, with a tagged sense."""
        path = self.folder / f"index.{_name(part)}"
        rows = map(str.split, (row for row in read_lines(path) if not row.startswith(" ")))
        try:
            return frozenset(cells[0] for cells in rows if int(cells[5 + int(cells[3])]) > 0)
        except (ValueError, IndexError) as error:
            raise InputError(f"{path} is no index of WordNet: {error}") from None

    @lru_cache(maxsize=100_000)  # noqa: B019
    def _sense(self, lemma: str, part: str, number: int) -> Any:
        """Return a sense of a base form by number, the most frequent first; None if missing."""
        from nltk.corpus.reader.wordnet import WordNetError

        try:
            return self.reader.synset(f"{lemma}.{part}.{number:02d}")
        except WordNetError:
            return None

    @lru_cache(maxsize=4)  # noqa: B019
    def _exceptions(self, part: str) -> tuple[dict[str, list[str]], dict[str, tuple[str, ...]]]:
        """Read the irregular forms of a part of speech: form -> base forms, and back."""
        rows = map(str.split, read_lines(self.folder / f"{_name(part)}.exc"))
        bases = {form: rest for form, *rest in filter(None, rows)}
        forms: dict[str, tuple[str, ...]] = {}
        for form, rest in bases.items():
            for base in rest:
                forms[base] = (*forms.get(base, ()), form)
        return bases, forms


def _name(part: str) -> str:
    return next(name for name, letter in PARTS.items() if letter == part)


def open_wordnet(folder: str | Path | None = None) -> WordNet:
    """Open an installed database.

    Args:
        folder: None searches ``$WNSEARCHDIR``, ``$WNHOME/dict`` and the usual places.
    """
    found = find_wordnet(folder)
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError

    class Reader(WordNetCorpusReader):
        """The reader of a database without ``lexnames`` and a mapping to other versions."""

        def open(self, file: str) -> Any:
            if file == "lexnames":
                return io.StringIO("".join(f"{i} {name} 0\n" for i, name in enumerate(LEXNAMES)))
            return (found / file).open(encoding="utf-8")  # NLTK's own stream is slower

        def map_wn(self, version: str = "wordnet") -> None:
            return None

    if str(found) not in nltk.data.path:  # NLTK reads only from registered folders
        nltk.data.path.append(str(found))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about missing other languages
            return WordNet(Reader(str(found), None), found)
    except (WordNetError, StopIteration, ValueError, IndexError) as error:
        raise InputError(f"{found} holds a damaged WordNet database: {error!r}") from None


def find_wordnet(folder: str | Path | None = None) -> Path:
    """Return the folder of an installed database; see `open_wordnet`."""
    home = os.environ.get("WNHOME")
    places = (os.environ.get("WNSEARCHDIR"), home and f"{home}/dict", *USUAL)
    tried = [Path(p).expanduser() for p in ((folder,) if folder else places) if p]
    for place in tried:
        if all((place / name).is_file() for name in FILES):
            return place.resolve()
    raise FileNotFoundError(
        f"no WordNet database in {named(tried)} (files {FILES[0]}, {FILES[1]}, …): "
        "install one (Debian, Ubuntu: apt-get install wordnet-base; elsewhere: unpack the database "
        "files of Princeton's WordNet 3.0), or name its folder by --wordnet DIR"
    )
