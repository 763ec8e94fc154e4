"""Options of a preparation for question answering: a record with checks, and its flags."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..corpora.own_files import OWN_FILES, check_some, own_files
from ..data.text_manifest import TOKENIZE, WINDOWS
from ..pretrained.directory import DEFAULT
from ..syntax.layers import OF_PAIRS, OF_TEXTS
from ..text.annotators import needs_annotator
from ..text.squad_alignment import Limits
from .options import MISALIGNMENTS
from .running import CORES, RUNNING, RUNNING_FLAGS, Share
from .text_options import NO_ANNOTATIONS, parse_annotations

OFFICIAL = {
    "train": ("train-v2.0.json", "train-v1.1.json", "train.json"),
    "valid": ("dev-v2.0.json", "dev-v1.1.json", "dev.json"),
    "test": ("test-v2.0.json", "test-v1.1.json", "test.json"),
}
LONG_QUESTIONS = ("truncate", "error")


@dataclass
class SquadOptions:
    """Everything that decides the content of a prepared folder; `FLAGS` documents each option.

    Raises:
        ValueError: a value that is none of the choices, or nothing to prepare.
    """

    destdir: str
    raw_dir: str = ""
    train_file: str = ""
    valid_file: str = ""
    test_file: str = ""
    pretrained: str = DEFAULT
    annotations: str = "pos,heads"
    tokenize: str = ""
    spacy_model: str = ""
    max_positions: int = Limits.max_positions
    doc_stride: int = Limits.doc_stride
    max_query_length: int = Limits.max_query_length
    long_questions: str = LONG_QUESTIONS[0]
    on_misalignment: str = "repair"
    workers: int = CORES
    overwrite: bool = False
    shard: str = ""
    merge: bool = False

    def __post_init__(self) -> None:
        """Check everything that can be checked without opening a file."""
        self.share = Share.parse(self.shard, merge=self.merge)
        self.annotation_names = parse_annotations(self.annotations)
        if compared := [name for name in OF_PAIRS if name in self.annotation_names]:
            raise ValueError(
                f"--annotations {self.annotations}: {compared[0]} compares the words of two "
                f"sentences, not of questions and contexts: choices are {', '.join(OF_TEXTS)}, or "
                f"{NO_ANNOTATIONS}"
            )
        self.tokenize = self.tokenize or ("spacy" if self.annotation_names else "whitespace")
        for name, choices in (
            ("tokenize", TOKENIZE),
            ("long_questions", LONG_QUESTIONS),
            ("on_misalignment", MISALIGNMENTS),
        ):
            if getattr(self, name) not in choices:
                flag = f"--{name.replace('_', '-')} {getattr(self, name)!r}"
                raise ValueError(f"{flag}: choices are {', '.join(choices)}")
        for name in ("workers", *WINDOWS):
            if getattr(self, name) < 1:
                flag = f"--{name.replace('_', '-')} {getattr(self, name)}"
                raise ValueError(f"{flag}: must be at least 1")
        room = self.limits.room(self.max_query_length)
        if self.doc_stride > room:
            raise ValueError(
                f"--doc-stride {self.doc_stride}: beside a question of --max-query-length "
                f"{self.max_query_length} and 3 special tokens --max-positions "
                f"{self.max_positions} leaves {max(room, 0)} wordpieces of the context, and "
                "windows further apart than that would leave some out"
            )
        check_some(self)
        if self.spacy_model and not needs_annotator(self.annotation_names, self.tokenize):
            raise ValueError(
                f"--spacy-model has no work to do: --tokenize {self.tokenize} with --annotations "
                f"{self.annotations} needs none"
            )

    @property
    def limits(self) -> Limits:
        """How contexts are cut into windows."""
        return Limits(*(getattr(self, name) for name in WINDOWS))

    def input_files(self) -> dict[str, Path]:
        """Split -> file; files named one by one come before those of the raw folder.

        Raises:
            FileNotFoundError: a missing file or folder, or a folder without official files.
            ValueError: a folder with several files for one split.
        """
        found = own_files(self)
        if not self.raw_dir:
            return found
        official = {}
        for split, names in OFFICIAL.items():
            there = [path for name in names if (path := Path(self.raw_dir) / name).is_file()]
            if len(there) > 1 and split not in found:
                raise ValueError(
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
        """The options that decide the content; files stand among the manifest's inputs."""
        body = asdict(self)
        for name in (*RUNNING, "raw_dir", *OWN_FILES.values()):
            del body[name]
        return body | {"annotations": list(self.annotation_names)}


FLAGS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("destdir", "folder to write, e.g. data-bin/squad2", {}),
    ("raw_dir", "folder with the official files, e.g. train-v2.0.json and dev-v2.0.json", {}),
    ("train_file", "SQuAD file to train on, in place of the official one", {}),
    ("valid_file", "comma-separated SQuAD files (the first is 'valid')", {}),
    ("test_file", "comma-separated SQuAD files; they may lack answers", {}),
    ("pretrained", "BERT whose vocabulary counts: embedded name or Hugging Face directory", {}),
    ("annotations", f"what words carry: any of {','.join(OF_TEXTS)}, or {NO_ANNOTATIONS}", {}),
    (
        "tokenize",
        f"what words are: {' | '.join(TOKENIZE)} (each Chinese character a word; the pipeline's "
        "words; default: spacy, or whitespace where nothing is annotated)",
        {},
    ),
    ("spacy_model", "installed spaCy pipeline or path (default: the bundled English one)", {}),
    ("max_positions", "wordpieces of question, window and special tokens together", {}),
    ("doc_stride", "wordpieces from the beginning of a window to that of the next", {}),
    ("max_query_length", "wordpieces of a question that are kept", {}),
    ("long_questions", f"questions longer than that: {' | '.join(LONG_QUESTIONS)}", {}),
    (
        "on_misalignment",
        "answers that do not stand at their answer_start: refuse the file, take the nearest "
        f"occurrence of the text, or pass over: {' | '.join(MISALIGNMENTS)}",
        {},
    ),
    *RUNNING_FLAGS,
)
