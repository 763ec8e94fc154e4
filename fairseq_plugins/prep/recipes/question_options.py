"""Options of a preparation for question answering: a record whose fields are flags."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...corpora.own_files import OWN_FILES, check_some, own_files
from ...data.folder_names import TOKENIZE, WINDOWS
from ...errors import InputError
from ...messages import named
from ...option_flags import check, option
from ...pretrained.directory import DEFAULT
from ...syntax.layers import OF_PAIRS, given_names
from ...text.annotators import needs_annotator
from ...text.source_encoder import MISALIGNMENTS
from ...text.squad_alignment import Limits
from ..running import Shard, recorded, running
from .layer_options import layer_option, unrecorded
from .text_options import ANNOTATIONS, PRETRAINED, annotation_names

OFFICIAL = {
    "train": ("train-v2.0.json", "train-v1.1.json", "train.json"),
    "valid": ("dev-v2.0.json", "dev-v1.1.json", "dev.json"),
    "test": ("test-v2.0.json", "test-v1.1.json", "test.json"),
}
LONG_QUESTIONS = ("truncate", "error")


@dataclass
class QuestionOptions:
    """All options that decide the content of a prepared folder."""

    destdir: str = option("folder to write the prepared data to, e.g. data-bin/squad2")
    raw_dir: str = option(
        "folder with the official SQuAD files, e.g. train-v2.0.json and dev-v2.0.json", ""
    )
    train_file: str = option("SQuAD file to train on, in place of the official one", "")
    valid_file: str = option(
        "SQuAD files to validate on, separated by commas (the first is split 'valid')", ""
    )
    test_file: str = option(
        "SQuAD files to test on, separated by commas; they may lack answers", ""
    )
    pretrained: str = option(PRETRAINED, DEFAULT)
    layers: str | None = layer_option("layers")
    annotations: str = option("older spelling of --layers", ANNOTATIONS)
    layer_min_count: int = layer_option("layer_min_count")
    layer_max_size: int = layer_option("layer_max_size")
    layer_dicts: str | None = layer_option("layer_dicts")
    tokenize: str = option(
        "how text is split into words: {choices} (characters: each Chinese character is a word; "
        "spacy: the annotator's words; default: spacy, or whitespace where nothing is annotated)",
        "",
        choices=TOKENIZE,
    )
    spacy_model: str = option(
        "annotator of the text: an installed spaCy pipeline or its path, or udpipe:MODEL (default: "
        "a bundled English pipeline)",
        "",
        alias="--annotator",
    )
    max_positions: int = option(
        "maximum number of wordpieces of the question, a window of the context and special tokens "
        "together",
        Limits.max_positions,
        least=1,
    )
    doc_stride: int = option(
        "wordpieces from the beginning of one window of a long context to that of the next",
        Limits.doc_stride,
        least=1,
    )
    max_query_length: int = option(
        "maximum number of wordpieces that are kept of a question", Limits.max_query_length, least=1
    )
    long_questions: str = option(
        "what to do with questions longer than --max-query-length",
        LONG_QUESTIONS[0],
        choices=LONG_QUESTIONS,
    )
    on_misalignment: str = option(
        "what to do with answers that are not at their answer_start in the context: {choices} "
        "(refuse the file; take the nearest occurrence of the text, one inside a word only if all "
        "are; ignore the answer)",
        "repair",
        choices=MISALIGNMENTS,
    )
    workers: int = running("workers")
    overwrite: bool = running("overwrite")
    shard: str = running("shard")
    merge: bool = running("merge")

    def __post_init__(self) -> None:
        """Check everything that can be checked without opening a file."""
        Shard.asked(self)
        self.annotation_names = annotation_names(self)
        if compared := [name for name in OF_PAIRS if name in self.annotation_names]:
            raise InputError(
                f"--layers {self.annotations}: {compared[0]} compares the words of two sentences, "
                "not of questions and contexts"
            )
        if given := given_names(self.annotation_names):
            raise InputError(f"--layers {self.annotations}: SQuAD files have no {named(given)}")
        self.tokenize = self.tokenize or ("spacy" if self.annotation_names else "whitespace")
        check(self)
        self.limits.check()
        check_some(self)
        if self.spacy_model and not needs_annotator(self.annotation_names, self.tokenize):
            raise InputError(
                f"--spacy-model has no work to do: --tokenize {self.tokenize} with --layers "
                f"{self.annotations} needs none"
            )

    @property
    def limits(self) -> Limits:
        """The sizes of windows of contexts."""
        return Limits(*(getattr(self, name) for name in WINDOWS))

    def input_files(self) -> dict[str, Path]:
        """Split -> file; individually named files replace files of the raw folder."""
        found = own_files(self)
        if not self.raw_dir:
            return found
        official = {}
        for split, names in OFFICIAL.items():
            there = [path for name in names if (path := Path(self.raw_dir) / name).is_file()]
            if len(there) > 1 and split not in found:
                raise InputError(
                    f"--raw-dir {self.raw_dir} has {' and '.join(path.name for path in there)}: "
                    f"name the one you mean by --{split}-file"
                )
            if there:
                official[split] = there[0]
        if not official and not found:
            names = "; ".join(f"{split}: {' or '.join(some)}" for split, some in OFFICIAL.items())
            raise FileNotFoundError(f"--raw-dir {self.raw_dir} holds no SQuAD file ({names})")
        return official | found

    def recorded(self) -> dict[str, Any]:
        """The options that decide the content; files are inputs in the manifest."""
        body = recorded(self, "raw_dir", *OWN_FILES.values(), *unrecorded(self))
        return body | {"annotations": list(self.annotation_names)}
