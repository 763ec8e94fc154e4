"""How many layers stand above an encoder's weights, for learning rates that fall layer by layer."""

from collections.abc import Collection

from .bert import BertEncoder

ABOVE = "layers_above"  # attribute of weights
BELOW = ("embeddings.", "relative.")  # prefixes of weights that all layers read


def mark_layers(encoder: BertEncoder, new: Collection[str]) -> None:
    """Write how many layers stand above into an encoder's weights, except new parts.

    The number is 1 in the last layer (and in all weights of an encoder whose layers share theirs),
    and one more in each layer below and in the embeddings and relative positions.

    Args:
        new: parts of the names of new weights, see `methods.method.Method.parts`.
    """
    count = len(encoder.layers)
    places = {f"layers.{layer}.": count - layer for layer in range(count)}
    for prefix, above in {**places, **dict.fromkeys(BELOW, count + 1)}.items():
        for name, weight in encoder.named_parameters():
            if name.startswith(prefix) and not any(part in f"encoder.{name}" for part in new):
                setattr(weight, ABOVE, 1 if encoder.shape.shared else above)
