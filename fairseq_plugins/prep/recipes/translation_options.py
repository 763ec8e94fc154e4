"""Options of a translation preparation: a record whose fields are flags, and its checks."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...option_flags import check, flag_of, option
from ...syntax.forms import Form
from ...syntax.layers import (
    OF_PAIRS,
    given_names,
    held_layers,
    layers_of,
    parse_features,
    parse_targets,
)
from ...text.annotators import needs_annotator
from ...text.protected import READY, Protection
from ...text.raw_text import NORMALIZERS, TOKENIZERS
from ...text.segment import SUBWORDS
from ...text.source_encoder import MISALIGNMENTS
from ..running import Shard, recorded, running
from .layer_options import apart, layer_option, read_layers, unrecorded

RESERVED = 4  # symbols of every fairseq dictionary: <s> <pad> </s> <unk>
FEATURES = "pos,case,subword"
TARGET_CONLLU = "target_conllu"  # a side of a split
SUBWORD_OPTIONS = {
    "bpe_codes": "subword_nmt",
    "bpe_vocabulary_threshold": "subword_nmt",
    "sentencepiece_model": "sentencepiece",
    "srcvocab": "subword_nmt",
    "tgtvocab": "subword_nmt",
}
MODELS = ("bpe_codes", "sentencepiece_model", "srcvocab", "tgtvocab", "srcdict", "tgtdict")
LATER = {  # recorded only if given
    "parse": False,
    "srcvocab": None,
    "tgtvocab": None,
    "target_layers": "",
    "target_conllu": False,
    "target_annotator": "",
    "samples": 0,
    "bpe_dropout": None,
    "sentencepiece_alpha": None,
    "source_form": "",
    "target_form": "",
    "protect": "",
}
SAMPLED = {"subword_nmt": "bpe_dropout", "sentencepiece": "sentencepiece_alpha"}
USUAL_RATE = 0.1  # of both, in the papers


@dataclass
class TranslationOptions:
    """All options that decide the content of a prepared folder.

    Names and defaults follow ``fairseq-preprocess`` where possible.
    """

    source_lang: str = option("source language", short="-s", required=False)
    target_lang: str = option("target language", short="-t", required=False)
    destdir: str = option("folder to write the prepared data to, e.g. data-bin/multi30k")
    trainpref: str | None = option(
        "prefix of the training files, e.g. PREFIX of PREFIX.en and PREFIX.de", None
    )
    validpref: str | None = option(
        "prefixes of the validation files, separated by commas (the first is split 'valid')", None
    )
    testpref: str | None = option("prefixes of the test files, separated by commas", None)
    layers: str | None = layer_option("layers")
    features: str = option(
        "older spelling of --layers, for all but heads (see --parse); '' for none", FEATURES
    )
    layer_min_count: int = layer_option("layer_min_count")
    layer_max_size: int = layer_option("layer_max_size")
    layer_dicts: str | None = layer_option("layer_dicts")
    spacy_model: str = option(
        "annotator of the source: an installed spaCy pipeline or its path, or udpipe:MODEL "
        "(default: a bundled English pipeline); with --conllu it is only for raw text in inference",
        "",
        alias="--annotator",
    )
    conllu: bool = option(
        "take the annotation from PREFIX.SOURCE.conllu beside each source file, not from an "
        "annotator",
        False,
    )
    target_layers: str = option(
        "layers of the target's subwords, which models predict (--target-features), e.g. "
        "truecase: the text is lower-cased, and each subword has a label for how it is written",
        "",
    )
    target_conllu: bool = option(
        "for --target-layers, take the annotation from PREFIX.TARGET.conllu beside each target "
        "file",
        False,
    )
    target_annotator: str = option(
        "annotator of the target, for --target-layers: an installed spaCy pipeline or its path, "
        "or udpipe:MODEL",
        "",
    )
    parse: bool = option(
        "older spelling of heads in --layers: store parse trees (for --encoder-attention sla)",
        False,
    )
    tokenizer: str = option(
        "how input lines are split into words: {choices} (by Moses; at blanks, where they were "
        "tokenised before; by the annotator, if there is one)",
        "moses",
        choices=TOKENIZERS,
    )
    normalizer: str = option(
        "punctuation normalisation before --tokenizer", "none", choices=NORMALIZERS
    )
    subwords: str = option("method of subword segmentation", "subword_nmt", choices=SUBWORDS)
    bpe_size: int = option(
        "number of BPE merge operations, or size of the sentencepiece vocabulary (both languages "
        "together)",
        8000,
        least=1,
    )
    bpe_codes: str | None = option(
        "file of existing subword-nmt codes, in place of learning them", None
    )
    bpe_vocabulary_threshold: int = option(
        "split subwords further that occur fewer times than this, counted per language (0: off)",
        0,
        least=0,
    )
    sentencepiece_model: str | None = option(
        "file of an existing sentencepiece model, in place of learning one", None
    )
    sentencepiece_sample: int = option(
        "learn sentencepiece from at most this many lines", 1_000_000, least=1
    )
    srcvocab: str | None = option(
        "file of the source subwords that --bpe-codes may produce; other subwords are split "
        "further",
        None,
    )
    tgtvocab: str | None = option(
        "file of the target subwords that --bpe-codes may produce; other subwords are split "
        "further",
        None,
    )
    samples: int = option(
        "also write this many folders (DESTDIR/sample1, ...) with the training text cut into "
        "subwords by chance, for fairseq-train to read in turn, one an epoch",
        0,
        least=0,
    )
    bpe_dropout: float | None = option(
        "for --samples: probability that a merge of BPE is left out (default: 0.1)",
        None,
        least=0,
        most=1,
    )
    sentencepiece_alpha: float | None = option(
        "for --samples: exponent of the probabilities by which sentencepiece's cuts are drawn "
        "(0: all alike) (default: 0.1)",
        None,
        least=0,
    )
    source_form: str = option(
        "symbols around the subwords of the source, which the dictionary has, e.g. '__en__ $ "
        "</s>' ($ stands for the text; default: '$ </s>')",
        "",
    )
    target_form: str = option("symbols around the subwords of the target, see --source-form", "")
    joined_dictionary: bool = option("use one dictionary for both languages", False)
    srcdict: str | None = option("file of an existing source dictionary to use", None)
    tgtdict: str | None = option("file of an existing target dictionary to use", None)
    thresholdsrc: int = option("map source subwords rarer than this to <unk>", 0, least=0)
    thresholdtgt: int = option("map target subwords rarer than this to <unk>", 0, least=0)
    nwordssrc: int = option(
        "maximum size of the source dictionary, fairseq's 4 symbols included (-1: no limit)",
        -1,
        least=-1,
    )
    nwordstgt: int = option(
        "maximum size of the target dictionary, fairseq's 4 symbols included (-1: no limit)",
        -1,
        least=-1,
    )
    min_words: int = option(
        "drop training pairs with fewer words than this on either side", 1, least=1
    )
    max_words: int = option(
        "drop training pairs with more words than this on either side", 250, least=1
    )
    max_ratio: float = option(
        "drop training pairs whose lengths in words differ by more than this factor (0: off)", 0.0
    )
    max_characters: int = option(
        "maximum number of characters of a line: longer training pairs are dropped, longer "
        "validation and test lines refused",
        20_000,
        least=1,
    )
    on_misalignment: str = option(
        "what to do where the annotation does not match the text: {choices} (stop; assign it by "
        "character offsets; drop the training pair)",
        "repair",
        choices=MISALIGNMENTS,
    )
    protect: str = option(
        f"text that becomes one token each and returns unchanged, with commas: {', '.join(READY)}, "
        "files of terms, one per line (/.../ is a regular expression), and at last one regular "
        "expression as /.../",
        "",
    )
    only_source: bool = option("prepare source files alone, without target files", False)
    workers: int = running("workers")
    overwrite: bool = running("overwrite")
    shard: str = running("shard")
    merge: bool = running("merge")

    def __post_init__(self) -> None:
        """Check everything that can be checked without opening a file."""
        Shard.asked(self)
        if self.layers is not None:
            self._take_layers(self.layers)
        self.feature_names = parse_features(self.features)
        self.target_names = parse_targets(self.target_layers)
        check(self)
        if not (self.trainpref or self.validpref or self.testpref):
            raise InputError("nothing to prepare: give --trainpref, --validpref or --testpref")
        self._check_languages()
        self._check_numbers()
        self._check_models()
        self._check_targets()
        self._check_samples()
        self.sequences = False  # whether these stay whole: `like.keeps_sequences`
        self.forms = {
            side: Form.read(getattr(self, f"{side}_form"), f"--{side}-form")
            for side in ("source", "target")
        }
        if self.target_names and not self.forms["target"].is_plain:
            raise InputError("--target-layers and --target-form: give one of them")

    def _check_samples(self) -> None:
        """Refuse rates without samples, and samples without a way or text to cut."""
        own = SAMPLED.get(self.subwords)
        for name in SAMPLED.values():
            if getattr(self, name) is not None and not (self.samples and name == own):
                raise InputError(
                    f"{flag_of(name)} needs --samples and --subwords "
                    f"{next(kind for kind, rate in SAMPLED.items() if rate == name)}"
                )
        if self.samples:
            if own is None or not self.trainpref:
                raise InputError(
                    f"--samples {self.samples} cuts training text in several ways: it needs "
                    f"--trainpref and --subwords {' or '.join(SAMPLED)}"
                )
            if getattr(self, own) is None:
                setattr(self, own, USUAL_RATE)

    @property
    def sample_rate(self) -> float:
        """``--bpe-dropout`` or ``--sentencepiece-alpha``."""
        return getattr(self, SAMPLED[self.subwords])

    def _check_targets(self) -> None:
        """Refuse target layers without a source, and a source without target layers."""
        given = [self.target_conllu, bool(self.target_annotator)]
        asked = [layer.name for layer in layers_of(self.target_names) if layer.annotated]
        if self.target_names and self.only_source:
            raise InputError("--target-layers are of target files: not with --only-source")
        if asked and sum(given) != 1:
            raise InputError(
                f"--target-layers {self.target_layers}: {' and '.join(asked)} need "
                "--target-annotator or --target-conllu, one of the two"
            )
        if not asked and any(given):
            raise InputError(
                "--target-annotator and --target-conllu are for --target-layers such as pos"
            )

    def _take_layers(self, layers: str) -> None:
        if self.parse or self.features != FEATURES:
            raise InputError("--layers says what --features and --parse say: give --layers alone")
        names = read_layers(layers, "--layers")
        if compared := [name for name in names if name in OF_PAIRS]:
            raise InputError(f"--layers {layers}: {compared[0]} is of pairs of texts")
        self.layers = None  # now in the other options
        for name, value in apart(names).items():
            setattr(self, name, value)

    def _check_languages(self) -> None:
        for flag, lang in (("-s", self.source_lang), ("-t", self.target_lang)):
            if not re.fullmatch(r"\w+", lang):
                raise InputError(
                    f"{flag} {lang!r}: a language code is letters, digits or _ (fairseq names "
                    "files by it)"
                )
        if self.source_lang == self.target_lang:
            raise InputError(f"source and target language are both {self.source_lang!r}")

    def _check_numbers(self) -> None:
        for name in ("nwordssrc", "nwordstgt"):
            if 0 < getattr(self, name) <= RESERVED:
                raise InputError(
                    f"{flag_of(name)} {getattr(self, name)}: fairseq's own {RESERVED} symbols "
                    "count too (-1: keep all)"
                )
        if self.min_words > self.max_words:
            raise InputError(f"--min-words {self.min_words} is above --max-words {self.max_words}")
        if not (self.max_ratio == 0 or self.max_ratio >= 1):
            raise InputError(f"--max-ratio {self.max_ratio}: 0 (off) or at least 1")

    def _check_models(self) -> None:
        if self.tokenizer == "none" and self.subwords == "none":
            raise InputError("--tokenizer none --subwords none leaves whole lines uncut")
        for name, kind in SUBWORD_OPTIONS.items():
            if getattr(self, name) and self.subwords != kind:
                raise InputError(f"{flag_of(name)} needs --subwords {kind}, not {self.subwords}")
        if (self.srcvocab or self.tgtvocab) and not self.bpe_codes:
            raise InputError("--srcvocab and --tgtvocab limit existing codes: give --bpe-codes")
        if (self.srcvocab or self.tgtvocab) and self.bpe_vocabulary_threshold:
            raise InputError("--bpe-vocabulary-threshold makes what --srcvocab gives: not both")
        if self.joined_dictionary and self.srcdict and self.tgtdict:
            raise InputError("--joined-dictionary takes --srcdict or --tgtdict, not both")
        if not self.trainpref:
            self._check_given()
        if self.needs_spacy and not self.spacy_model and self.source_lang != "en":
            asked = [layer.name for layer in layers_of(self.layer_names) if layer.annotated]
            raise InputError(
                f"{' and '.join(asked)} of {self.source_lang!r} need --spacy-model or --conllu "
                "(the bundled pipeline is English); --layers case,subword needs none"
            )

    def _check_given(self) -> None:
        """Refuse to learn or count without training text."""
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
            raise InputError(f"without --trainpref these are needed: {', '.join(missing)}")
        if self.bpe_vocabulary_threshold:
            raise InputError("--bpe-vocabulary-threshold counts subwords: it needs --trainpref")

    @cached_property
    def protection(self) -> Protection | None:
        """What ``--protect`` protects."""
        given: Any = self.protect  # of --like a protection
        return Protection.asked(given) if isinstance(given, str) and given else given or None

    @property
    def needs_spacy(self) -> bool:
        """Whether a spaCy pipeline annotates the source."""
        return self.annotated and not self.conllu

    @property
    def annotated(self) -> bool:
        """Whether the source is tagged or parsed."""
        return needs_annotator(self.layer_names)

    @property
    def layer_names(self) -> list[str]:
        """Names of the folder's layers, in column order."""
        return held_layers(self.feature_names, self.parse)

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
                    raise InputError(f"--{split}pref {value!r}: a prefix is empty")
                found[f"{split}{k or ''}"] = Path(prefix.strip())
        return found

    @property
    def cuts_at_once(self) -> bool:
        """Whether a chunk can be split into subwords before all others are annotated."""
        given = self.bpe_codes or self.sentencepiece_model or self.subwords == "none"
        return bool(given) and not self.bpe_vocabulary_threshold

    def input_files(self) -> dict[str, dict[str, Path]]:
        """Split -> side (source, target, conllu) -> file, all present."""
        found = {}
        for split, prefix in self.prefixes().items():
            sides = {"source": Path(f"{prefix}.{self.source_lang}")}
            has_language = prefix.suffix[1:] in (self.source_lang, self.target_lang)
            if has_language and not sides["source"].is_file():
                raise FileNotFoundError(
                    f"no file {str(sides['source'])!r}: a prefix leaves the language out, give "
                    f"--{split.rstrip('0123456789')}pref {prefix.with_suffix('')}"
                )
            if not self.only_source:
                sides["target"] = Path(f"{prefix}.{self.target_lang}")
            if self.conllu:
                sides["conllu"] = Path(f"{prefix}.{self.source_lang}.conllu")
            if self.target_conllu:
                sides[TARGET_CONLLU] = Path(f"{prefix}.{self.target_lang}.conllu")
            found[split] = sides | self._given_files(sides["source"])
        for path in (path for sides in found.values() for path in sides.values()):
            if not path.is_file():
                raise FileNotFoundError(f"no file {str(path)!r}")
        return found

    def _given_files(self, source: Path) -> dict[str, Path]:
        """Return the files of values beside a source file, by the names of layers."""
        found = {}
        for name in given_names(self.layer_names):
            given_as = name.partition(".")[2]
            path = Path(f"{source}.{given_as}")
            if path.is_file():
                found[name] = path
            elif not self.conllu:
                raise FileNotFoundError(
                    f"layer {name}: no file {str(path)!r} with one value a word of {source}; "
                    f"or give --conllu, whose MISC column has the key {given_as}"
                )
        return found

    def given_models(self) -> dict[str, Path]:
        """Existing subword models and dictionaries."""
        found = {name: Path(getattr(self, name)) for name in MODELS if getattr(self, name)}
        for name, path in found.items():
            if not path.is_file():
                raise FileNotFoundError(f"{flag_of(name)}: no file {str(path)!r}")
        return found

    def recorded(self) -> dict[str, Any]:
        """The options that decide the content."""
        # folders from before an option stay valid
        unused = (name for name, default in LATER.items() if getattr(self, name) == default)
        found = recorded(self, *unused, *unrecorded(self))
        return found | ({"protect": self.protection.as_json()} if self.protection else {})
