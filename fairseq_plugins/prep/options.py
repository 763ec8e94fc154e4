"""Options of a translation preparation: a record with checks, and its command-line flags."""

from __future__ import annotations

import argparse
import re
from dataclasses import MISSING, asdict, dataclass
from pathlib import Path
from typing import Any

from ..syntax.layers import held_layers, needs_annotator, parse_features
from ..text.raw_text import NORMALIZERS, TOKENIZERS
from ..text.segment import SUBWORDS
from ..text.source_encoder import MISALIGNMENTS
from .running import CORES, RUNNING, RUNNING_FLAGS, Share

RESERVED = 4  # symbols of every fairseq dictionary: <s> <pad> </s> <unk>
LEAST = {
    "workers": 1,
    "bpe_size": 1,
    "sentencepiece_sample": 1,
    "bpe_vocabulary_threshold": 0,
    "thresholdsrc": 0,
    "thresholdtgt": 0,
    "nwordssrc": -1,
    "nwordstgt": -1,
    "min_words": 1,
    "max_words": 1,
    "max_characters": 1,
}
_POS = "feature 'pos'"
SUBWORD_OPTIONS = {
    "bpe_codes": "subword_nmt",
    "bpe_vocabulary_threshold": "subword_nmt",
    "sentencepiece_model": "sentencepiece",
    "srcvocab": "subword_nmt",
    "tgtvocab": "subword_nmt",
}
LATER = {"parse": False, "srcvocab": None, "tgtvocab": None}  # recorded only where they are given


@dataclass
class TranslationOptions:
    """Everything that decides the content of a prepared folder.

    Names and defaults follow ``fairseq-preprocess`` where it has the option; `FLAGS` documents
    each one.
    """

    source_lang: str
    target_lang: str
    destdir: str
    trainpref: str | None = None
    validpref: str | None = None
    testpref: str | None = None
    features: str = "pos,case,subword"
    spacy_model: str = ""
    conllu: bool = False
    parse: bool = False
    tokenizer: str = "moses"
    normalizer: str = "none"
    subwords: str = "subword_nmt"
    bpe_size: int = 8000
    bpe_codes: str | None = None
    bpe_vocabulary_threshold: int = 0
    sentencepiece_model: str | None = None
    sentencepiece_sample: int = 1_000_000
    srcvocab: str | None = None
    tgtvocab: str | None = None
    joined_dictionary: bool = False
    srcdict: str | None = None
    tgtdict: str | None = None
    thresholdsrc: int = 0
    thresholdtgt: int = 0
    nwordssrc: int = -1
    nwordstgt: int = -1
    min_words: int = 1
    max_words: int = 250
    max_ratio: float = 0.0
    max_characters: int = 20_000
    on_misalignment: str = "repair"
    only_source: bool = False
    workers: int = CORES
    overwrite: bool = False
    shard: str = ""
    merge: bool = False

    def __post_init__(self) -> None:
        """Check everything that can be checked without opening a file."""
        self.share = Share.parse(self.shard, merge=self.merge)
        self.feature_names = parse_features(self.features)
        for value, choices, flag in (
            (self.tokenizer, TOKENIZERS, "--tokenizer"),
            (self.normalizer, NORMALIZERS, "--normalizer"),
            (self.subwords, SUBWORDS, "--subwords"),
            (self.on_misalignment, MISALIGNMENTS, "--on-misalignment"),
        ):
            if value not in choices:
                raise ValueError(f"{flag} {value!r}: choices are {', '.join(choices)}")
        if not (self.trainpref or self.validpref or self.testpref):
            raise ValueError("nothing to prepare: give --trainpref, --validpref or --testpref")
        self._check_languages()
        self._check_numbers()
        self._check_models()

    def _check_languages(self) -> None:
        for flag, lang in (("-s", self.source_lang), ("-t", self.target_lang)):
            if not re.fullmatch(r"\w+", lang):
                raise ValueError(
                    f"{flag} {lang!r}: a language code is letters, digits or _ (fairseq names "
                    "files by it)"
                )
        if self.source_lang == self.target_lang:
            raise ValueError(f"source and target language are both {self.source_lang!r}")

    def _check_numbers(self) -> None:
        for name, least in LEAST.items():
            value = getattr(self, name)
            if not value >= least:
                raise ValueError(f"{flag_of(name)} {value}: must be at least {least}")
        for name in ("nwordssrc", "nwordstgt"):
            if 0 < getattr(self, name) <= RESERVED:
                raise ValueError(
                    f"{flag_of(name)} {getattr(self, name)}: fairseq's own {RESERVED} symbols "
                    "count too (-1: keep all)"
                )
        if self.min_words > self.max_words:
            raise ValueError(f"--min-words {self.min_words} is above --max-words {self.max_words}")
        if not (self.max_ratio == 0 or self.max_ratio >= 1):
            raise ValueError(f"--max-ratio {self.max_ratio}: 0 (off) or at least 1")

    def _check_models(self) -> None:
        if self.tokenizer == "none" and self.subwords == "none":
            raise ValueError("--tokenizer none --subwords none leaves whole lines uncut")
        for name, kind in SUBWORD_OPTIONS.items():
            if getattr(self, name) and self.subwords != kind:
                raise ValueError(f"{flag_of(name)} needs --subwords {kind}, not {self.subwords}")
        if (self.srcvocab or self.tgtvocab) and not self.bpe_codes:
            raise ValueError("--srcvocab and --tgtvocab limit existing codes: give --bpe-codes")
        if (self.srcvocab or self.tgtvocab) and self.bpe_vocabulary_threshold:
            raise ValueError("--bpe-vocabulary-threshold makes what --srcvocab gives: not both")
        if self.joined_dictionary and self.srcdict and self.tgtdict:
            raise ValueError("--joined-dictionary takes --srcdict or --tgtdict, not both")
        if not self.trainpref:
            self._check_given()
        if self.needs_spacy and not self.spacy_model and self.source_lang != "en":
            raise ValueError(
                f"{'--parse' if self.parse else _POS} for {self.source_lang!r} needs --spacy-model "
                "or --conllu (the bundled pipeline is English)"
            )

    def _check_given(self) -> None:
        """Without training text nothing can be learnt or counted."""
        joined = self.joined_dictionary and (self.srcdict or self.tgtdict)
        needed = {"--srcdict": joined or self.srcdict}
        if not self.only_source:
            needed["--tgtdict"] = joined or self.tgtdict
        if self.subwords == "subword_nmt":
            needed["--bpe-codes"] = self.bpe_codes
        if self.subwords == "sentencepiece":
            needed["--sentencepiece-model"] = self.sentencepiece_model
        missing = [flag for flag, value in needed.items() if not value]
        if missing:
            raise ValueError(f"without --trainpref these are needed: {', '.join(missing)}")
        if self.bpe_vocabulary_threshold:
            raise ValueError("--bpe-vocabulary-threshold counts subwords: it needs --trainpref")

    @property
    def needs_spacy(self) -> bool:
        """Whether a spaCy pipeline annotates the source."""
        return self.annotated and not self.conllu

    @property
    def annotated(self) -> bool:
        """Whether something tags or parses the source."""
        return needs_annotator(self.layers)

    @property
    def layers(self) -> list[str]:
        """Names of the layers that the folder will hold, in column order."""
        return held_layers(self.feature_names, self.parse)

    @property
    def pair(self) -> str:
        """``en-de``."""
        return f"{self.source_lang}-{self.target_lang}"

    def prefixes(self) -> dict[str, Path]:
        """Split name -> path prefix; commas give ``valid``, ``valid1``, … as in fairseq."""
        found = {}
        for split, value in (
            ("train", self.trainpref),
            ("valid", self.validpref),
            ("test", self.testpref),
        ):
            for k, prefix in enumerate(value.split(",") if value else []):
                if not prefix.strip():
                    raise ValueError(f"--{split}pref {value!r}: a prefix is empty")
                found[f"{split}{k or ''}"] = Path(prefix.strip())
        return found

    @property
    def cuts_at_once(self) -> bool:
        """Whether a chunk can be cut into subwords before all others are annotated."""
        given = self.bpe_codes or self.sentencepiece_model or self.subwords == "none"
        return bool(given) and not self.bpe_vocabulary_threshold

    def input_files(self) -> dict[str, dict[str, Path]]:
        """Split -> side (source, target, conllu) -> file; FileNotFoundError names a missing one."""
        found = {}
        for split, prefix in self.prefixes().items():
            sides = {"source": Path(f"{prefix}.{self.source_lang}")}
            if not self.only_source:
                sides["target"] = Path(f"{prefix}.{self.target_lang}")
            if self.conllu:
                sides["conllu"] = Path(f"{prefix}.{self.source_lang}.conllu")
            found[split] = sides
        for path in (path for sides in found.values() for path in sides.values()):
            if not path.is_file():
                raise FileNotFoundError(f"no file {str(path)!r}")
        return found

    def given_models(self) -> dict[str, Path]:
        """Existing subword models and dictionaries; FileNotFoundError names a missing one."""
        names = ("bpe_codes", "sentencepiece_model", "srcvocab", "tgtvocab", "srcdict", "tgtdict")
        found = {name: Path(getattr(self, name)) for name in names if getattr(self, name)}
        for name, path in found.items():
            if not path.is_file():
                raise FileNotFoundError(f"{flag_of(name)}: no file {str(path)!r}")
        return found

    def recorded(self) -> dict[str, Any]:
        """The options that decide the content."""
        body = asdict(self)
        for name in RUNNING:
            body.pop(name)
        for name, default in LATER.items():  # folders of before there was the option stay as good
            if body[name] == default:
                body.pop(name)
        return body


FLAGS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("source_lang", "source language", {"short": "-s", "required": False}),
    ("target_lang", "target language", {"short": "-t", "required": False}),
    ("destdir", "folder to write, e.g. data-bin/multi30k", {}),
    ("trainpref", "train file prefix: PREFIX.en, PREFIX.de", {}),
    ("validpref", "comma-separated valid file prefixes (the first is 'valid')", {}),
    ("testpref", "comma-separated test file prefixes", {}),
    ("features", "features of the source subwords, of: pos,case,subword ('' for none)", {}),
    (
        "spacy_model",
        "installed spaCy pipeline or path (default: the bundled English one); beside --conllu it "
        "is for raw text in inference",
        {},
    ),
    ("conllu", "read PREFIX.SOURCE.conllu beside each source file instead of tagging", {}),
    ("parse", "keep each word's head as well (for --encoder-attention sla)", {}),
    ("tokenizer", f"what input lines are: {' | '.join(TOKENIZERS)}", {}),
    ("normalizer", f"punctuation normalisation before it: {' | '.join(NORMALIZERS)}", {}),
    ("subwords", f"subword method: {' | '.join(SUBWORDS)}", {}),
    ("bpe_size", "merge operations, or sentencepiece vocabulary size (joint)", {}),
    ("bpe_codes", "existing subword-nmt codes", {}),
    ("bpe_vocabulary_threshold", "cut subwords rarer than this further, per language", {}),
    ("sentencepiece_model", "existing sentencepiece model", {}),
    ("sentencepiece_sample", "learn sentencepiece from at most this many lines", {}),
    ("srcvocab", "source subwords that existing codes may make, others are cut further", {}),
    ("tgtvocab", "target subwords that existing codes may make, others are cut further", {}),
    ("joined_dictionary", "one dictionary for both languages", {}),
    ("srcdict", "existing source dictionary", {}),
    ("tgtdict", "existing target dictionary", {}),
    ("thresholdsrc", "map source subwords rarer than this to <unk>", {}),
    ("thresholdtgt", "map target subwords rarer than this to <unk>", {}),
    ("nwordssrc", "size of the source dictionary, fairseq's 4 symbols included (-1: all)", {}),
    ("nwordstgt", "size of the target dictionary, fairseq's 4 symbols included (-1: all)", {}),
    ("min_words", "drop training pairs with fewer words on a side", {}),
    ("max_words", "drop training pairs with more words on a side", {}),
    ("max_ratio", "drop training pairs whose lengths differ by more than this factor (0: off)", {}),
    ("max_characters", "longest line that is a sentence", {}),
    ("on_misalignment", f"annotation unlike the text: {' | '.join(MISALIGNMENTS)}", {}),
    ("only_source", "no target files", {}),
    *RUNNING_FLAGS,
)


def flag_of(name: str) -> str:
    """Return an option as it stands on the command line."""
    return f"--{name.replace('_', '-')}"


def add_flags(
    parser: argparse.ArgumentParser, record: type = TranslationOptions, flags: Any = FLAGS
) -> None:
    """Add one flag per option; defaults come from the record."""
    for name, text, extra in flags:
        spec = record.__dataclass_fields__[name]
        names = [*([extra["short"]] if "short" in extra else []), flag_of(name)]
        if spec.type == "bool":
            parser.add_argument(*names, action="store_true", help=text)
            continue
        kind = {"int": int, "float": float}.get(spec.type, str)
        if spec.default is MISSING:
            needed = extra.get("required", True)
            parser.add_argument(*names, type=kind, required=needed, help=text)
        else:
            shown = "" if spec.default in (None, "") else f" (default: {spec.default})"
            parser.add_argument(*names, type=kind, default=spec.default, help=text + shown)
