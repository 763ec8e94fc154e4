"""The common inputs and outputs of a translation task's models."""

from dataclasses import dataclass, replace
from typing import Any, Optional

from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.layers import given_names
from ..syntax.needs import Needs
from . import _target_factors


@dataclass(frozen=True)
class ModelsRead:
    """Common facts of an ensemble's models, built one after the other."""

    limit: int  # most subwords of a source for all models
    controls: Optional[Controls] = None  # replacements of layers; None before the first model
    predicted: tuple[str, ...] = ()  # factors of target words that they predict
    given: frozenset[str] = frozenset()  # layers that they read and that only prepared folders have
    # annotator of the training data of each model from a checkpoint
    trained_with: tuple[str, ...] = ()

    @property
    def in_force(self) -> Controls:
        """The controls; none before the first model."""
        return self.controls or UNCONTROLLED

    def with_model(self, needs: Needs) -> "ModelsRead":
        """Return the value with a further model, before it is built."""
        if self.controls is not None:
            needs.check_controls(self.controls)
            _target_factors.check_alike(self.predicted, needs.targets)
        return replace(self, controls=needs.controls, predicted=needs.targets)

    def answering(self, model: Any, trained_with: Optional[str]) -> "ModelsRead":
        """Return the value after a model is built; ``trained_with`` is None for a new one."""
        annotated = trained_with is not None and model.needs.reads(training=False)
        return replace(
            self,
            limit=min(self.limit, model.max_positions()[0]),
            given=self.given.union(given_names(model.needs.features)),
            trained_with=(*self.trained_with, *([trained_with] if annotated else [])),
        )
