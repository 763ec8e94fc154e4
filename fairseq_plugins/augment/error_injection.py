"""Grammatical errors in the sentences of a treebank, as data for error detection.

The errors of a sentence depend only on the seed, the sentence and its ``sent_id``. Some sentences
stay correct on purpose; each of the others gets a random number of errors, at least one, each with
a random kind and place, so that no two touch. Misspellings that the treebank marks (``Typo=Yes``)
count as wrong words.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ..corpora.conllu import Line, Word, read_blocks, sentence_id, treebank_words
from ..corpora.readers.tokens import CORRECT, INCORRECT
from ..errors import InputError
from ..files import write_text
from ..messages import quoted
from ..option_flags import check, option
from ..text_reading import numbered_lines
from .carried_trees import carried_tree
from .error_rules import RULES, ParsedSentence, WordEdit, edits_of
from .seeded_random import random_for


@dataclass(frozen=True)
class Injection:
    """Kinds and number of errors."""

    seed: int = option("seed of all random choices")
    rate: float = option(
        "expected number of errors per word in sentences that get errors (each gets at least one)",
        0.15,
        least=0,
        most=1,
    )
    erroneous: float = option("share of sentences that get errors", 0.7, least=0, most=1)
    kinds: str = option("kinds of errors, separated by commas", ",".join(RULES))

    def __post_init__(self) -> None:
        check(self)
        if not set(self.names) <= RULES.keys() or len(set(self.names)) != len(self.names):
            raise InputError(f"--kinds {self.kinds!r}: choices, each once, are {', '.join(RULES)}")

    @property
    def names(self) -> list[str]:
        """The kinds, of `RULES`."""
        return [kind.strip() for kind in self.kinds.split(",")]


@dataclass(frozen=True)
class Injected:
    """A sentence with its errors."""

    words: list[str]  # W words after the edits
    labels: list[str]  # W labels, ``c`` or ``i``
    kinds: list[str]  # of the injected errors
    meant: bool  # whether the sentence should get errors; it has none if no kind applies
    edits: list[WordEdit]  # all edits

    def counts(self) -> Counter[str]:
        """Return the sentence's part of the counts of `inject_file`."""
        wrong = self.labels.count(INCORRECT)
        own = {"sentences": 1, "erroneous": wrong > 0, "untouched": self.meant and not self.kinds}
        return Counter(self.kinds) + Counter(own | {"words": len(self.words), "wrong": wrong})


def inject(words: Sequence[Word], name: str, injection: Injection) -> Injected:
    """Inject errors into one parsed sentence with ``sent_id`` ``name`` (may be empty)."""
    random = random_for(injection.seed, name, *(word.form for word in words))
    own = {
        i for i, w in enumerate(words) if w.feats.get("Typo") == "Yes" or w.relation == "goeswith"
    }
    meant = random.random() < injection.erroneous
    chosen: list[tuple[str, WordEdit]] = []
    if meant:
        count = max(1, sum(random.random() < injection.rate for _ in words))
        chosen = _choose(ParsedSentence(words), own, count, injection.names, random)
    labels = [INCORRECT if i in own else CORRECT for i in range(len(words))]
    forms = [word.form for word in words]
    for _, (first, last, put, wrong) in sorted(chosen, key=lambda pair: pair[1], reverse=True):
        forms[first:last] = put
        labels[first:last] = [INCORRECT] * wrong + [CORRECT] * (len(put) - wrong)
    kinds, edits = [kind for kind, _ in chosen], [edit for _, edit in chosen]
    return Injected(forms, labels, kinds, meant, edits)


def _choose(
    sentence: ParsedSentence, taken: set[int], count: int, kinds: Sequence[str], random: Random
) -> list[tuple[str, WordEdit]]:
    """Draw at most ``count`` edits that touch neither each other nor taken words."""
    places = {kind: edits_of(kind, sentence, random) for kind in kinds}
    taken, chosen = set(taken), []
    while len(chosen) < count:
        for kind, edits in places.items():
            places[kind] = [e for e in edits if taken.isdisjoint(range(e.first, e.last))]
        left = [kind for kind in kinds if places[kind]]
        if not left:
            break
        kind = random.choices(left, [RULES[kind][1] for kind in left])[0]
        edit = random.choice(places[kind])
        taken.update(range(edit.first, edit.last))
        chosen.append((kind, edit))
    return chosen


def inject_file(
    source: Path, output: Path, injection: Injection, trees: Path | None = None
) -> Counter[str]:
    """Inject errors into a treebank; write words and labels as a token file.

    Args:
        source: CoNLL-U file of the treebank.
        output: token file.
        injection: kinds and number of errors.
        trees: CoNLL-U file to write of the same sentences, see `carried_trees`, or None.

    Returns:
        Counts: ``sentences``, ``erroneous`` (of these), ``untouched`` (should get errors, but no
            kind applies), ``words``, ``wrong`` (of these), and the errors of each kind.
    """
    source = Path(source)
    _check_paths(source, {"--output": output, "--trees": trees})
    counts: Counter[str] = Counter()
    rows, parsed = [], []
    for block in read_blocks(numbered_lines(source)):
        if not (words := _checked_words(block, source)):
            continue
        done = inject(words, sentence_id(block), injection)
        counts.update(done.counts())
        rows += [f"{word}\t{label}\n" for word, label in zip(done.words, done.labels)] + ["\n"]
        if trees:
            parsed += _parsed(words, done.edits, f"{source}:{words[0].line}")
    if not rows:
        raise InputError(f"{source}: no sentences")
    if trees:
        write_text(trees, "".join(parsed))
    write_text(output, "".join(rows))
    return counts


def _check_paths(source: Path, outputs: Mapping[str, Path | None]) -> None:
    """Refuse a missing source or folder, and equal files."""
    if not source.is_file():
        raise FileNotFoundError(f"no file {str(source)!r}")
    places = {source.resolve(): "the treebank"}
    for flag, path in outputs.items():
        if path and not Path(path).parent.is_dir():
            raise FileNotFoundError(f"{flag}: no folder {str(Path(path).parent)!r}")
        if path and (other := places.setdefault(Path(path).resolve(), flag)) != flag:
            raise InputError(f"{flag} {str(path)!r} is {other}")


def _checked_words(block: Sequence[Line], source: Path) -> list[Word]:
    """Return the words of a sentence; refuse a word that is empty or has a blank inside."""
    words = treebank_words(block, source)
    for word in words:
        if not word.form or any(character.isspace() for character in word.form):
            what = f"word {quoted(word.form)} is empty or has a blank inside"
            raise InputError(f"{source}:{word.line}: {what}")
    return words


def _parsed(words: Sequence[Word], edits: Sequence[WordEdit], place: str) -> Iterator[str]:
    try:
        carried = carried_tree(words, edits)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    for number, word in enumerate(carried, 1):
        columns = (number, word.form, "_", word.upos, "_", "_", word.head, word.relation, "_", "_")
        yield "\t".join(map(str, columns)) + "\n"
    yield "\n"
