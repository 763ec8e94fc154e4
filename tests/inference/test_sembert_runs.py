"""SemBERT from files of roles to answers: what only roles decide is learnt, kept and bundled."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from prepared_text import train
from raw_text import text_options, write_pretrained, write_table

from fairseq_plugins import load as load_any
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.demo.options import DemoOptions
from fairseq_plugins.demo.tabs import open_models
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.export import export_checkpoint as export
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.nn.quantized import QuantizedLinear
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.role_files import RoleFiles, convert

NAMES = "given.srl1,given.srl2,given.srl3"
VERBS, NOUNS = ("can", "cannot"), ("dog", "rose", "cls", "sep")
SIZES = {"train": 480, "valid": 200}
KINDS = ["sentences", *(pytest.param(k, marks=pytest.mark.long) for k in ("pairs", "tokens"))]
LEARNT = 0.83  # at chance 0.5
FLAGS = "--no-epoch-checkpoints --disable-validation --lr 0.003".split()


def drawn(dice: random.Random, swapped: bool) -> tuple[list[str], list[str]]:
    """Draw the words and roles of a sentence whose order does not say who does what."""
    words = ["the", dice.choice(NOUNS), dice.choice(VERBS), "a", dice.choice(NOUNS)]
    first, second = ("B-ARG1", "B-ARG0") if swapped else ("B-ARG0", "B-ARG1")
    return words, [first, f"I{first[1:]}", "B-V", second, f"I{second[1:]}"]


def write(folder: Path, split: str, kind: str) -> None:
    """Write a split: the label says whether roles are swapped, of a pair in the second sentence."""
    dice, texts, blocks, rows = random.Random(split), [], [], []
    for _ in range(SIZES[split]):
        swapped = dice.random() < 0.5
        made = [drawn(dice, False)] * (kind == "pairs") + [drawn(dice, swapped)]
        blocks += ["".join(f"{w} {r}\n" for w, r in zip(*sentence)) for sentence in made]
        texts.append([" ".join(words) for words, _ in made])
        agent = 4 if swapped else 1
        rows.append(
            "".join(f"{w}\t{'B-PER' if i == agent else 'O'}\n" for i, w in enumerate(made[-1][0]))
        )
        texts[-1].append("swapped" if swapped else "straight")
    (folder / f"{split}.srl").write_text("\n".join(blocks), encoding="utf-8")
    if kind == "tokens":
        (folder / f"{split}.conll").write_text("\n".join(rows), encoding="utf-8")
    else:
        header = ("text", "second", "label") if kind == "pairs" else ("text", "label")
        write_table(folder / f"{split}.tsv", header, *texts)


def prepared(root: Path, kind: str, name: str = "data", **options) -> Path:
    """Prepare a folder with the roles of one predicate a sentence."""
    write_pretrained(root / "bert")
    for split in SIZES:
        write(root, split, kind)
        path = str(root / f"{split}.conllu")
        convert(RoleFiles(roles=str(root / f"{split}.srl"), output=path, **options))
    given = {f"{split}_conllu": root / f"{split}.conllu" for split in SIZES}
    dataset = {"dataset": "tokens" if kind == "tokens" else "plain"}
    dataset |= {"text2_column": "second"} if kind == "pairs" else {}
    layers = f"pos,heads,{NAMES}" if options else NAMES
    prepare(text_options(root, name, layers=layers, layer_min_count=1, **dataset, **given))
    return root / name


@pytest.fixture(scope="module", params=KINDS)
def runs(request, tmp_path_factory) -> Path:
    """A folder of a kind and a run of SemBERT on it."""
    root = tmp_path_factory.mktemp(request.param)
    data = prepared(root, request.param)
    train(data, root / "run", *FLAGS, "--arch", "bert_sembert_tiny", "--max-update", "100")
    (root / "run" / "checkpoint_last.pt").rename(root / "run" / "checkpoint_best.pt")
    return root


def accuracy(path: Path, data: Path | None = None) -> float:
    found = list(load(path, data, cpu=True).predict_split("valid"))
    return sum(one.answer == one.gold for one in found) / len(found)


@pytest.mark.slow
def test_roles_alone_decide_and_are_read(runs) -> None:
    assert accuracy(runs / "run") >= LEARNT


def test_words_alone_are_at_chance(runs) -> None:
    data = runs / "data"
    train(data, runs / "plain", *FLAGS, "--max-update", "60")
    (runs / "plain" / "checkpoint_last.pt").rename(runs / "plain" / "checkpoint_best.pt")
    assert accuracy(runs / "plain") < 0.67


def test_a_bundle_knows_the_labels_and_reads_prepared_splits(runs) -> None:
    export(runs / "run", runs / "bundle")
    export(runs / "run", runs / "int8", int8=True)
    manifest = read_manifest(runs / "bundle", TextManifest)
    assert manifest.layers[-3:] == NAMES.split(",")
    assert "B-ARG0" in (runs / "bundle" / "dict.given.srl1.txt").read_text()
    wanted = list(load(runs / "run", cpu=True).predict_split("valid"))
    assert list(load(runs / "bundle", runs / "data", cpu=True).predict_split("valid")) == wanted
    small = load(runs / "int8", runs / "data", cpu=True)
    kinds = {type(part) for part in small.models[0].modules()}
    assert QuantizedLinear in kinds
    assert torch.nn.Linear not in kinds
    right = [one.answer == one.gold for one in small.predict_split("valid")]
    assert sum(right) / len(right) >= LEARNT


def test_raw_text_has_no_roles_and_is_refused(runs) -> None:
    message = "holds given.srl1, given.srl2, given.srl3, which raw text has not: predict its "
    export(runs / "run", runs / "mine")
    text = ("the dog can a rose",) * read_manifest(runs / "data", TextManifest).sentences
    for made in (load(runs / "run", cpu=True), load_any(runs / "mine", cpu=True)):
        with pytest.raises(InputError, match=message):
            made.predict([text if len(text) > 1 else text[0]])
    for place in ("run", "mine"):  # before anything is shown
        with pytest.raises(InputError, match=message):
            open_models(DemoOptions(models=[str(runs / place)]))


def test_other_labels_are_refused(runs) -> None:
    folder = runs / "data"
    (names,) = {path.name for path in folder.glob("dict.given.srl1.txt")}
    whole = (folder / names).read_bytes()
    (folder / names).write_bytes(whole.replace(b"B-ARG1", b"B-ARG9"))
    try:
        with pytest.raises(InputError, match="given.srl1"):
            load(runs / "run", folder, cpu=True)
    finally:
        (folder / names).write_bytes(whole)


@pytest.mark.slow
def test_a_resumed_run_is_the_same_and_everything_combines(tmp_path) -> None:
    data = prepared(tmp_path, "pairs", annotator="bundled")
    flags = [*FLAGS, "--arch", "bert_sembert_tiny", "--num-workers", "2"]
    flags += "--features pos,given.srl1 --local-attention sla --dual-layers 0".split()
    flags += "--max-update 6 --save-interval-updates 3".split()
    train(data, tmp_path / "straight", *flags)
    train(data, tmp_path / "resumed", *flags, "--max-update", "3")
    train(data, tmp_path / "resumed", *flags)
    paths = [tmp_path / name / "checkpoint_last.pt" for name in ("straight", "resumed")]
    one, other = (torch.load(path, weights_only=False)["model"] for path in paths)
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert any(name.startswith("semantics.labels.gru.") for name in one)
    made = load(tmp_path / "straight", checkpoint="checkpoint_last.pt", cpu=True)
    assert len(list(made.predict_split("valid"))) == SIZES["valid"]
    lines = (data / "valid.examples.jsonl").read_text(encoding="utf-8").splitlines()
    with pytest.raises(InputError, match=r"which raw text has not: predict its prepared splits"):
        made.predict([json.loads(lines[0])["texts"]])
