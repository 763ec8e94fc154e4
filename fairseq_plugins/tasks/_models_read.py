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
        needs: of the models; None before the first.
        given: layers that they read and that only prepared folders have.
        trained_with: what annotated the training data of each that came from a checkpoint.
    """

    limit: int
    needs: Optional[Needs] = None
    given: frozenset[str] = frozenset()
    trained_with: tuple[str, ...] = ()

    @property
    def in_force(self) -> Controls:
        """What the models are given in the place of layers."""
        return UNCONTROLLED if self.needs is None else self.needs.controls

    @property
    def predicted(self) -> tuple[str, ...]:
        """Factors of target words that the models predict."""
        return () if self.needs is None else self.needs.targets

    def joined(self, needs: Needs) -> "ModelsRead":
        """Return the value with a further model, which is not built yet.

        Raises:
            InputError: it has other controls, or predicts other factors.
        """
        if self.needs is not None:
            needs.check_controls(self.needs.controls)
            _target_factors.check_alike(self.needs.targets, needs.targets)
        return replace(self, needs=needs)

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
