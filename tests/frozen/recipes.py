"""Folders that commands write: name -> the commands, one a line, and the folders needed before.

All paths are relative to one working folder, which holds a copy of ``raw/`` and every folder under
its name here; so nothing of the machine enters a manifest. ``@`` stands for the folder itself.
"""

from __future__ import annotations

from dataclasses import dataclass

_CORPUS = (
    "prepare translation | -s en -t de --workers 1 --destdir @ --trainpref raw/corpus/train "
    "--validpref raw/corpus/valid --testpref raw/corpus/test,raw/corpus/three"
)
_WORDS = _CORPUS.replace("raw/corpus", "raw/words") + " --conllu"
_SMALL = f"{_CORPUS} --bpe-size 60"
_LONG = (
    "prepare translation | -s en -t de --workers 1 --destdir @ --trainpref raw/long/train "
    "--validpref raw/long/valid --features pos,subword --parse --bpe-size 60"
)
_CUT = (
    "prepare translation | -s en -t de --workers 1 --destdir @ --trainpref raw/long/train "
    "--validpref raw/long/valid --features case,subword --bpe-codes translation/codes.bpe"
)
_TEXT = "prepare text | --workers 1 --destdir @ --pretrained raw/uncased"
_RTE = f"{_TEXT} --dataset rte --raw-dir raw/datasets/rte"
_OWN = f"{_TEXT} --train-file raw/own"
_PAIRS = f"{_OWN}/header.tsv --dataset plain --text-column first --text2-column second"
_QUESTIONS = "prepare questions | --workers 1 --destdir @ --pretrained raw/toy"
_SQUAD1 = f"{_QUESTIONS} --raw-dir raw/squad1 --annotations pos"
_SQUAD2 = f"{_QUESTIONS} --raw-dir raw/squad2"
_NARROW = "--max-positions 32 --doc-stride 12 --max-query-length 8"


@dataclass(frozen=True)
class Recipe:
    """How a folder is made.

    Args:
        lines: ``COMMAND | ARGUMENTS``, one after another.
        needs: folders that must be there before.
        same: folder with the same content, byte for byte.
    """

    lines: tuple[str, ...]
    needs: tuple[str, ...] = ()
    same: str = ""


def _of(*lines: str, needs: str = "", same: str = "") -> Recipe:
    return Recipe(lines, tuple(needs.split()), same)


def _shards(line: str, count: int, *, same: str, needs: str = "") -> Recipe:
    parts = (f"{line} --shard {number}/{count}" for number in range(1, count + 1))
    return _of(*parts, f"{line} --merge", same=same, needs=needs)


def _dataset(name: str, annotations: str, more: str = "") -> Recipe:
    given = f"--dataset {name} --raw-dir raw/datasets/{name} --annotations {annotations}"
    return _of(f"{_TEXT} {given} {more}".rstrip())


TRANSLATION = {
    "translation": _of(_SMALL),
    "translation-parsed": _of(f"{_SMALL} --parse"),
    "translation-conllu": _of(f"{_WORDS} --parse --tokenizer pretokenized --bpe-size 60"),
    "translation-conllu-moses": _of(f"{_WORDS} --bpe-size 60 --features subword,pos"),
    "translation-limits": _of(
        f"{_SMALL} --features case --joined-dictionary --normalizer moses --thresholdsrc 2 "
        "--nwordstgt 60 --min-words 2 --max-words 20 --max-ratio 3"
    ),
    "translation-words": _of(f"{_CORPUS} --subwords none --features ''"),
    "translation-pieces": _of(
        f"{_CORPUS} --tokenizer none --subwords sentencepiece --bpe-size 120 --parse"
    ),
    "translation-pieces-given": _of(
        f"{_CORPUS} --tokenizer none --subwords sentencepiece --features case,subword "
        "--sentencepiece-model translation-pieces/sentencepiece.model "
        "--srcdict translation-pieces/dict.en.txt --tgtdict translation-pieces/dict.de.txt",
        needs="translation-pieces",
    ),
    "translation-threshold": _of(f"{_SMALL} --features subword --bpe-vocabulary-threshold 4"),
    "translation-vocabulary": _of(
        f"{_CORPUS} --features subword --bpe-codes translation-threshold/codes.bpe "
        "--srcvocab translation-threshold/vocab.en --tgtvocab translation-threshold/vocab.de",
        needs="translation-threshold",
    ),
    "translation-like": _of(
        "prepare translation | --workers 1 --like translation-parsed --destdir @ "
        "--testpref raw/corpus/valid",
        needs="translation-parsed",
    ),
    "translation-like-conllu": _of(
        "prepare translation | --workers 1 --like translation-conllu --destdir @ --only-source "
        "--testpref raw/words/valid",
        needs="translation-conllu",
    ),
    "translation-long": _of(_LONG),
    "translation-long-cut": _of(_CUT, needs="translation"),
    "translation-shards": _shards(_LONG, 2, same="translation-long"),
    "translation-shards-cut": _shards(
        _CUT, 2, same="translation-long-cut", needs="translation translation-long-cut"
    ),
    "translation-subset": _of(
        "subset | translation-parsed --output @ --fraction 0.3 --seed 2", needs="translation-parsed"
    ),
}
_PLAIN = (
    "cola sst2 sts_b qqp mnli qnli wnli ax sick sick_r scitail twitter_url paws_wiki "
    "plain_scores tokens fce"
)
_PARSED = "mrpc rte snli conll2003 wnut17 falko_merlin token_errors plain"
_SENTENCES = ("mrpc", "rte", "snli", "plain")  # of _PARSED, those whose words are not given
_BLANKS = "--tokenize whitespace"  # was the default of annotated sentences
_CHARACTERS = "--tokenize characters"
_CHINESE = "chnsenticorp msra_ner cged"
DATASETS = {
    **{f"text-{name}": _dataset(name, "none") for name in _PLAIN.split()},
    **{
        f"text-{name}": _dataset(name, "pos,heads", _BLANKS * (name in _SENTENCES))
        for name in _PARSED.split()
    },
    **{
        f"text-{name}": _dataset(name, "none", "--tokenize characters") for name in _CHINESE.split()
    },
}


def _parses(name: str, *splits: str) -> str:
    """Name the CoNLL-U files of a dataset's splits."""
    return " ".join(f"--{split}-conllu raw/parses/{name}/{split}.conllu" for split in splits)


TEXT = {
    **DATASETS,
    "text-embedded": _of(
        "prepare text | --workers 1 --destdir @ --dataset cola --raw-dir raw/datasets/cola "
        "--annotations none"
    ),
    "text-rte-spacy": _of(f"{_RTE} --tokenize spacy".replace("uncased", "cased")),
    "text-rte-pos": _of(f"{_RTE} --tokenize characters --annotations pos"),
    "text-rte-given": _of(f"{_RTE} {_BLANKS} {_parses('rte', 'train', 'valid', 'test')}"),
    "text-rte-given-spacy": _of(
        f"{_RTE} --tokenize spacy {_parses('rte', 'train', 'valid', 'test')}"
    ),
    "text-wnut17-given": _of(
        f"{_TEXT} --dataset wnut17 --raw-dir raw/datasets/wnut17 "
        + _parses("wnut17", "train", "valid", "test")
    ),
    "text-chnsenticorp-given": _of(
        f"{_TEXT} --dataset chnsenticorp --raw-dir raw/datasets/chnsenticorp "
        "--tokenize characters --annotations heads "
        + _parses("chnsenticorp", "train", "valid", "test")
    ),
    "text-pairs": _of(
        f"{_PAIRS} --label-column gold --id-column number --valid-fraction 0.3 --seed 3 "
        f"--annotations similarity,heads,pos --wordnet raw/wordnet {_BLANKS}"
    ),
    "text-pairs-similar": _of(
        f"{_PAIRS} --label-column gold --annotations similarity --wordnet raw/wordnet "
        "--labels no,maybe,yes"
    ),
    "text-bare": _of(
        f"{_OWN}/bare.tsv --dataset plain --no-header --text-column 2 --text2-column 3 "
        "--label-column 1 --labels raw/own/labels.txt --annotations none"
    ),
    "text-scores": _of(
        f"{_TEXT} --dataset plain_scores --train-file raw/own/train.jsonl --annotations pos "
        "--valid-file raw/own/valid.jsonl,raw/own/train.jsonl --text-column sentence "
        f"--text2-column other --label-column score {_BLANKS}"
    ),
    "text-gaps": _of(
        f"{_OWN}/gaps.jsonl --dataset plain --on-empty skip --on-bad-row skip --annotations none"
    ),
    "text-blanks": _of(
        f"{_OWN}/blanks.conll --dataset tokens --separator blank --token-column 1 --tag-column -1"
    ),
    "text-edits": _of(
        f"{_OWN}/edits.m2 --dataset token_errors --annotator 1 --annotations none",
    ),
    "text-edits-ignored": _of(
        f"{_OWN}/edits.m2 --dataset token_errors --ignored-edits M:PUNCT --annotations pos",
    ),
    "text-shards": _shards(f"{_RTE} --annotations pos,heads {_BLANKS}", 3, same="text-rte"),
    "text-subset": _of("subset | text-pairs --output @ --fraction 0.5", needs="text-pairs"),
}
QUESTIONS = {
    "questions": _of(_SQUAD2),
    "questions-narrow": _of(f"{_SQUAD2} --annotations none {_NARROW}"),
    "questions-heads": _of(f"{_SQUAD2} --annotations heads --tokenize characters {_NARROW}"),
    "questions-1.1": _of(_SQUAD1),
    "questions-skipped": _of(
        f"{_QUESTIONS} --train-file raw/squad2/train-v2.0.json --annotations none "
        "--valid-file raw/squad1/dev-v1.1.json,raw/squad2/dev-v2.0.json --on-misalignment skip"
    ),
    "questions-shards": _shards(_SQUAD1, 2, same="questions-1.1"),
    "questions-subset": _of(
        "subset | questions-1.1 --output @ --fraction 0.4 --seed 5", needs="questions-1.1"
    ),
}
_PERTURB = "perturb | --dataset rte --raw-dir raw/rte_pairs --split valid --workers 1 --output @"
RAW = {
    "errors": _of("inject errors | --conllu raw/own/treebank.conllu --output @/train.tsv --seed 1"),
    "perturbed": _of(
        f"{_PERTURB} --transformations SwapAnt,NumWord,SwapSyn,AddPunc,SwapNamedEnt --seed 2 "
        "--wordnet raw/wordnet"
    ),
    "augmented": _of(
        "augment questions | raw/squad2/train-v2.0.json --output @/train.json --rate 0.35 "
        "--command \"sed 's/^/Say, /'\""
    ),
}
FOLDERS = {**TRANSLATION, **TEXT, **QUESTIONS, **RAW}
