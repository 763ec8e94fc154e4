"""Prepare text like an existing folder: with its settings (``--like``), or checked against them.

Subword models and dictionaries fit text with the same tokenisation; in any other text many subwords
become ``<unk>``.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...data.manifest import FILE_NAME
from ...data.manifests import read_manifest
from ...data.translation_manifest import TranslationManifest
from ...errors import InputError
from ...files import sha256
from ...messages import named
from ...option_flags import flag_of
from ...pretrained.directory import CONFIG
from ...pretrained.translation_directories import vocabulary_file
from ...pretrained.translation_models import dictionary_beside, read_model
from ...syntax.layers import OF_TARGETS, layers_of
from ...text.annotate import check_recorded
from ...text.annotators import is_default
from ...text.protected import Protection
from ...text.source_encoder import protection_of
from .layer_options import NOTHING, apart, read_layers
from .translation_options import MODELS, SAMPLED, TranslationOptions

SETTINGS = ("tokenizer", "normalizer", "subwords")
SIDES = ("source", "target")
SUBWORD_NAMES = {  # of fairseq's and Hugging Face's folders
    "sentencepiece": ("*.model",),
    "subword_nmt": ("bpecodes", "codes.bpe", "code", "codes", "*.code", "*.codes"),
}
SUBWORD_FILES = {"subword_nmt": "bpe_codes", "sentencepiece": "sentencepiece_model"}


def options_of(given: Mapping[str, Any]) -> TranslationOptions:
    """Build options from options given by name.

    Args:
        given: options; ``like`` names a folder whose languages, tokeniser, normaliser, subwords,
            dictionaries, features, trees and annotation are used, and for samples its rate.
    """
    given = {name: value for name, value in given.items() if value is not None}
    folder, model = given.pop("like", None), given.pop("like_model", None)
    if folder and model:
        raise InputError("--like and --like-model: give one of them")
    taken = settings_of(Path(folder)) if folder else {}
    if model:
        taken = model_settings(Path(model), [given.get(f"{side}_lang") for side in SIDES])
    if not given.get("samples"):
        taken = {name: value for name, value in taken.items() if name not in SAMPLED.values()}
    if folder and "layers" in given:
        given |= _layers_of(folder, given.pop("layers"), taken)
    for name in given.keys() & taken.keys():
        if not _agree(name, given[name], taken[name]):
            said = f"--like {folder}, which was prepared" if folder else f"--like-model {model},"
            raise InputError(
                f"{flag_of(name)} {given[name]} contradicts {said} with {taken[name]!r}"
            )
    langs = ("source_lang", "target_lang")
    if missing := [flag_of(name) for name in langs if name not in taken | given]:
        raise InputError(f"{' and '.join(missing)} must be given, unless --like FOLDER says it")
    for name in ("spacy_model", "target_annotator"):
        if folder and taken[name] and name not in given:
            check_recorded(taken[name], Path(folder))
    return TranslationOptions(**{**taken, **given})


def model_settings(folder: Path, languages: Sequence[str | None]) -> dict[str, Any]:
    """Return the options that prepare text for a trained model, see `translation_models`.

    Args:
        folder: of fairseq's files, with or without a checkpoint, or of Hugging Face's.
        languages: of source and target.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"--like-model: no folder {str(folder)!r}")
    if not all(languages):
        raise InputError("--like-model needs --source-lang and --target-lang")
    known = [str(language) for language in languages]
    found: dict[str, Any] = _subwords_of(folder)
    paths = [dictionary_beside(folder, language) for language in known]
    if (folder / CONFIG).is_file() or any(folder.glob("*.pt")):
        model = read_model(folder)
        forms = model.forms(known)
        found |= {f"{side}_form": form for side, form in zip(SIDES, forms)}
        if any(forms):
            paths = [vocabulary_file(folder) if (folder / CONFIG).is_file() else model.path] * 2
    for short, language, path in zip(("src", "tgt"), known, paths):
        if path is None:
            raise InputError(f"--like-model {folder} has no dict.{language}.txt")
        found[f"{short}dict"] = str(path)
    return found


def _subwords_of(folder: Path) -> dict[str, Any]:
    """Return the options of a folder's subword model: sentencepiece's, or codes."""
    for kind, patterns in SUBWORD_NAMES.items():
        held = sorted({path for pattern in patterns for path in folder.glob(pattern)})
        if len(held) > 1:
            raise InputError(
                f"--like-model {folder} has {named(path.name for path in held)}: which is its "
                f"subword model? Keep one, or give {flag_of(SUBWORD_FILES[kind])} and the "
                "dictionaries without --like-model"
            )
        if held:
            words = {"tokenizer": "none"} if kind == "sentencepiece" else {}
            return {"subwords": kind, SUBWORD_FILES[kind]: str(held[0]), **words}
    names = named(name for patterns in SUBWORD_NAMES.values() for name in patterns)
    raise InputError(f"--like-model {folder} has no subword model; expected one of {names}")


def _layers_of(folder: str, text: str, taken: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``--layers`` as older options; refuse layers that differ from the folder's."""
    asked = apart(read_layers(text, "--layers"))
    if not all(_agree(name, value, taken[name]) for name, value in asked.items()):
        held = ",".join(read_manifest(Path(folder)).layers) or NOTHING
        raise InputError(
            f"--layers {text} contradicts --like {folder}, which was prepared with {held!r}"
        )
    return asked


def settings_of(folder: Path) -> dict[str, Any]:
    """Return the options that prepare text as a folder was prepared."""
    manifest = read_manifest(folder, TranslationManifest)
    if not manifest.splits:
        raise InputError(f"{folder / FILE_NAME} names no split: nothing was prepared there")
    sides = [manifest.segmentation[name] for name in ("source", "target")]
    found = {name: sides[0][name] for name in SETTINGS}
    found |= {"source_lang": manifest.source_lang, "target_lang": manifest.target_lang}
    found |= {"features": ",".join(manifest.features), "parse": manifest.heads}
    found["target_layers"] = ",".join(manifest.target_features)
    found["target_conllu"] = bool(manifest.options.get("target_conllu"))
    found["target_annotator"] = manifest.options.get("target_annotator") or ""
    if any(layer.learnt for layer in layers_of(manifest.layers)):
        found["layer_dicts"] = str(folder)
    found |= {f"{side}_form": one.get("form", "") for side, one in manifest.segmentation.items()}
    rates = {rate: manifest.options.get(rate) for rate in SAMPLED.values()}
    found |= {rate: value for rate, value in rates.items() if value is not None}
    found["protect"] = protection_of(manifest) or ""
    found["conllu"] = bool(manifest.options.get("conllu"))
    found["spacy_model"] = manifest.options.get("spacy_model") or ""
    kind, model = sides[0]["subwords"], sides[0]["model"]
    if model and kind not in [*SUBWORD_FILES]:
        raise InputError(f"{folder / FILE_NAME}: {kind!r} subwords have no model like {model!r}")
    names = {SUBWORD_FILES[kind]: model} if model else {}
    for side, short in zip(sides, ("src", "tgt")):
        names |= {f"{short}vocab": side["vocabulary"]} if side["vocabulary"] else {}
    for lang, short in ((manifest.source_lang, "src"), (manifest.target_lang, "tgt")):
        dictionary = f"dict.{lang}.txt"
        names |= {f"{short}dict": dictionary} if (folder / dictionary).is_file() else {}
    return found | {name: str(folder / file) for name, file in names.items()}


def _agree(name: str, given: Any, taken: Any) -> bool:
    """Whether an explicit option agrees with a folder; files are compared by their bytes."""
    if name in MODELS and Path(given).is_file() and Path(taken).is_file():
        return sha256(Path(given)) == sha256(Path(taken))
    if name == "layer_dicts":
        return Path(given).resolve() == Path(taken).resolve()
    if name == "features":
        return set(filter(None, given.split(","))) == set(filter(None, taken.split(",")))
    if name == "protect":
        return Protection.asked(given) == taken
    return given == taken or (name == "spacy_model" and is_default(given) and is_default(taken))


def check_given_folders(options: TranslationOptions, annotator_id: str) -> None:
    """Refuse models and dictionaries of a prepared folder with another tokenisation."""
    for name, path in options.given_models().items():
        manifest = _manifest_beside(path)
        for what, theirs, ours in _differences(manifest, options, annotator_id) if manifest else ():
            raise InputError(
                f"{flag_of(name)} {path} is of a folder prepared with {what} {theirs!r}, not "
                f"{ours!r}: its text would not fit. --like {path.parent} prepares as that folder "
                "was; to use the file all the same, copy it elsewhere"
            )


def keeps_sequences(options: TranslationOptions, *, learnt: bool) -> bool:
    """Whether sequences stay whole (`syntax.sequences`): folders record if they do.

    Given models and dictionaries may know the parts alone, unless their folder has the record.

    Args:
        options: of the preparation.
        learnt: whether the training text has sequences.
    """
    if given := options.given_models():
        beside = filter(None, map(_manifest_beside, given.values()))
        return any(one.segmentation["source"].get("sequences", False) for one in beside)
    return learnt


def _manifest_beside(path: Path) -> TranslationManifest | None:
    """Return the manifest of a file's prepared folder, if any."""
    folder = path.resolve().parent
    with suppress(FileNotFoundError, InputError):  # a foreign file may have the same name
        return read_manifest(folder, TranslationManifest)
    return None


def _differences(
    manifest: TranslationManifest, options: TranslationOptions, annotator_id: str
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the differences of a folder from options: name, its value, the options' value."""
    side = manifest.segmentation.get("source", {})
    for name in SETTINGS:
        if side and side[name] != getattr(options, name):
            yield flag_of(name), side[name], getattr(options, name)
    if side and protection_of(manifest) != options.protection:
        yield flag_of("protect"), protection_of(manifest), options.protection
    ours = [name for name in options.target_names if name in OF_TARGETS]
    theirs = [name for name in manifest.target_features if name in OF_TARGETS]
    if theirs != ours:
        yield flag_of("target_layers"), ",".join(theirs) or "none", ",".join(ours) or "none"
    limited = options.srcvocab or options.tgtvocab or options.bpe_vocabulary_threshold
    if side.get("vocabulary") and options.bpe_codes and not limited:
        yield "a vocabulary for its codes", side["vocabulary"], "none"
    if not options.trainpref and manifest.annotator_id and annotator_id != manifest.annotator_id:
        if annotator_id:  # without an annotator, nothing can differ
            yield "the annotator", manifest.annotator_id, annotator_id
