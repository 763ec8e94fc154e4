"""Hugging Face directories of translation models, in fairseq's terms: M2M-100, NLLB, mBART.

`KINDS` says for each ``model_type`` of ``config.json`` how it differs: positions, norms of the
embeddings, the forms of sentences. Both have fairseq's names of weights, share all embeddings,
normalise before each part, and number positions from 2, as fairseq does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from ..door.torch_files import check_finite
from ..errors import InputError
from ..messages import named, quoted
from . import weights
from .directory import CONFIG, TOKENIZER, read_json
from .sentencepiece_model import pieces_of

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")  # of fairseq, with these ids
SENTENCEPIECE = "sentencepiece.bpe.model"
WORDS = "vocab.json"
VOCABULARIES = (TOKENIZER, WORDS, SENTENCEPIECE)
SETTINGS = ("special_tokens_map.json", "tokenizer_config.json")
# forms of source and target, see `translation_models.FORMS`
BEFORE, BEHIND = ("L $ </s>", "L $ </s>"), ("$ </s> L", "$ </s> L")
LEGACY = ("$ </s> L", "L $ </s>")  # NLLB with ``legacy_behaviour``
TABLE = "shared.weight"
TABLES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
OUTPUT, BIAS = "decoder.output_projection.weight", "final_logits_bias"
NAMES = {  # fairseq's option -> the key of config.json
    **{f"{side}_{name}": f"{side}_{name}" for side in ("encoder", "decoder")
       for name in ("layers", "attention_heads")},
    **{f"{side}_ffn_embed_dim": f"{side}_ffn_dim" for side in ("encoder", "decoder")},
    **dict.fromkeys(("encoder_embed_dim", "decoder_embed_dim"), "d_model"),
    **dict.fromkeys(("max_source_positions", "max_target_positions"), "max_position_embeddings"),
    "activation_fn": "activation_function",
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """What decides the mathematics of a ``model_type``, beside the sizes."""

    learnt: bool  # whether positions are learnt, and the embeddings normalised
    forms: Mapping[str, tuple[str, str]]  # class of the tokeniser -> forms; "" for others


KINDS = {
    "m2m_100": Kind(learnt=False, forms={"": BEFORE}),
    "mbart": Kind(
        learnt=True,
        forms={"MBart50Tokenizer": BEFORE, "MBart50TokenizerFast": BEFORE, "": BEHIND},
    ),
}


def read_options(directory: Path) -> tuple[dict[str, Any], tuple[str, str]]:
    """Return the options of fairseq's transformer, and the forms of source and target."""
    path = directory / CONFIG
    config = read_json(path)
    name = config.get("model_type")
    if not isinstance(name, str) or name not in KINDS:
        raise InputError(f"{path}: model_type is {quoted(name)}; choices: {', '.join(KINDS)}")
    if lacking := sorted({key for key in NAMES.values() if key not in config}):
        raise InputError(f"{path} lacks {named(lacking)}")
    if config.get("tie_word_embeddings") is False:
        raise InputError(f"{path}: tie_word_embeddings is false; only shared tables are read")
    kind, learnt = KINDS[name], KINDS[name].learnt
    found = {ours: config[key] for ours, key in NAMES.items()}
    found |= dict.fromkeys(("encoder_learned_pos", "decoder_learned_pos"), learnt)
    found |= dict.fromkeys(("encoder_normalize_before", "decoder_normalize_before"), True)
    found |= {"share_all_embeddings": True, "layernorm_embedding": learnt, "_name": "transformer"}
    found["no_scale_embedding"] = not config.get("scale_embedding", name == "m2m_100")
    found["vocab_size"] = config.get("vocab_size")
    path = directory / SETTINGS[1]
    settings = read_json(path) if path.is_file() else {}
    forms = kind.forms.get(str(settings.get("tokenizer_class")), kind.forms[""])
    legacy = name == "m2m_100" and settings.get("legacy_behaviour") is True
    return found, LEGACY if legacy else forms


def read_weights(directory: Path) -> dict[str, Tensor]:
    """Return the weights under fairseq's names."""
    path = weights.weights_file(directory)
    found = {
        name.removeprefix("model."): value
        for name, value in weights.read_tensors(directory).items()
    }
    check_finite(found, path)
    bias = found.pop(BIAS, None)
    if bias is not None and bias.any():
        raise InputError(f"{path}: {BIAS} is not zero; fairseq's transformer has none")
    copies = {name: found.pop(name, None) for name in (TABLE, *TABLES, "lm_head.weight")}
    held = [value for value in copies.values() if value is not None]
    if not held or any(not value.equal(held[0]) for value in held):
        raise InputError(f"{path}: the tables of words differ, or are missing")
    return found | dict.fromkeys((*TABLES, OUTPUT), held[0])


def vocabulary_file(directory: Path) -> Path:
    """Return the file with the vocabulary."""
    for name in VOCABULARIES:
        if (directory / name).is_file():
            return directory / name
    raise FileNotFoundError(f"{directory}: no vocabulary; expected {' or '.join(VOCABULARIES)}")


def read_symbols(directory: Path, options: Mapping[str, Any]) -> list[str]:
    """Return the vocabulary in the order of its ids, filled up to the size of the table."""
    path, size = vocabulary_file(directory), options["vocab_size"]
    found = _ids(path)
    if WORDS in path.name or SENTENCEPIECE in path.name:
        more = [one for one in _languages(directory) if one not in found]
        found |= {one: len(found) + i for i, one in enumerate(more)}
    symbols = sorted(found, key=found.__getitem__)
    if [found[one] for one in symbols] != [*range(len(symbols))]:
        raise InputError(f"{path}: its ids are not 0, 1, 2 ...")
    if tuple(symbols[: len(SPECIALS)]) != SPECIALS:
        raise InputError(f"{path} begins with {named(symbols[:4])}, expected {named(SPECIALS)}")
    if type(size) is not int or not len(symbols) <= size < 2**20:
        raise InputError(f"{path} has {len(symbols)} subwords, {CONFIG} says {quoted(size)}")
    return filled(symbols, size)


def filled(symbols: list[str], size: int) -> list[str]:
    """Return a vocabulary with as many symbols as a table has rows, as fairseq's padding names."""
    return [*symbols, *(f"madeupword{i:04d}" for i in range(size - len(symbols)))]


def _ids(path: Path) -> dict[str, int]:
    """Return the ids of a vocabulary file."""
    if path.name == SENTENCEPIECE:  # of which the first three are others in fairseq
        return {one: i for i, one in enumerate([*SPECIALS, *pieces_of(path)[3:]])}
    body = read_json(path)
    found: dict[Any, Any] = body
    if path.name != WORDS:
        model = body.get("model")
        held = model.get("vocab") if isinstance(model, dict) else None
        if isinstance(held, list):  # of pairs of a subword and its score
            held = {pair[0]: i for i, pair in enumerate(held) if isinstance(pair, list) and pair}
        added = [one for one in body.get("added_tokens") or [] if isinstance(one, dict)]
        found = {**(held or {}), **{one.get("content"): one.get("id") for one in added}}
    if not all(isinstance(k, str) and type(v) is int for k, v in found.items()):
        raise InputError(f"{path} holds no ids of subwords")
    return found


def _languages(directory: Path) -> list[str]:
    """Return the tokens of languages that tokenisers add to their vocabulary, and the mask."""
    for name in SETTINGS:
        path = directory / name
        held = read_json(path) if path.is_file() else {}
        listed = held.get("additional_special_tokens") or []
        mask = [held["mask_token"]] if "mask_token" in held else []
        texts = [one.get("content") if isinstance(one, dict) else one for one in [*listed, *mask]]
        if listed:
            return list(filter(None, map(str, texts)))
    raise InputError(
        f"{directory}: no additional_special_tokens in {' or '.join(SETTINGS)}, so the ids of its "
        "languages are unknown"
    )
