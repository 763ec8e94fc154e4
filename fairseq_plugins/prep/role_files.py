"""Files of semantic roles as CoNLL-U, for `prepare text` beside sentences, pairs and tokens.

The roles of the k-th predicate become the key ``srlk`` of MISC, and so the layer ``given.srlk``. Of
more predicates than layers the first ones stay, in the file's order, as in SemBERT's program
(github.com/cooelf/SemBERT, ``data_process/datasets.py``). With fewer predicates, further layers
have ``O`` at all words; SemBERT's program repeats the predicate with most roles instead.

Other columns come from a CoNLL-U file of the same words or from an annotator, or are empty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..corpora.conllu import checked_rows, read_blocks
from ..corpora.readers.tokens import OUTSIDE
from ..corpora.role_columns import Predicates, RoleColumns, read_roles
from ..errors import InputError
from ..files import replacing
from ..messages import quoted
from ..option_flags import check, option
from ..syntax.annotation import Annotation
from ..syntax.labels import NO_VALUE
from ..syntax.layers import HEADS, PARSE, RELATIONS
from ..text.annotators import load_annotator
from ..text_reading import numbered_lines

SIDE = "parataxis"  # relation of a sentence to the one before, in Universal Dependencies
TOGETHER = 1000  # sentences in one call of the annotator


@dataclass(frozen=True, kw_only=True)
class RoleFiles(RoleColumns):
    """Options of a conversion."""

    roles: str = option("file of semantic roles: one word per line, one column per predicate")
    output: str = option(
        "CoNLL-U file to write, for --train-conllu, --valid-conllu or --test-conllu"
    )
    predicates: int = option("maximum number of predicates kept of a sentence", 3, least=1)
    name: str = option("name of the layers: srl makes given.srl1, given.srl2, ...", "srl")
    conllu: str = option("CoNLL-U file of the same words, to which the roles are added", "")
    annotator: str = option(
        "annotator that adds parts of speech and trees: bundled, an installed spaCy pipeline, its "
        "path, or udpipe:MODEL (default: none)",
        "",
    )

    def __post_init__(self) -> None:
        check(self)
        if not re.fullmatch(r"\w+", self.name):
            raise InputError(f"--name {quoted(self.name)}: must be letters, digits and _")
        if self.conllu and self.annotator:
            raise InputError(
                "--conllu has parts of speech and trees already: leave out --annotator"
            )

    @property
    def keys(self) -> list[str]:
        """Keys of MISC."""
        return [f"{self.name}{k}" for k in range(1, self.predicates + 1)]


def convert(options: RoleFiles) -> Counter[str]:
    """Write a file of roles as CoNLL-U.

    Returns:
        Counts: ``sentences``, ``predicates``; ``crowded`` sentences with too many predicates, and
            the predicates ``left out``; ``bare`` sentences without any.
    """
    _check_files(options)
    counts: Counter[str] = Counter()
    with replacing(options.output, "w") as stream:
        for sentence, lines in _rows(options):
            counts["sentences"] += 1
            counts["predicates"] += len(sentence.roles)
            counts["left out"] += (more := max(0, len(sentence.roles) - options.predicates))
            counts["crowded"] += more > 0
            counts["bare"] += not sentence.roles
            stream.write("".join(f"{line}\n" for line in [*lines, ""]))
        if not counts:
            raise InputError(f"{options.roles}: no sentences")
    return counts


def _check_files(options: RoleFiles) -> None:
    """Refuse missing files, and an output that would replace an input."""
    output = Path(options.output)
    for path in map(Path, filter(None, (options.roles, options.conllu))):
        if not path.is_file():
            raise FileNotFoundError(f"no file {str(path)!r}")
        if output.exists() and output.samefile(path):
            raise InputError(f"--output {options.output}: would replace what is read; name another")
    if not output.parent.is_dir():
        raise FileNotFoundError(f"--output: no folder {str(output.parent)!r}")
    if output.is_dir():
        raise InputError(f"--output {quoted(options.output)}: is no name of a file")


def _rows(options: RoleFiles) -> Iterator[tuple[Predicates, list[str]]]:
    sentences = read_roles(Path(options.roles), options)
    if options.conllu:
        yield from _beside(sentences, options)
        return
    annotator = load_annotator(PARSE, options.annotator) if options.annotator else None
    while some := [*islice(sentences, TOGETHER)]:
        notes = [None] * len(some)
        if annotator is not None:
            notes = annotator.annotate_words([sentence.words for sentence in some])
        for sentence, note in zip(some, notes):
            yield sentence, _lines(sentence, note, options)


def _one_tree(layers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sentence's layers with a single root; further roots depend on the first by `SIDE`.

    An annotator may split a text into several sentences, but CoNLL-U needs one root.
    """
    heads = [*layers.get(HEADS, [])]
    relations = [*layers.get(RELATIONS, [NO_VALUE] * len(heads))]
    roots = [place for place, head in enumerate(heads) if head == 0]
    for place in roots[1:]:
        heads[place], relations[place] = roots[0] + 1, SIDE
    return {**layers, HEADS: heads, RELATIONS: relations} if heads else {**layers}


def _lines(sentence: Predicates, note: Annotation | None, options: RoleFiles) -> list[str]:
    """Return the lines of a sentence, with an annotator's layers or empty columns."""
    blank = [NO_VALUE] * len(sentence.words)
    told: Any = dict.fromkeys(PARSE, blank) if note is None else _one_tree(note.layers)
    columns = zip(
        sentence.words, *(told.get(name, blank) for name in PARSE), _misc(sentence, options)
    )
    return [
        "\t".join([f"{i}", word, "_", pos, "_", "_", f"{head}", relation, "_", misc])
        for i, (word, pos, head, relation, misc) in enumerate(columns, 1)
    ]


def _misc(sentence: Predicates, options: RoleFiles) -> list[str]:
    blank = [OUTSIDE] * len(sentence.words)
    kept = [*sentence.roles, *[blank] * options.predicates][: options.predicates]
    return ["|".join(map("=".join, zip(options.keys, labels))) for labels in zip(*kept)]


def _beside(
    sentences: Iterator[Predicates], options: RoleFiles
) -> Iterator[tuple[Predicates, list[str]]]:
    """Add roles to the sentences of a CoNLL-U file."""
    path = Path(options.conllu)
    for block in read_blocks(numbered_lines(path)):
        words = checked_rows(block, path)[0]
        if not words:
            continue
        sentence = next(sentences, None)
        found = [fields[1] for _, fields in words]
        if sentence is None or sentence.words != found:
            raise InputError(_unlike(options, words[0][0], found, sentence))
        misc = dict(zip((line for line, _ in words), _misc(sentence, options)))
        yield sentence, [_joined(line, text, misc, options.keys) for line, text in block]
    if (left := next(sentences, None)) is not None:
        raise InputError(
            f"{options.roles}:{left.line}: the sentence {quoted(' '.join(left.words))} comes after "
            f"all those of {path}"
        )


def _unlike(options: RoleFiles, line: int, found: list[str], due: Predicates | None) -> str:
    where = f"{options.conllu}:{line}: the sentence {quoted(' '.join(found))}"
    if due is None:
        return f"{where} comes after all those of {options.roles}"
    return f"{where} is not that of {options.roles}:{due.line}, {quoted(' '.join(due.words))}"


def _joined(line: int, text: str, misc: dict[int, str], keys: Sequence[str]) -> str:
    """Return a line of CoNLL-U with new MISC pairs, which replace those with the same keys."""
    if line not in misc:
        return text
    *fields, last = text.split("\t")
    kept = [pair for pair in last.split("|") if pair.partition("=")[0] not in {*keys, NO_VALUE}]
    return "\t".join([*fields, "|".join([*kept, misc[line]])])
