"""Pieces of sentencepiece mean the text that the model itself makes, wherever they are joined."""

from __future__ import annotations

import io
import pickle
import random
from functools import cache
from pathlib import Path

import pytest
import sentencepiece
import torch
from fairseq import utils
from prepared import make_task
from raw_corpora import make_options, write_pairs

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.evaluation.translation import remove_subwords
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.syntax.casing import CASINGS, casing_of, lowered, restored
from fairseq_plugins.text.segment import SentencePieceSegmenter
from fairseq_plugins.text.source_encoder import TargetDecoder

MARK = "\u2581"
WORDS = ["ein", "Haus", "caf\u00e9", "don't", "1984", "\u6559\u533a", "\u6210\u7acb", "\u3002"]
WORDS += ["\u0643\u062a\u0627\u0628", "\u0641\u064a", "\U0001f600", "\u5b9c\u5bbe", "x@@", "<sep>"]
RARE = ["\U0001f468\u200d\U0001f469", "\u24b6", "\u211c", "\u0636", "\u7e41", "\u00df", "<0x41>"]
KINDS = {
    "usual": {},
    "bytes": {"byte_fallback": True, "character_coverage": 0.98, "vocab_size": 330},
    "bytes without a mark": {
        "byte_fallback": True,
        "add_dummy_prefix": False,
        "character_coverage": 0.98,
        "vocab_size": 330,
    },
    "no mark before": {"add_dummy_prefix": False},
    "marks behind": {"treat_whitespace_as_suffix": True},
    "blanks kept": {"remove_extra_whitespaces": False},
    "small letters": {"normalization_rule_name": "nfkc_cf"},
    "nothing changed": {"normalization_rule_name": "identity"},
    "own symbols": {"user_defined_symbols": ["<sep>", "\u6559\u533a"]},
    "pairs": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 330},
}


def sentences(seed: int, count: int, words: list[str]) -> list[str]:
    rng = random.Random(seed)
    blank = [" ", " ", ""]  # Chinese has none
    return [
        "".join(rng.choice(words) + rng.choice(blank) for _ in range(rng.randrange(1, 9))).strip()
        for _ in range(count)
    ]


@cache
def model_of(kind: str) -> bytes:
    model = io.BytesIO()
    how = {"vocab_size": 90, "character_coverage": 1.0, **KINDS[kind]}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(1, 60, WORDS)),
        model_writer=model,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **how,
    )
    return model.getvalue()


@pytest.fixture
def pair(request, tmp_path):
    """Our segmenter and the library's own processor, of one model."""
    path = tmp_path / "sentencepiece.model"
    path.write_bytes(model_of(request.param))
    return SentencePieceSegmenter(path), sentencepiece.SentencePieceProcessor(model_file=str(path))


@pytest.mark.parametrize("pair", KINDS, indirect=True)
def test_joined_pieces_are_the_text_that_the_model_decodes(pair) -> None:
    ours, theirs = pair
    for text in sentences(2, 40, [*WORDS, *RARE]):
        pieces = ours.segment(text)[0]
        assert ours.join(" ".join(pieces)) == theirs.decode(theirs.encode(text)).strip() or (
            theirs.unk_id() in theirs.encode(text)  # of which the pieces alone know the letters
        )
    rng = random.Random(3)
    usable = [i for i in range(theirs.get_piece_size()) if not theirs.is_control(i)]
    for _ in range(40):
        ids = [i for i in rng.choices(usable, k=6) if i != theirs.unk_id()]
        pieces = [theirs.id_to_piece(i) for i in ids]
        assert ours.join(" ".join(pieces)) == theirs.decode(ids).replace(MARK, " ").strip()


@pytest.mark.parametrize("pair", ["usual", "bytes", "no mark before"], indirect=True)
def test_pieces_that_the_model_lacks_stay(pair) -> None:
    ours, _ = pair
    for odd in ("<unk>", "<<unk>>", "UNKNOWNTOKENINHYP", "\u2603"):
        assert ours.join(f"{MARK}ein {odd} {MARK}Haus") == f"ein{odd} Haus"
        assert ours.join(f"{MARK}{odd} {MARK}") == odd
    assert ours.join("") == ""


@pytest.mark.parametrize("kind", ["bytes", "bytes without a mark", "no mark before", "usual"])
def test_score_reads_marks_and_bytes_as_the_model_does(kind, tmp_path) -> None:
    (tmp_path / "model").write_bytes(model_of(kind))
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "model"))
    rng = random.Random(4)
    usable = [i for i in range(theirs.get_piece_size()) if not theirs.is_control(i)]
    usable.remove(theirs.unk_id())
    rows = [theirs.encode(text) for text in sentences(5, 60, [*WORDS, *RARE])]
    rows = [ids for ids in rows if theirs.unk_id() not in ids]
    rows += [rng.choices(usable, k=8) for _ in range(60)]
    lines = [" ".join(theirs.id_to_piece(i) for i in ids) for ids in rows]
    expected = [theirs.decode(ids).replace(MARK, " ").strip() for ids in rows]
    assert remove_subwords(lines, "sentencepiece") == expected
    assert remove_subwords(lines) == expected  # as their look tells


def test_bytes_have_no_case() -> None:
    for number in range(256):
        piece = f"<0x{number:02X}>"
        assert [restored(piece, casing) for casing in CASINGS] == [piece] * len(CASINGS)
    for word in ("<0X41>", "<0xAB>", "a<0xAB>b"):
        casing = casing_of(word)
        assert casing == "mixed" or restored(lowered(word), casing) == word


@pytest.mark.parametrize("kind", ["no mark before", "bytes without a mark", "bytes", "usual"])
@pytest.mark.parametrize("layers", ["", "case"])
def test_commands_and_bundles_make_the_same_text(kind, layers, tmp_path) -> None:
    model = tmp_path / "model"
    model.write_bytes(model_of(kind))
    lines = [*sentences(6, 15, WORDS), *sentences(7, 15, [*WORDS, *RARE])]
    write_pairs(tmp_path / "train", [(line, line) for line in lines])
    folder = tmp_path / "data"
    how = {"subwords": "sentencepiece", "sentencepiece_model": model, "tokenizer": "none"}
    how |= {"features": "", "target_layers": layers} if layers else {"features": ""}
    prepare(make_options(folder, trainpref=tmp_path / "train", **how))
    task = make_task(folder, stub=False)
    task.load_dataset("train")
    bpe, words = task.build_bpe(None), task.build_tokenizer(None)
    bundle = TargetDecoder.from_folder(folder, read_manifest(folder))
    theirs, known = sentencepiece.SentencePieceProcessor(model_file=str(model)), 0
    for i, line in enumerate(lines):
        ids = task.dataset("train")[i]["target"]
        plain = task.target_dictionary.string(ids)
        expected = bundle.detokenize(bundle.remove_subwords(plain))
        assert words.decode(bpe.decode(plain)) == expected  # as generate, interactive and hub
        for symbol in ("sentencepiece", "@@ "):
            _, text, _ = utils.post_process_prediction(
                ids, "", None, None, task.target_dictionary, remove_bpe=symbol
            )
            assert text == expected
            assert words.decode(bpe.decode(text)) == expected
        if not layers and theirs.unk_id() not in theirs.encode(line):
            assert expected == theirs.decode(theirs.encode(line))
            known += 1
    assert layers or known
    both = task.target_dictionary.string(torch.stack([ids, ids]), "sentencepiece")
    assert both == "\n".join([expected, expected])
    again = pickle.loads(pickle.dumps(task.target_dictionary))  # as processes for batches are given
    assert again.symbols == task.target_dictionary.symbols


def test_words_that_spell_a_mark_are_joined_once(tmp_path, model_files) -> None:
    lines = ["x@@ y", "a @@ b", "x@@"] * 3
    write_pairs(tmp_path / "train", [(line, line) for line in lines])
    how = {"subwords": "subword_nmt", "bpe_codes": model_files["codes"], "features": ""}
    how |= {"tokenizer": "pretokenized"}
    prepare(make_options(Path(tmp_path / "data"), trainpref=tmp_path / "train", **how))
    task = make_task(tmp_path / "data", stub=False)
    task.load_dataset("train")
    bpe = task.build_bpe(None)
    for i, line in enumerate(lines):
        text = task.target_dictionary.string(task.dataset("train")[i]["target"], "@@ ")
        assert bpe.decode(text) == text == line
