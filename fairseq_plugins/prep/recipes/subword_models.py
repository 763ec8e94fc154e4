"""The subword models and dictionaries of a preparation: given, from an earlier run, or learnt."""

import logging
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...data.dictionaries import build_dictionary, load_dictionary, token_ids
from ...data.translation_manifest import CODES, PIECES
from ...errors import InputError
from ...files import copy, replacing, write_bytes, write_text
from ...option_flags import flag_of
from ...syntax.forms import Form
from ...syntax.rows import Rows
from ...text import segment
from ...text.protected import PLACES, STAND_INS, plain
from ...text.sampled import drawable
from ..chunks import Chunk, EncodedChunk
from .translation_chunks import SOURCE, TARGET, annotated_rows
from .translation_options import TranslationOptions

logger = logging.getLogger(__name__)

SIDES = (SOURCE, TARGET)
WordCounts = Callable[[], dict[str, Counter[str]]]  # by side


def obtain_models(
    options: TranslationOptions, jobs: list[Chunk], work: Path, folder: Path
) -> tuple[tuple[segment.Segmenter, segment.Segmenter], dict[str, dict[str, Any]]]:
    """Copy or learn the model into ``folder`` and load it for both sides.

    Returns:
        The source's and the target's segmenter, and the manifest's entries by side.
    """
    kind, name = options.subwords, {"subword_nmt": CODES, "sentencepiece": PIECES}
    model = folder / name[kind] if kind in name else None
    train = [job for job in jobs if job.split.startswith("train")]
    counts = cache(partial(word_counts, options, train))  # read once, on demand
    if model:
        learnt = work / name[kind]
        given = options.bpe_codes if kind == "subword_nmt" else options.sentencepiece_model
        if not given and not learnt.is_file():
            _learn(options, train, counts, learnt)
        copy(given or learnt, model)
    vocabularies = _vocabularies(options, counts, model, folder)
    sides, segmenters, how = {}, [], {"sequences": True} if options.sequences else {}
    for side, lang in (("source", options.source_lang), ("target", options.target_lang)):
        vocabulary, file = vocabularies.get(lang, (None, None))
        segmenters.append(segment.load_segmenter(kind, model, vocabulary, **how))
        sides[side] = {
            "tokenizer": options.tokenizer,
            "normalizer": options.normalizer,
            "subwords": kind,
            "model": model.name if model else None,
            "vocabulary": file,
            **how,
        }
        if form := getattr(options, f"{side}_form"):
            sides[side]["form"] = form
    return (segmenters[0], segmenters[1]), sides


def _learn(options: TranslationOptions, jobs: list[Chunk], counts: WordCounts, path: Path) -> None:
    """Learn the joint model from both sides of the training chunks."""
    logger.info("learning %s (%d)", options.subwords, options.bpe_size)
    if options.subwords == "subword_nmt":
        codes = segment.learn_codes(counts()[SOURCE] + counts()[TARGET], options.bpe_size)
        write_text(path, codes)
        _warn_of_few_merges(codes, options.bpe_size)
        return
    rows = (row for job in jobs for row in annotated_rows(job))
    texts = (row[side] for row in rows for side in ("t", "y") if row[side])
    lines = map(plain, texts) if options.protect else texts
    write_bytes(
        path, segment.learn_sentencepiece(lines, options.bpe_size, options.sentencepiece_sample)
    )


def _warn_of_few_merges(codes: str, wanted: int) -> None:
    """Warn if learning ended early: then every repeated word is one piece."""
    found = codes.count("\n") - 1  # the first line is the format's version
    if found < wanted:
        logger.warning(
            "only %d of %d merges (--bpe-size) were found: words that stand twice in the training "
            "text are not cut; a smaller --bpe-size, such as %d, cuts rare words, and new words "
            "share their pieces",
            *(found, wanted, max(1, found // 4)),
        )


def word_counts(options: TranslationOptions, jobs: list[Chunk]) -> dict[str, Counter[str]]:
    """Count the words of annotated chunks, on both sides."""
    found: dict[str, Counter[str]] = {side: Counter() for side in SIDES}
    for row in chain.from_iterable(map(annotated_rows, jobs)):
        found[SOURCE].update(row["t"].split())
        found[TARGET].update(row["y"].split())
    for counts in found.values() if options.protect else ():
        for one in STAND_INS:
            del counts[one]
    return found


def _vocabularies(
    options: TranslationOptions, counts: WordCounts, model: Path | None, folder: Path
) -> dict[str, tuple[set[str], str]]:
    """Write and return the allowed subwords: given ones, or the frequent ones."""
    given = {options.source_lang: options.srcvocab, options.target_lang: options.tgtvocab}
    if any(given.values()):
        copied = {lang: (path, f"vocab.{lang}") for lang, path in given.items() if path}
        for path, name in copied.values():
            copy(path, folder / name)
        return {
            lang: (segment.read_vocabulary(path), name) for lang, (path, name) in copied.items()
        }
    threshold = options.bpe_vocabulary_threshold
    if model is None or options.subwords != "subword_nmt" or not threshold:
        return {}
    segmenter = segment.BpeSegmenter(model, sequences=options.sequences)
    found, sides = {}, [(SOURCE, options.source_lang), (TARGET, options.target_lang)]
    for side, lang in sides[:1] if options.only_source else sides:
        pieces = segment.subword_counts(segmenter, counts()[side])
        kept = {piece: n for piece, n in pieces.items() if n >= threshold}
        if not kept:
            raise InputError(
                f"--bpe-vocabulary-threshold {threshold}: no subword of {lang} is that frequent"
            )
        rows = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
        write_text(folder / f"vocab.{lang}", "".join(f"{piece} {n}\n" for piece, n in rows))
        found[lang] = (set(kept), f"vocab.{lang}")
    return found


def check_given(options: TranslationOptions) -> None:
    """Load and drop the given subword model and dictionaries, to refuse unfit files at once."""
    for name, path in options.given_models().items():
        if name == "bpe_codes":
            segment.check_codes(path)
        elif name == "sentencepiece_model":
            segment.load_segmenter("sentencepiece", path)
        elif name.endswith("vocab"):
            segment.read_vocabulary(path)
        else:
            form = options.forms["source" if name == "srcdict" else "target"]
            dictionary = load_dictionary(path)
            form.ids(dictionary)
            if options.protect and (lacking := [p for p in PLACES if p not in dictionary]):
                raise InputError(
                    f"{flag_of(name)} {path} has no {lacking[0]}, which --protect needs: take the "
                    "dictionary of a folder prepared with --protect"
                )


def write_dictionaries(
    options: TranslationOptions,
    chunks: list[Chunk],
    folder: Path,
    segmenters: tuple[segment.Segmenter, segment.Segmenter],
) -> dict[str, Any]:
    """Load or build the dictionaries of both sides (of the source alone without target); save them.

    With ``--samples`` they also have the subwords that samples may add.

    Returns:
        Side -> dictionary.
    """
    counts = _train_counts(options, chunks, segmenters)
    given = {SOURCE: options.srcdict, TARGET: options.tgtdict}
    limits = {
        SOURCE: (options.thresholdsrc, options.nwordssrc),
        TARGET: (options.thresholdtgt, options.nwordstgt),
    }
    if options.joined_dictionary:
        given = dict.fromkeys(SIDES, options.srcdict or options.tgtdict)
        counts = dict.fromkeys(SIDES, counts[SOURCE] + counts[TARGET])
        limits[TARGET] = limits[SOURCE]
    made = {}
    for side, lang in zip(SIDES, (options.source_lang, options.target_lang)):
        if side == TARGET and options.only_source and not given[side]:
            continue
        path = given[side]
        made[side] = (
            load_dictionary(path) if path else build_dictionary(counts[side], *limits[side])
        )
        if options.protect and not path:
            for place in PLACES:
                made[side].add_symbol(place, n=0)
            made[side].pad_to_multiple_(8)
        with replacing(folder / f"dict.{lang}.txt", "w") as stream:
            made[side].save(stream)
    return made


def _train_counts(
    options: TranslationOptions,
    chunks: list[Chunk],
    segmenters: tuple[segment.Segmenter, segment.Segmenter],
) -> dict[str, Counter[str]]:
    """Count the subwords of training text; those that only samples have are the rarest."""
    counts: dict[str, Counter[str]] = {side: Counter() for side in SIDES}
    train = [chunk for chunk in chunks if chunk.split.startswith("train")]
    for chunk in train:
        encoded = EncodedChunk.load(chunk.encoded, dict.fromkeys(SIDES, 0))
        for side in SIDES:
            counts[side].update(symbol_counts(encoded, side))
    if not options.samples or (options.srcdict and options.tgtdict):
        return counts
    words, least = word_counts(options, train), max(1, options.thresholdsrc, options.thresholdtgt)
    for side, segmenter in zip(SIDES, segmenters):
        for piece in drawable(segmenter, words[side]):
            counts[side].setdefault(piece, least)
    return counts


def symbol_counts(chunk: EncodedChunk, side: str) -> Counter[str]:
    """Count the subwords of a side of a chunk."""
    symbols = chunk.symbols[side]
    found = np.bincount(chunk.streams[side].values, minlength=len(symbols)).tolist()
    return Counter(dict(zip(symbols, found)))


def look_up(
    chunk: EncodedChunk, side: str, dictionary: Any, form: Form
) -> tuple[Rows, Counter[str]]:
    """Return the ids of a side of a chunk in its form, and the unknown subwords."""
    symbols = chunk.symbols[side]
    ids = token_ids(dictionary, symbols)[:-1]
    lacking = {symbol for symbol, i in zip(symbols, ids) if i == dictionary.unk()}
    counts = symbol_counts(chunk, side) if lacking else {}
    rows = chunk.streams[side]
    before, after = form.ids(dictionary)
    places = np.repeat([rows.ends - rows.lengths, rows.ends], form.sizes, axis=0)  # (added, N)
    added = np.tile([*before, *after], len(rows))
    values = np.insert(np.array(ids, np.int64)[rows.values], places.T.ravel(), added)
    lacked = Counter({k: n for k, n in counts.items() if k in lacking})
    return Rows(values, rows.lengths + sum(form.sizes)), lacked
