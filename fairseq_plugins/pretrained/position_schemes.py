"""What encoders of one family differ in, in how attention knows positions: a scheme of values.

A scheme holds the fields of `BertShape.relative`, and for DeBERTa `BertShape.absolute`. It is read
from keys of ``config.json`` or from the text of an option (``window=128,every=3``), and written.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from ..errors import InputError
from ..messages import quoted
from ..nn.bert import POOLER_ACTIVATIONS, BertShape
from ..nn.relative_positions import Disentangled, Rotary

Config = Mapping[str, Any]

LEAST = {"buckets": 0, "kernel": 0}  # of numbers that may be less than 1
MOST = {"furthest": 2**16, "buckets": 2**16, "kernel": 2**10}  # of numbers that make tables
LARGEST = 2**31
KINDS = {bool: "true or false", str: f"one of {', '.join(POOLER_ACTIVATIONS)}"}
KEYS: dict[Any, dict[str, str]] = {  # name of a value -> key
    Rotary: {
        "global_base": "global_rope_theta",
        "local_base": "local_rope_theta",
        "window": "local_attention",
        "every": "global_attn_every_n_layers",
    },
    Disentangled: {
        "absolute": "position_biased_input",
        "furthest": "max_relative_positions",
        "buckets": "position_buckets",
        "shared": "share_att_key",
        "kernel": "conv_kernel_size",
        "kernel_activation": "conv_act",
    },
}
GLOBAL, LOCAL = "full_attention", "sliding_attention"  # layers in transformers 5
BASES = {"global_base": GLOBAL, "local_base": LOCAL}
TYPES = {"content_to_position": "c2p", "position_to_content": "p2c"}
NORM = "layer_norm"


def varies(shape: BertShape) -> bool:
    """Return whether encoders of the shape's family differ in their schemes."""
    return type(shape.relative) in KEYS


def values_of(shape: BertShape) -> dict[str, Any]:
    """Return a shape's scheme: name -> value."""
    own = {"absolute": shape.absolute} if isinstance(shape.relative, Disentangled) else {}
    return {**own, **vars(shape.relative)}


def changed(shape: BertShape, values: Config, said: Mapping[str, str] = {}) -> BertShape:
    """Return a shape with other values; ``said`` has their names in messages, if different."""
    relative: Any = shape.relative
    kinds = {"absolute": bool} | {spec.name: spec.type for spec in fields(relative)}
    found = {name: _fitting(value, name, kinds[name], said) for name, value in values.items()}
    absolute = found.pop("absolute", shape.absolute)
    made = replace(relative, **found)
    if isinstance(made, Disentangled):
        if made.terms < 2:
            raise InputError(f"neither {' nor '.join(TYPES)} is there (pos_att_type)")
        if made.kernel and made.kernel % 2 == 0:
            raise InputError(
                f"{said.get('kernel', 'kernel')} is {made.kernel}, expected an odd number"
            )
        if made.buckets and not 2 <= made.buckets < 2 * made.furthest - 2:
            name = said.get("buckets", "buckets")
            raise InputError(
                f"{name} is {made.buckets}, expected 2 at least, or 0, and half of it less than "
                f"the furthest distance, {made.furthest}, minus 1"
            )
    return replace(shape, absolute=absolute, relative=made)


def _fitting(value: Any, name: str, kind: Any, said: Mapping[str, str]) -> Any:
    """Return a value of a field's type."""
    least, most, name = LEAST.get(name, 1), MOST.get(name, LARGEST), said.get(name, name)
    if kind in KINDS:
        fits = type(value) is kind and (kind is bool or value in POOLER_ACTIVATIONS)
        expected = KINDS[kind]
    else:
        fits = type(value) in {kind, int} and least <= value <= most
        expected = f"a {'whole ' if kind is int else ''}number from {least} to {most}"
    if not fits:
        raise InputError(f"{name} is {quoted(value)}, expected {expected}")
    return kind(value)


def read_text(shape: BertShape, text: str) -> BertShape:
    """Return a shape with the values that a text names."""
    values, choices = {}, values_of(shape)
    for name, _, value in (part.partition("=") for part in text.split(",")):
        if (name := name.strip()) not in choices:
            raise InputError(f"{quoted(name)} is unknown; choices: {', '.join(choices)}")
        try:
            values[name] = json.loads(value)
        except (ValueError, RecursionError):  # no number, true or false
            values[name] = value.strip()
    return changed(shape, values)


def text_of(shape: BertShape) -> str | None:
    """Return a shape's scheme as a text; None if its family has no choice."""
    if not varies(shape):
        return None
    values = values_of(shape).items()
    return ",".join(f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in values)


def read_keys(shape: BertShape, config: Config) -> BertShape:
    """Return a shape with the values of a configuration."""
    keys = KEYS[type(shape.relative)]
    found = {name: config[key] for name, key in keys.items() if key in config}
    if isinstance(shape.relative, Rotary):
        return changed(shape, _newer(found, config, shape), keys)
    size = shape.hidden // shape.heads
    told = {"relative_attention": False, "attention_head_size": size, **config}
    for key, wanted in (("relative_attention", True), ("attention_head_size", size)):
        if told[key] != wanted:
            raise InputError(f"{key} is {quoted(told[key])}, expected {wanted}")
    for name, absent in (("buckets", 0), ("kernel", 0), ("furthest", shape.positions)):
        if type(found.get(name, 0)) is int and found.get(name, 0) < 1:
            found[name] = absent
    types = _words(config, "pos_att_type", *TYPES.values())
    found |= {name: word in types for name, word in TYPES.items()}
    found["normed"] = NORM in _words(config, "norm_rel_ebd", NORM, "none")
    absent = {"absolute": True, "shared": False, "kernel_activation": "tanh"}
    return changed(shape, {**absent, **found}, keys)


def keys_of(shape: BertShape) -> dict[str, Any]:
    """Return the keys of a configuration."""
    values = values_of(shape)
    found = {key: values[name] for name, key in KEYS[type(shape.relative)].items()}
    if isinstance(shape.relative, Disentangled):
        found["relative_attention"] = True
        found["pos_att_type"] = [word for name, word in TYPES.items() if values[name]]
        found["norm_rel_ebd"] = NORM if shape.relative.normed else "none"
    return found


def _words(config: Config, key: str, *choices: str) -> list[str]:
    """Return the words of a key: ``"p2c|c2p"``, or a list."""
    told = config.get(key) or []
    words = [one.strip() for one in told.lower().split("|")] if isinstance(told, str) else told
    if not isinstance(words, list) or any(word not in choices for word in words):
        raise InputError(f"{key} is {quoted(told)}; choices: {', '.join(choices)}")
    return words


def _newer(found: dict[str, Any], config: Config, shape: BertShape) -> dict[str, Any]:
    """Return a rotation's values with those of keys of transformers 5, which go first."""
    told = config.get("rope_parameters") or {}
    for name, kind in BASES.items():
        own = told.get(kind) or {} if isinstance(told, dict) else told
        rest = {"rope_type": "default", **own} if isinstance(own, dict) else {"": own}
        found |= {name: rest.pop("rope_theta")} if "rope_theta" in rest else {}
        if rest != {"rope_type": "default"}:
            raise InputError(
                f"rope_parameters of {kind} are {quoted(own)}, expected rope_theta alone"
            )
    reach = config.get("sliding_window")  # another name of half the window, which goes first
    if reach is not None:
        found["window"] = 2 * reach if type(reach) is int else reach
    types = config.get("layer_types")
    if types is not None:
        found["every"] = _every(types, found.get("every", Rotary.every), shape.layers)
    return found


def _every(types: Any, told: Any, layers: int) -> int:
    """Return the distance of layers that see all tokens, from the kinds of layers."""
    kinds = types if isinstance(types, list) and len(types) == layers else [None]
    seeing = [number for number, kind in enumerate(kinds) if kind == GLOBAL]
    for every in (told, *seeing[1:2], layers):
        fits = type(every) is int and every > 0
        if fits and kinds == [LOCAL if number % every else GLOBAL for number in range(len(kinds))]:
            return every
    raise InputError(
        f"layer_types is {quoted(types)}, expected {GLOBAL} for layer 0 and at equal distances "
        f"from there on, and {LOCAL} for the others"
    )
