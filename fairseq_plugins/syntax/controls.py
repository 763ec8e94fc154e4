"""Controls: replacements for prepared trees, features and questions, to measure their benefit."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError

PARSE, GOLD, SHUFFLED, RANDOM, CHAIN, FULL = TREE_SOURCES = (
    *("parse", "gold", "shuffled", "random", "chain", "full"),
)
GIVEN, CONSTANT = "given", "constant"
FEATURE_SOURCES = (GIVEN, SHUFFLED, RANDOM, CONSTANT)
QUESTION_SOURCES = (GIVEN, SHUFFLED)
AS_PREPARED = (PARSE, GOLD, GIVEN)  # sources without changes to a folder
DRAWN = (SHUFFLED, RANDOM)  # sources drawn from a whole split and a seed
SOURCES = ("tree_source", "feature_source", "question_source")  # options of models
# options that make another system of the same weights
CONTROLS = (*SOURCES, "dual_control", "coattention_control")


@dataclass(frozen=True)
class Controls:
    """Replacements for a model's prepared input.

    Args:
        trees: of `TREE_SOURCES`.
        features: of `FEATURE_SOURCES`.
        questions: of `QUESTION_SOURCES`.
        seed: of random draws; None without draws.
    """

    trees: str = PARSE
    features: str = GIVEN
    questions: str = GIVEN
    seed: int | None = None

    @property
    def _sources(self) -> dict[str, str]:
        return {
            "--tree-source": self.trees,
            "--feature-source": self.features,
            "--question-source": self.questions,
        }

    @property
    def said(self) -> str:
        """The options with an effect, as on the command line; empty without any."""
        changed = {flag: one for flag, one in self._sources.items() if one not in AS_PREPARED}
        return " ".join(f"{flag} {source}" for flag, source in changed.items())

    @property
    def described(self) -> str:
        """The same options, with the seed of random draws."""
        return f"{self.said} (seed {self.seed})" if self.drawn else self.said

    @property
    def record(self) -> dict[str, str]:
        """The entry in the record of an evaluation; empty without controls."""
        return {"controls": self.described} if self.said else {}

    @property
    def drawn(self) -> bool:
        """Whether draws come from a whole split, unlike raw text."""
        return any(value in DRAWN for value in self._sources.values())

    def check_raw(self) -> None:
        """Refuse raw text for a model with random draws."""
        if self.drawn:
            raise InputError(
                f"the model was trained with {self.said}, which is drawn from a whole split: raw "
                "text has none; take a split of a prepared folder"
            )


UNCONTROLLED = Controls()
