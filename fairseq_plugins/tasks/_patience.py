"""Counts the validations of ``--patience`` across a stop, which fairseq forgets.

fairseq keeps the best score and the number of validations since as attributes of its function
`should_stop_early`, not in checkpoints. So the state of a task in a checkpoint has both, with the
metric, and a training that goes on sets them again.
"""

import sys
from typing import Any

from ._checkpoint_options import training_of
from ._start import resumed_state

NAME = "patience"  # in the state of a task
_MODULES = ("__main__", "fairseq_cli.train")  # a started file is `__main__`


def state(cfg: Any) -> dict[str, Any]:
    """Return the entry for a checkpoint; empty without a count."""
    function, whole = _function(), training_of(cfg)
    if whole is None or whole.checkpoint.patience <= 0 or not hasattr(function, "best"):
        return {}
    metric = str(whole.checkpoint.best_checkpoint_metric)
    return {NAME: {"metric": metric, "best": float(function.best), "runs": int(function.num_runs)}}


def go_on(cfg: Any) -> None:
    """Count on from the checkpoint that a training goes on from, if it has the same metric."""
    function, whole = _function(), training_of(cfg)
    if function is None or whole is None or whole.checkpoint.patience <= 0:
        return
    found = resumed_state(cfg, "task_state", NAME)
    if found.get("metric") == str(whole.checkpoint.best_checkpoint_metric):
        function.best, function.num_runs = float(found["best"]), int(found["runs"])


def _function() -> Any:
    modules = (sys.modules.get(name) for name in _MODULES)
    found = (getattr(module, "should_stop_early", None) for module in modules)
    return next(filter(None, found), None)
