"""The loader of trained models of any kind, for `python/` and the service."""

import os
from typing import Any

from ..bundles.index import found_bundles, read_index
from ..errors import InputError
from .options import ANSWERING, DEFAULT, TRANSLATING, Paths

OF_TRANSLATOR = ("spacy_model", "threads", "workers", "compute_type")


def load(path: Paths, **options: Any) -> Any:
    """Load a bundle, or a run if fairseq is installed; see `python.models.load`.

    Returns:
        `prediction.Predictor`, `question_answering.Reader` or `bundles.translation.Translator`; of
        a translation run the result of `from_pretrained`.
    """
    task = task_of(path)
    if task == TRANSLATING:
        return _load_translation(path, **options)
    if task == ANSWERING:
        from .question_answering import load as load_reader

        return load_reader(path, **options)
    from .prediction import load as load_predictor

    return load_predictor(path, **options)


def task_of(path: Paths) -> str | None:
    """Return the task of the first bundle or run."""
    if bundles := found_bundles(path):
        return read_index(bundles[0]).task
    from .text_checkpoints import find_checkpoints, read_checkpoint

    return read_checkpoint(find_checkpoints(path)[0]).task["_name"]


def _load_translation(path: Paths, *, int8: bool = False, **options: Any) -> Any:
    """Load a translation model; refuse unknown options."""
    options.pop("cpu", None)  # a bundle, and fairseq's interface of a run, use the CPU
    if bundles := found_bundles(path):
        if unknown := [name for name in options if name not in OF_TRANSLATOR]:
            choices = ", ".join(("int8", *OF_TRANSLATOR))
            raise InputError(f"{unknown[0]!r} is no option of a bundle; choices: {choices}")
        from ..bundles.translation import Translator, check_single

        options |= {"compute_type": "int8"} if int8 else {}
        return Translator.open(check_single(bundles), **options)
    from ..models.syntax_transformer import SyntaxTransformerModel
    from .text_checkpoints import find_checkpoints

    if int8:
        raise InputError("8 bits are for bundles: fairseq-plugins export makes one of a run")
    if data := options.pop("data", None):
        options["data_folder"] = data
    files = find_checkpoints(path, options.pop("checkpoint", DEFAULT))
    names = os.pathsep.join(os.path.relpath(file, files[0].parent) for file in files)
    return SyntaxTransformerModel.from_pretrained(str(files[0].parent), names, **options)
