"""What the models of a translation task read and predict together."""

from dataclasses import dataclass, replace
from typing import Any, Optional

from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.layers import given_names
from ..syntax.needs import Needs
from . import _target_factors


@dataclass(frozen=True)
class ModelsRead:
    """What the models of an ensemble, built one after the other, have in common.

    Args:
        limit: most subwords of a source, which all models take.
        controls: what they are given in the place of layers; None before the first.
        predicted: factors of target words that they predict.
        given: layers that they read and that only prepared folders have.
        trained_with: what annotated the training data of each that came from a checkpoint.
    """

    limit: int
    controls: Optional[Controls] = None
    predicted: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
    trained_with: tuple[str, ...] = ()

    @property
    def in_force(self) -> Controls:
        """The controls; none before the first model."""
        return self.controls or UNCONTROLLED

    def with_model(self, needs: Needs) -> "ModelsRead":
        """Return the value with a further model, which is not built yet."""
        if self.controls is not None:
            needs.check_controls(self.controls)
            _target_factors.check_alike(self.predicted, needs.targets)
        return replace(self, controls=needs.controls, predicted=needs.targets)

    def answering(self, model: Any, trained_with: Optional[str]) -> "ModelsRead":
        """Return the value once the model is built.

        Args:
            model: the further model.
            trained_with: what annotated its training data; None for a new model.
        """
        annotated = trained_with is not None and model.needs.reads(training=False)
        return replace(
            self,
            limit=min(self.limit, model.max_positions()[0]),
            given=self.given.union(given_names(model.needs.features)),
            trained_with=(*self.trained_with, *([trained_with] if annotated else [])),
        )
