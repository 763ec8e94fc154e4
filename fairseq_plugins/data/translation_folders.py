"""Prepared folders of parallel text: manifests, dictionaries and inventories that agree."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..syntax.labels import digest_of
from ..syntax.layers import Layer, layers_of
from ..syntax.rows import AGAIN
from ..text_reading import read_text
from .inventories import bound_layers
from .manifests import read_manifest
from .products import check_whole
from .translation_manifest import TranslationManifest

_SHARED = ("pair", "features", "heads", "target_features", "annotator_id", "protect")


def shared_manifest(folders: Sequence[str]) -> TranslationManifest:
    """Return the first folder's manifest, after checking the other folders against it."""
    if not folders:
        raise InputError("no data folder is given")
    first = _load(folders[0])
    for folder in folders[1:]:
        other = _load(folder)
        for key in _SHARED:
            ours, theirs = getattr(first, key), getattr(other, key)
            if ours != theirs:
                raise InputError(
                    f"{folders[0]} and {folder} differ in {key}: {ours!r} and {theirs!r}; "
                    "shards must be prepared alike"
                )
        learnt = [layer for layer in layers_of(first.layers) if layer.learnt]
        names = [f"dict.{language}.txt" for language in (first.source_lang, first.target_lang)]
        for name in (*names, *map(first.inventory_file, learnt)):
            _same_vocabulary(folders[0], folder, name)
    return first


def _load(folder: str) -> TranslationManifest:
    manifest = read_manifest(Path(folder), TranslationManifest)
    check_whole(Path(folder), manifest, partial=True)
    return manifest


def _same_vocabulary(first: str, other: str, name: str) -> None:
    vocabularies = []
    for folder in (first, other):
        path = Path(folder) / name
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; {AGAIN}")
        lines = read_text(path).split("\n")
        vocabularies.append([line.rsplit(" ", 1)[0] for line in lines])
    if vocabularies[0] != vocabularies[1]:
        raise InputError(
            f"{first} and {other} differ in {name}; prepare the second with the first's "
            "dictionaries (--srcdict, --tgtdict)"
        )


def check_languages(manifest: TranslationManifest, source: str | None, target: str | None) -> None:
    """Refuse given languages that are not the folder's."""
    wanted = (source or manifest.source_lang, target or manifest.target_lang)
    if wanted != (manifest.source_lang, manifest.target_lang):
        raise InputError(
            f"--source-lang and --target-lang ask for {'-'.join(wanted)}, "
            f"but the folder was prepared for {manifest.pair}"
        )


def word_digests(manifest: TranslationManifest, *symbols: Sequence[str]) -> str:
    """Return the languages with digests of their dictionaries: ``en=0123abcd,de=4567cdef``.

    Args:
        symbols: of the source's dictionary, and of the target's, in the order of their ids.
    """
    sides = zip((manifest.source_lang, manifest.target_lang), symbols)
    return ",".join(f"{language}={digest_of(own)}" for language, own in sides)


def load_layers(
    folders: Sequence[str], manifest: TranslationManifest, *, of_target: bool = False
) -> list[Layer]:
    """Return the layers of folders, or those ``of_target``, in the order of their columns."""
    names = manifest.target_features if of_target else manifest.layers
    return [bound_layers(Path(one), manifest, names, of_target=of_target) for one in folders][0]
