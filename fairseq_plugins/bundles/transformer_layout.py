"""The sizes of a translation Transformer, and the variables of its CTranslate2 form.

A layout describes all of a model's computation except its weights. It names every variable with its
shape, so that a file of weights can be filled by name, and a file from elsewhere can be verified
before a library reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..errors import InputError
from ..messages import quoted

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "tanh")
MOST_LAYERS, MOST_FACTORS, LARGEST = 1000, 100, 1 << 31

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Side:
    """An encoder or decoder."""

    size: int  # of its vocabulary
    positions: int  # longest text with its end mark
    # layers, heads: numbers
    layers: int
    heads: int
    width: int  # D, of its hidden states
    inner: int  # width of the feed-forward networks
    pre_norm: bool  # whether normalisation comes before each block, not after
    final_norm: bool  # whether a normalisation follows the last layer
    scale: float  # factor on embeddings


@dataclass(frozen=True)
class Layout:
    """A Transformer whose source embedding is a sum of tables."""

    # source, target: encoder and decoder
    source: Side
    target: Side
    # number of ids of each source feature, whose table is as wide as the encoder
    factors: tuple[int, ...]
    activation: str  # of the feed-forward networks, of `ACTIVATIONS`
    embedding_norm: bool  # whether embeddings with their positions are normalised
    output: int  # width of the output embeddings

    @classmethod
    def of(cls, said: Any, where: object) -> Layout:
        """Read a layout written by `dataclasses.asdict`; ``where`` is for messages."""
        said = _closed(said, cls, where)
        sides: dict[str, Any] = {
            name: Side(**_closed(said[name], Side, where)) for name in ("source", "target")
        }
        found = cls(**(sides | {**said, **sides, "factors": tuple(said["factors"])}))
        for problem in found.problems():
            raise InputError(f"{where}: {problem}")
        return found

    def problems(self) -> Iterator[str]:
        """Yield contradictions and values out of range."""
        numbers = {"output": self.output, **{f"factor {k}": n for k, n in enumerate(self.factors)}}
        for name, side in (("source", self.source), ("target", self.target)):
            numbers |= {f"{name}.{key}": value for key, value in vars(side).items()}
            if side.pre_norm < side.final_norm:
                yield f"{name}: a final normalisation belongs to pre_norm"
        for name, number in numbers.items():
            least = 0 if name.endswith(("pre_norm", "final_norm", "scale")) else 1
            most = MOST_LAYERS if name.endswith("layers") else LARGEST
            if not isinstance(number, (int, float)) or not least <= number <= most:
                yield f"{name} is {quoted(number)}, not from {least} to {most:,}"
                return
        for name, side in (("source", self.source), ("target", self.target)):
            if side.width % side.heads or side.heads > 1 << 14:
                yield f"{name}: {side.heads} heads do not share a width of {side.width}"
        if len(self.factors) > MOST_FACTORS or self.activation not in ACTIVATIONS:
            yield f"{len(self.factors)} features and activation {quoted(self.activation)}"

    def shapes(self) -> Shapes:
        """Return CTranslate2's name -> shape of all weights."""
        source, target = self.source, self.target
        tables = (source.size, *self.factors)
        found: Shapes = {
            f"encoder/embeddings_{k}/weight": (n, source.width) for k, n in enumerate(tables)
        }
        found["decoder/embeddings/weight"] = (target.size, target.width)
        found["decoder/projection/weight"] = (target.size, self.output)
        if self.output != target.width:
            found["decoder/project_out/weight"] = (self.output, target.width)
        for name, side in (("encoder", source), ("decoder", target)):
            found[f"{name}/position_encodings/encodings"] = (side.positions, side.width)
            found |= _norm(f"{name}/layer_norm", side.width) if side.final_norm else {}
            if self.embedding_norm:
                found |= _norm(f"{name}/layernorm_embedding", side.width)
            for k in range(side.layers):
                found |= self._layer(f"{name}/layer_{k}", side)
        return found

    def _layer(self, name: str, side: Side) -> Shapes:
        width, memory = side.width, self.source.width
        found = _linear(f"{name}/self_attention/linear_0", 3 * width, width)
        found |= _linear(f"{name}/self_attention/linear_1", width, width)
        found |= _linear(f"{name}/ffn/linear_0", side.inner, width)
        found |= _linear(f"{name}/ffn/linear_1", width, side.inner)
        blocks = ["self_attention", "ffn"]
        if side is self.target:
            blocks.append("attention")
            found |= _linear(f"{name}/attention/linear_0", width, width)
            found |= _linear(f"{name}/attention/linear_1", 2 * width, memory)
            found |= _linear(f"{name}/attention/linear_2", width, width)
        for block in blocks:
            found |= _norm(f"{name}/{block}/layer_norm", width)
        return found


def _linear(name: str, outputs: int, inputs: int) -> Shapes:
    return {f"{name}/weight": (outputs, inputs), f"{name}/bias": (outputs,)}


def _norm(name: str, width: int) -> Shapes:
    return {f"{name}/gamma": (width,), f"{name}/beta": (width,)}


def _closed(said: Any, kind: type, where: object) -> Mapping[str, Any]:
    """Return the fields of a dataclass from JSON, each of its type."""
    wanted: dict[str, type] = {"int": int, "bool": bool, "float": float, "str": str, "Side": dict}
    wanted["tuple[int, ...]"] = list
    names = {item.name: wanted[str(item.type)] for item in fields(kind)}
    if not isinstance(said, dict) or said.keys() != names.keys():
        raise InputError(f"{where}: {quoted(said)} is no {kind.__name__.lower()} of a model")
    for name, type_ in names.items():
        if type(said[name]) is not type_ or type_ is list and {*map(type, said[name])} - {int}:
            raise InputError(f"{where}: {name!r} is {quoted(said[name])}, not of its type")
    return said
