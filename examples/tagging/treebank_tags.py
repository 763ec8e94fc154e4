#!/usr/bin/env python
"""A treebank without a training split as a tagging task: its parts, its subwords, its score.

python examples/tagging/treebank_tags.py cut UD_Chinese-GSDSimp data-bin/chinese_raw
python examples/tagging/treebank_tags.py score data-bin/chinese_raw/test.tsv predicted.conll

`cut` holds out the last tenth of the development split and trains on the rest; it writes CoNLL-U,
word and tag (XPOS) a line, raw text, and the directory of a small BERT without weights whose
subwords are the characters of the training text. `score` compares words, and words with their
tags, that were found in raw text: F1 by character spans, as the words may be other ones.
"""

import argparse
import json
from pathlib import Path
from string import whitespace

from fairseq_plugins.corpora.conllu import Line, parse_block, read_blocks
from fairseq_plugins.text_reading import numbered_lines

SHAPE = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
SHAPE |= {"intermediate_size": 512, "max_position_embeddings": 512, "type_vocab_size": 2}
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = "# text = "


def split_of(treebank: Path, name: str) -> tuple[Path, list[list[Line]]]:
    """Return the file of a split and its sentences."""
    found = sorted(treebank.glob(f"*{name}.conllu"))
    if not found:
        raise SystemExit(f"error: {treebank} holds no file *{name}.conllu")
    return found[0], [*read_blocks(numbered_lines(found[0]))]


def write_split(folder: Path, name: str, path: Path, blocks: list[list[Line]]) -> None:
    """Write sentences as CoNLL-U, as words with their tags, and as raw text."""
    trees, words, texts = [], [], []
    for block in blocks:
        note = parse_block(block, path, ["tag"])
        rows = zip(note.words, note.layers["tag"], strict=True)
        words.append("".join(f"{word}\t{tag}\n" for word, tag in rows))
        trees.append("".join(f"{line}\n" for _, line in block))
        raw = (line.removeprefix(TEXT) for _, line in block if line.startswith(TEXT))
        texts.append(next(raw, " ".join(note.words)) + "\n")
    (folder / f"{name}.conllu").write_text("\n".join([*trees, ""]), encoding="utf-8")
    (folder / f"{name}.tsv").write_text("\n".join([*words, ""]), encoding="utf-8")
    (folder / f"{name}.txt").write_text("".join(texts), encoding="utf-8")


def cut(treebank: Path, folder: Path) -> None:
    """Write the three splits of the task, and the BERT's directory ``folder/bert``."""
    (folder / "bert").mkdir(parents=True, exist_ok=True)
    path, blocks = split_of(treebank, "dev")
    last = len(blocks) - max(1, len(blocks) // 10)
    write_split(folder, "train", path, blocks[:last])
    write_split(folder, "dev", path, blocks[last:])
    write_split(folder, "test", *split_of(treebank, "test"))
    text = (folder / "train.txt").read_text(encoding="utf-8")
    letters = sorted({*text} - {*whitespace})
    pieces = [*SPECIALS, *letters, *(f"##{letter}" for letter in letters)]
    (folder / "bert" / "vocab.txt").write_text("".join(f"{one}\n" for one in pieces), "utf-8")
    config = {"model_type": "bert", "vocab_size": len(pieces), **SHAPE}
    for name, body in (("config", config), ("tokenizer_config", {"do_lower_case": False})):
        (folder / "bert" / f"{name}.json").write_text(json.dumps(body))


def spans(block: list[Line]) -> set[tuple[int, int, str]]:
    """Return where each word of a sentence stands, in characters, with its tag."""
    at, found = 0, set()
    for _, line in block:
        word, *_, tag = line.split()
        found.add((at, at + len(word), tag))
        at += len(word)
    return found


def score(gold: Path, found: Path) -> dict[str, float]:
    """Return F1, in %, of words and of words with their tags."""
    sides = [
        [spans(block) for block in read_blocks(numbered_lines(path))] for path in (gold, found)
    ]
    if len(sides[0]) != len(sides[1]):
        raise SystemExit(f"error: {gold} has {len(sides[0])} sentences, {found} {len(sides[1])}")
    scores = {}
    for name, kept in (("words", 2), ("tags", 3)):
        theirs, ours = ([{span[:kept] for span in one} for one in side] for side in sides)
        shared = sum(len(a & b) for a, b in zip(theirs, ours))
        scores[name] = 200 * shared / sum(map(len, [*theirs, *ours]))
    return scores


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("action", choices=("cut", "score"))
    parser.add_argument("paths", type=Path, nargs=2)
    args = parser.parse_args()
    if args.action == "cut":
        cut(*args.paths)
    else:
        print(*(f"{name} F1 {value:.2f}" for name, value in score(*args.paths).items()), sep="\n")
