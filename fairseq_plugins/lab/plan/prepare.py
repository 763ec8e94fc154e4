"""The preparation options that an experiment file may give.

    prepare: {annotations: "pos,heads,similarity", valid-fraction: 0.07}
    prepare: {source-lang: en, target-lang: de, trainpref: train, validpref: valid, bpe-size: 8000}

The names are those of the subcommand that prepares the dataset. Files lie in the folder of raw data
(``--raw``). All other files, folders and packages (the output folder, BERT, a spaCy pipeline,
existing subword models) belong on the command line.
"""

from functools import cache
from pathlib import Path

from ...prep.running import RUNNING
from ..commands import parser_of
from .allowed import Kinds, Options, check_options, command_line, kinds_of, listed
from .values import PATH, TEXT, WORD, Kind

SQUAD, TRANSLATION = "squad", "translation"  # datasets with their own preparation command
_FILES = (
    "trainpref validpref testpref train-file valid-file test-file train-conllu valid-conllu "
    "test-conllu"
)
_BELOW = Kind(
    f"{PATH.said} (several with commas between), in the folder of raw data",
    lambda value: isinstance(value, str) and all(map(PATH.fits, value.split(","))),
)
_NAMES = listed(
    {
        WORD: "source-lang target-lang layers target-layers features tokenizer normalizer subwords "
        "on-misalignment annotations tokenize parse-text long-questions separator labels on-empty "
        "on-bad-row words-from",
        TEXT: "text-column text2-column label-column id-column ignored-edits layer-columns "
        "nested-columns",
        _BELOW: _FILES,
        None: " ".join(("help", *RUNNING)),
    }
)


def check_prepare(options: Options, dataset: str) -> None:
    """Refuse options that a file may not give to the preparation of a dataset."""
    check_options(options, of_preparation(dataset))


@cache
def of_preparation(dataset: str) -> Kinds:
    """Return name -> kind of the options of a dataset's preparation."""
    command, *_ = preparing(dataset, {}, Path())
    return kinds_of(parser_of(command)._actions, _NAMES)


def preparing(dataset: str, options: Options, raw: Path, files: Options | None = None) -> list[str]:
    """Return the command that prepares a dataset, and its words.

    Args:
        raw: folder of raw data.
        files: options that name files, in place of those of the folder.
    """
    below = {
        key: ",".join(str(raw / name) for name in value.split(","))
        for key, value in options.items()
        if key in _FILES.split()
    }
    words = command_line({**options, **below})
    if dataset == TRANSLATION:
        return ["prepare translation", *words]  # its options name every file
    own = ["prepare questions"] if dataset == SQUAD else ["prepare text", "--dataset", dataset]
    return [*own, *command_line(files or {"raw-dir": raw}), *words]
