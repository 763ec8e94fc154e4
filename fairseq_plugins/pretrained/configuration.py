"""``config.json`` of every family as a `BertShape`, and back.

Every key that changes the mathematics is read or refused; all others are ignored.
"""

from pathlib import Path
from typing import Any

from ..door.records import MOST_LAYERS
from ..errors import InputError
from ..messages import quoted
from ..nn.bert import ACTIVATIONS, BertShape
from ..nn.relative_positions import Rotary
from . import position_schemes
from .directory import CONFIG as FILE_NAME
from .directory import find_family, is_fairseq, read_json
from .fairseq_folder import read_config as read_fairseq
from .families import Family
from .forms import FORMS, Form

TANH = ("gelu_pytorch_tanh", "gelu_python_tanh", "gelu_fast", "gelu_accurate")
SAME = {"gelu_python": "gelu", **dict.fromkeys(TANH, "gelu_new")}  # names elsewhere -> ours
LARGEST = 1e300  # largest float


def constants_of(family: Family, padding: int, segments: int = 1) -> dict[str, Any]:
    """Return the fields of a `BertShape` that follow from the family and these numbers."""
    form = FORMS[family.name]
    offset = padding + 1 if form.behind_padding else 0
    return {"position_offset": offset, "sides": segments > 0, **form.constants}


def embedding_of(family: Family, width: int | None, hidden: int) -> int | None:
    """Return the width of embeddings with a map; None if there is no map."""
    form, width = FORMS[family.name], hidden if width is None else width
    if form.embedding is None and width != hidden:
        raise InputError(f"{family.name} has embeddings of its own width, {hidden}, not {width}")
    return width if width != hidden or form.projected else None


def drawn_shape(family: Family, hidden: int) -> BertShape:
    """Return the default shape of a model with random weights, without sizes.

    Embeddings are never wider than the encoder.
    """
    form = FORMS[family.name]
    own: dict[str, Any] = {"segments": 2, **form.absent, **form.drawn}
    own |= {**constants_of(family, 0, own["segments"]), "relative": form.relative}
    width = min(own.pop("embedding", None) or hidden, hidden)
    own["embedding"] = embedding_of(family, width, hidden)
    sizes: dict[str, Any] = {"vocabulary": 1, "layers": 1, "heads": 1, "intermediate": 1, **own}
    return BertShape(hidden=hidden, pooler_activation=form.pooled, **sizes)


def read_shape(directory: str | Path) -> BertShape:
    """Read ``config.json``; a pooler, which only the weights show, is taken as present."""
    path, family = Path(directory) / FILE_NAME, find_family(directory)
    if is_fairseq(directory):
        path, config = read_fairseq(directory)
    else:
        config = read_json(path)
    form = FORMS[family.name]
    _check_kind(path, config, form)
    values = {name: _number(path, config, key, least=1) for name, key in form.sizes.items()}
    values |= _options(path, config, form)
    values |= constants_of(family, values["padding"], values.get("segments", 0))
    if form.embedding is not None:
        default = form.absent.get("embedding", values["hidden"])
        width = _number(path, config, form.embedding, default, least=1)
        values["embedding"] = embedding_of(family, width, values["hidden"])
    shape = BertShape(pooler_activation=form.pooled, relative=form.relative, **values)
    for problem in _problems(shape, form):
        raise InputError(f"{path}: {problem}")
    if not position_schemes.varies(shape):
        return shape
    try:
        return position_schemes.read_keys(shape, config)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _options(path: Path, config: dict[str, Any], form: Form) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if form.segments is not None:
        default = form.absent.get("segments", 2)
        values["segments"] = _number(path, config, form.segments, default, least=min(default, 1))
    values["padding"] = _number(
        path, config, "pad_token_id", form.absent.get("padding", 0), least=0
    )
    for name, key in form.rates.items():
        values[name] = _number(path, config, key, form.absent.get(name, 0.1))
        if not 0 <= values[name] < 1:
            raise InputError(f"{path}: {key} is {values[name]}, expected a rate below 1")
    if form.norm_epsilon is not None:
        default = form.absent.get("norm_epsilon", 1e-12)
        values["norm_epsilon"] = _number(path, config, form.norm_epsilon, default)
    return values | {"activation": _activation(config, form)}


def _problems(shape: BertShape, form: Form) -> list[str]:
    keys, found = form.sizes, []
    if shape.hidden % shape.heads:
        found.append(f"{keys['heads']} {shape.heads} do not divide {keys['hidden']} {shape.hidden}")
    if isinstance(shape.relative, Rotary) and shape.hidden % (2 * shape.heads):
        found.append(f"{keys['hidden']} {shape.hidden} is no multiple of twice {keys['heads']}")
    if shape.padding >= shape.vocabulary:
        found.append(
            f"pad_token_id {shape.padding} is not below {keys['vocabulary']} {shape.vocabulary}"
        )
    if shape.longest < 1:
        found.append(
            f"{keys['positions']} is {shape.positions}, but positions begin at pad_token_id + 1, "
            f"which is {shape.position_offset}"
        )
    if shape.shared and shape.layers > MOST_LAYERS:  # no tensors would limit them
        found.append(f"{keys['layers']} is {shape.layers}, expected at most {MOST_LAYERS}")
    return found


def _activation(config: dict[str, Any], form: Form) -> Any:
    value = config.get(form.activation)
    value = form.absent.get("activation", "gelu") if value is None else value
    return SAME.get(value, value) if isinstance(value, str) else value


def _check_kind(path: Path, config: dict[str, Any], form: Form) -> None:
    for key, value in form.fixed.items():
        if config.get(key) not in (value, None):
            raise InputError(f"{path}: {key} is {config[key]!r}, expected {value!r}")
    if config.get("pruned_heads"):
        raise InputError(f"{path}: pruned_heads is {config['pruned_heads']!r}, expected none")
    activation = _activation(config, form)
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise InputError(
            f"{path}: {form.activation} is {quoted(activation)}; choices: "
            f"{', '.join((*ACTIVATIONS, *SAME))}"
        )


def _number(
    path: Path, config: dict[str, Any], key: str, default: Any = None, *, least: int | None = None
) -> Any:
    """Return a non-negative real number, or with ``least`` an integer."""
    value, kinds = config.get(key, default), (int, float) if least is None else (int,)
    if type(value) not in kinds or not (least or 0) <= value < LARGEST:
        raise InputError(f"{path}: {key} is {value!r}, expected a number from {least or 0}")
    return float(value) if least is None else value


def config_of(shape: BertShape, family: Family) -> dict[str, Any]:
    """Return the content of ``config.json`` for an encoder of a family."""
    form = FORMS[family.name]
    if form.norm_epsilon is None and shape.norm_epsilon != form.constants["norm_epsilon"]:
        raise InputError(
            f"{family.name} has no layer_norm_eps but {form.constants['norm_epsilon']}; this "
            f"encoder has {shape.norm_epsilon}"
        )
    keys = {**form.sizes, **form.rates}
    found = {
        "architectures": [f"{family.title}Model"],
        "model_type": family.name,
        **{key: getattr(shape, name) for name, key in keys.items()},
    }
    if form.segments is not None:
        found[form.segments] = shape.segments
    found |= {"pad_token_id": shape.padding, form.activation: shape.activation}
    if form.norm_epsilon is not None:
        found[form.norm_epsilon] = shape.norm_epsilon
    found["initializer_range"] = 0.02
    if "position_embedding_type" in form.fixed:
        found["position_embedding_type"] = "absolute"
    found["torch_dtype"] = "float32"
    if form.embedding is not None:
        found[form.embedding] = shape.embedding_width
    if position_schemes.varies(shape):
        found |= position_schemes.keys_of(shape)
    return {**found, **form.written}
