"""Options of controls: replacements for a model's parses, features and questions.

Controls are options of models, so a checkpoint stores them and every evaluation applies them;
`syntax.drawn` implements them.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from ..errors import InputError
from ..option_flags import choice, option
from ..syntax.controls import (
    DRAWN,
    FEATURE_SOURCES,
    GIVEN,
    PARSE,
    QUESTION_SOURCES,
    SOURCES,
    TREE_SOURCES,
    Controls,
)
from .options import Options, write

logger = logging.getLogger(__name__)


@dataclass
class FeatureControls(Options):
    """Options of models that read features."""

    feature_source: choice(FEATURE_SOURCES) = option(
        "control, in training and evaluation: the values of all features are as prepared "
        "(given), those of the split's words in another order (shuffled), drawn at random from "
        "them (random), or the same for all words (constant)",
        GIVEN,
    )
    control_seed: Optional[int] = option(
        "random seed of controls that shuffle or draw (default: --seed)", None
    )


@dataclass
class TreeControls(FeatureControls):
    """Options of models that read parse trees."""

    tree_source: choice(TREE_SOURCES) = option(
        "control, in training and evaluation: the parse trees of the data folder (parse); the "
        "same, but only if they came as CoNLL-U (gold); the tree of another sentence of the "
        "same length (shuffled); a random projective tree (random); each word's head is the "
        "word to its left (chain); or masks that hide nothing (full)",
        PARSE,
    )


@dataclass
class QuestionControls(Options):
    """Options of models that answer questions."""

    question_source: choice(QUESTION_SOURCES) = option(
        "control, in training and evaluation: each example is asked its own question (given), "
        "or that of another example (shuffled)",
        GIVEN,
    )


def controls_of(args: Any, *, features: Sequence[str] = (), trees: bool = False) -> Controls:
    """Return the controls of a model's resolved options."""
    source = str(getattr(args, "tree_source", PARSE))
    asked = str(getattr(args, "question_source", GIVEN))
    found = Controls(source, str(args.feature_source), asked, args.control_seed)
    if source != PARSE and not trees:
        raise InputError(f"--tree-source {source}: this model reads no parse trees")
    if found.features != GIVEN and not features:
        raise InputError(f"--feature-source {found.features}: this model reads no features")
    return found if found.drawn else replace(found, seed=None)


def write_seed(cfg: Any, seed: int) -> None:
    """Write the seed of a new model's controls into its options, if a control is random."""
    sources = (str(getattr(cfg, name, GIVEN)) for name in SOURCES)
    if getattr(cfg, "control_seed", None) is None and any(one in DRAWN for one in sources):
        write(cfg, control_seed=seed)


def log_controls(controls: Controls) -> None:
    """Log the controls of a new model, if any."""
    if controls.said:
        logger.info("controls: %s", controls.described)
