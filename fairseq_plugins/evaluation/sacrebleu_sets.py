"""sacreBLEU's own test sets, where they are on disk; nothing is downloaded."""

from pathlib import Path
from typing import Any

from sacrebleu.dataset import DATASETS
from sacrebleu.utils import SACREBLEU_DIR

from ..errors import InputError
from ..messages import named


def test_set_files(name: str, pair: str) -> tuple[str, list[str]]:
    """Return the file of sources, and those of references.

    Args:
        name: as sacreBLEU knows the set, e.g. ``wmt14/full``.
        pair: languages, e.g. ``en-de``.

    Raises:
        FileNotFoundError: sacreBLEU has not downloaded the set.
        InputError: an unknown set or pair.
    """
    known: dict[str, Any] = DATASETS
    if name not in known:
        raise InputError(f"sacreBLEU has no test set {name!r}; sacrebleu --list names them")
    found = known[name]
    if pair not in found.langpairs:
        raise InputError(f"{name} has no pair {pair!r}; choices: {named(sorted(found.langpairs))}")
    if not any((Path(SACREBLEU_DIR) / name).glob(f"*.{pair}.*")):
        raise FileNotFoundError(
            f"{name} is not in {SACREBLEU_DIR}: sacrebleu -t {name} -l {pair} --echo ref "
            "downloads it"
        )
    return found.get_source_file(pair), found.get_reference_files(pair)
