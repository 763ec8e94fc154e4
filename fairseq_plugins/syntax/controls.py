"""What a model is given in the place of what was prepared, to see what it gains from that."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError

PARSE, GOLD, SHUFFLED, RANDOM, CHAIN, FULL = TREE_SOURCES = (
    *("parse", "gold", "shuffled", "random", "chain", "full"),
)
GIVEN, CONSTANT = "given", "constant"
FEATURE_SOURCES = (GIVEN, SHUFFLED, RANDOM, CONSTANT)
QUESTION_SOURCES = (GIVEN, SHUFFLED)
AS_PREPARED = (PARSE, GOLD, GIVEN)  # sources that leave a folder as it is
DRAWN = (SHUFFLED, RANDOM)  # those that follow from a whole split and a seed
SOURCES = ("tree_source", "feature_source", "question_source")  # options of models
# those by which the same weights are another system
CONTROLS = (*SOURCES, "dual_control", "coattention_control")


@dataclass(frozen=True)
class Controls:
    """What a model is given in the place of what was prepared.

    Args:
        trees: of `TREE_SOURCES`.
        features: of `FEATURE_SOURCES`.
        questions: of `QUESTION_SOURCES`.
        seed: of what is drawn; None where nothing is.
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
        """The options that change something, as on the command line; empty where none does."""
        changed = {flag: one for flag, one in self._sources.items() if one not in AS_PREPARED}
        return " ".join(f"{flag} {source}" for flag, source in changed.items())

    @property
    def described(self) -> str:
        """Those options, with the seed of what is drawn."""
        return f"{self.said} (seed {self.seed})" if self.drawn else self.said

    @property
    def record(self) -> dict[str, str]:
        """What a record of an evaluation says of them: nothing where there are none."""
        return {"controls": self.described} if self.said else {}

    @property
    def drawn(self) -> bool:
        """Whether something is drawn from a whole split, which raw text is not."""
        return any(value in DRAWN for value in self._sources.values())

    def check_raw(self) -> None:
        """Refuse raw text for a model of which something is drawn; InputError says what to do."""
        if self.drawn:
            raise InputError(
                f"the model was trained with {self.said}, which is drawn from a whole split: raw "
                "text has none; take a split of a prepared folder"
            )


UNCONTROLLED = Controls()
