"""What the file of an experiment may say of the preparation of its data.

    prepare: {annotations: "pos,heads,similarity", valid-fraction: 0.07}
    prepare: {source-lang: en, target-lang: de, trainpref: train, validpref: valid, bpe-size: 8000}

The names are those of the subcommand that prepares the dataset. Files are named as they lie in the
folder of raw data (``--raw``). Everything else that names a file, a folder or a package (the folder
to write, BERT, a spaCy pipeline, existing subword models) is said on the command line alone.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

from ...corpora.readers.options import ReadOptions
from ...messages import quoted
from ...prep.recipes.question_options import QuestionOptions
from ...prep.recipes.text_options import TextOptions
from ...prep.recipes.translation_options import TranslationOptions
from ...prep.running import RUNNING
from .option_values import Options, as_mapping, check_option, command_line
from .plain_values import FLAG, NUMBER, PATH, TEXT, WHOLE, WORD, ValueKind

SQUAD, TRANSLATION = "squad", "translation"  # datasets that are prepared in their own way
_WORDS = (  # options with a text that is a word, or several with commas
    "source_lang target_lang layers target_layers features tokenizer normalizer subwords "
    "on_misalignment annotations tokenize parse_text long_questions separator labels on_empty "
    "on_bad_row words_from"
).split()
_TEXTS = (
    "text_column text2_column label_column id_column ignored_edits layer_columns nested_columns"
).split()
_FILES = (
    "trainpref validpref testpref train_file valid_file test_file train_conllu valid_conllu "
    "test_conllu"
).split()
_BELOW = ValueKind(
    f"{PATH.said} (several with commas between), in the folder of raw data",
    lambda value: isinstance(value, str) and all(map(PATH.fits, value.split(","))),
)
_NUMBERS = {bool: FLAG, int: WHOLE, float: NUMBER}


def read_prepare(value: Any) -> Options:
    """Read the options, whose names are looked at by `check_prepare`.

    Raises:
        ValueError: no mapping.
    """
    if isinstance(value, str) and value.strip():
        raise ValueError(
            f"{quoted(value)}: options are given by name, such as "
            '{annotations: "pos,heads", valid-fraction: 0.1}, not as words of a command line'
        )
    return as_mapping(value)


def check_prepare(options: Mapping[Any, Any], dataset: str) -> None:
    """Refuse options that the preparation of a dataset does not take from a file.

    Raises:
        ValueError: another name, with the choices, or a value of another kind.
    """
    kinds = _kinds_of(dataset)
    for key, value in options.items():
        hint = "" if value is not None else "; a value with commas wants quotes"
        otherwise = f"on the command line: --prepare{hint}; choices: {', '.join(kinds)}"
        check_option(key, value, kinds, otherwise)


def preparing(dataset: str, raw: Path) -> list[str]:
    """Return the command that prepares a dataset, and where it reads raw data."""
    if dataset == TRANSLATION:
        return ["prepare translation"]  # whose options name every file
    own = ["prepare questions"] if dataset == SQUAD else ["prepare text", "--dataset", dataset]
    return [*own, "--raw-dir", str(raw)]


def words_of(options: Mapping[str, Any], raw: Path) -> list[str]:
    """Spell options out for the preparing subcommand.

    Args:
        options: that `check_prepare` let pass.
        raw: folder of raw data.
    """
    files = {
        key: ",".join(str(raw / name) for name in value.split(","))
        for key, value in options.items()
        if key.replace("-", "_") in _FILES
    }
    return command_line({**options, **files})


def _kinds_of(dataset: str) -> dict[str, ValueKind]:
    """Return name -> kind of the options of a dataset's preparation, as its record has them."""
    usual = [TextOptions, ReadOptions]
    records = {TRANSLATION: [TranslationOptions], SQUAD: [QuestionOptions]}.get(dataset, usual)
    own = {name: WORD for name in _WORDS}
    own |= {name: TEXT for name in _TEXTS} | {name: _BELOW for name in _FILES}
    found = {}
    for name, declared in (pair for record in records for pair in get_type_hints(record).items()):
        kind = own.get(name) or _NUMBERS.get(declared)
        if kind and name not in RUNNING:
            found[name.replace("_", "-")] = kind
    return found
