"""One way to load a trained model of any kind: ``from fairseq_plugins import load``."""

from typing import Any

from ..bundles.index import found_bundles, read_index
from .options import ANSWERING, Paths


def load(path: Paths, **options: Any) -> Any:
    """Load a bundle, or a run where fairseq is installed.

    Args:
        path: a bundle, run folder or checkpoint file; several (a list, or joined by ``:``) are an
            ensemble, of models of texts and questions.
        options: of `prediction.load` or `question_answering.load`, e.g. ``int8=True``,
            ``spacy_model=...`` or ``cpu=True``.

    Returns:
        What predicts: `prediction.Predictor` (``predict``) for classes, scores and labels of words,
        `question_answering.Reader` (``answer``) for questions. All of them may be used by several
        threads.

    Raises:
        FileNotFoundError: there is no such bundle or run.
        ValueError: one that is damaged or refused.
    """
    if _task(path) == ANSWERING:
        from .question_answering import load as load_reader

        return load_reader(path, **options)
    from .prediction import load as load_predictor

    return load_predictor(path, **options)


def _task(path: Paths) -> str | None:
    """Return the task of the first of some bundles or runs."""
    if bundles := found_bundles(path):
        return read_index(bundles[0]).task
    from .text_checkpoints import find_checkpoints, read_checkpoint

    return read_checkpoint(find_checkpoints(path)[0]).task["_name"]
