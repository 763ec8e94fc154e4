"""``config.json`` of a Hugging Face BERT as a `BertShape`, and back.

Whatever would change the mathematics is read or refused; whatever does not is passed over.
"""

from pathlib import Path
from typing import Any

from ..nn.bert import ACTIVATIONS, BertShape
from .directory import read_json

FILE_NAME = "config.json"
SIZES = {  # field of BertShape -> key; without them a checkpoint cannot be understood
    "vocabulary": "vocab_size",
    "hidden": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "intermediate": "intermediate_size",
    "positions": "max_position_embeddings",
}
RATES = {"dropout": "hidden_dropout_prob", "attention_dropout": "attention_probs_dropout_prob"}
LARGEST = 1e300  # what a float holds, whatever JSON says
# key -> the only value that we compute (also when the key is absent)
FIXED = {
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


def read_shape(directory: str | Path) -> BertShape:
    """Read ``config.json``; whether there is a pooler, only the weights know (taken as True).

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no configuration of a BERT that we compute; names key and value.
    """
    path = Path(directory) / FILE_NAME
    config = read_json(path)
    _check_kind(path, config)
    values = {name: _number(path, config, key, least=1) for name, key in SIZES.items()}
    values["segments"] = _number(path, config, "type_vocab_size", 2, least=1)
    values["padding"] = _number(path, config, "pad_token_id", 0, least=0)
    for name, key in RATES.items():
        values[name] = _number(path, config, key, 0.1)
        if not 0 <= values[name] < 1:
            raise ValueError(f"{path}: {key} is {values[name]}, expected a rate below 1")
    values["norm_epsilon"] = _number(path, config, "layer_norm_eps", 1e-12)
    values["activation"] = config.get("hidden_act", "gelu")
    shape = BertShape(**values)
    if shape.hidden % shape.heads:
        raise ValueError(
            f"{path}: num_attention_heads {shape.heads} do not divide hidden_size {shape.hidden}"
        )
    if shape.padding >= shape.vocabulary:
        raise ValueError(
            f"{path}: pad_token_id {shape.padding} is not below vocab_size {shape.vocabulary}"
        )
    return shape


def _check_kind(path: Path, config: dict[str, Any]) -> None:
    """Refuse another model, and values of options that we do not compute."""
    if config.get("model_type") != "bert":
        raise ValueError(f"{path}: model_type is {config.get('model_type')!r}, expected 'bert'")
    for key, value in FIXED.items():
        if config.get(key) not in (value, None):
            raise ValueError(f"{path}: {key} is {config[key]!r}, expected {value!r}")
    if config.get("pruned_heads"):
        raise ValueError(f"{path}: pruned_heads is {config['pruned_heads']!r}, expected none")
    activation = config.get("hidden_act", "gelu")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise ValueError(f"{path}: hidden_act is {activation!r}; choices: {', '.join(ACTIVATIONS)}")


def _number(
    path: Path, config: dict[str, Any], key: str, default: Any = None, *, least: int | None = None
) -> Any:
    """Return a real number that is not negative, or where there is a ``least`` one a whole one."""
    value, kinds = config.get(key, default), (int, float) if least is None else (int,)
    if type(value) not in kinds or not (least or 0) <= value < LARGEST:
        raise ValueError(f"{path}: {key} is {value!r}, expected a number from {least or 0}")
    return float(value) if least is None else value


def config_of(shape: BertShape) -> dict[str, Any]:
    """Return the content of ``config.json`` for an encoder."""
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        **{key: getattr(shape, name) for name, key in SIZES.items()},
        **{key: getattr(shape, name) for name, key in RATES.items()},
        "type_vocab_size": shape.segments,
        "pad_token_id": shape.padding,
        "hidden_act": shape.activation,
        "layer_norm_eps": shape.norm_epsilon,
        "initializer_range": 0.02,
        "position_embedding_type": "absolute",
        "torch_dtype": "float32",
    }
