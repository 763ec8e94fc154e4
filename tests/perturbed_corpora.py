"""Perturbed sets in the forms of `perturb` and of TextFlint, with invented content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from prepared_text import prepare

from fairseq_plugins.augment.perturbed_sets import read_sets
from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.targets.table import TARGETS

LABELS = ("no", "yes")
INFERENCE = ["entailment", "neutral", "contradiction"]

# dataset -> file and row of its split "test" or "valid"
FORMS = {
    "plain": ("test", "test.tsv", "text\ttext2\tlabel", "{a}\t{b}\t{label}"),
    "paws_wiki": ("test", "test.tsv", "", "{id}\t{a}\t{b}\t{label}"),
    "rte": ("valid", "dev.tsv", "index\tsentence1\tsentence2\tlabel", "{id}\t{a}\t{b}\t{label}"),
    "sst2": ("valid", "dev.tsv", "sentence\tlabel", "{a}\t{label}"),
    "sts_b": ("valid", "dev.tsv", "index\tsentence1\tsentence2\tscore", "{id}\t{a}\t{b}\t{label}"),
}


def pairs(count: int, labels: Sequence[str] = ("0", "1")) -> list[Example]:
    """Make pairs of the words of `prepared_text`; those with "good" have the second label."""
    made = []
    for number in range(count):
        word = ("good", "bad")[number % 2]
        texts = f"alice sees cat {number}", f"Bob sees the {word} garden {number}"
        made.append(Example(str(number), texts, label=labels[word == "good"], line=number + 1))
    return made


def swapped(examples: Sequence[Example], labels: Sequence[str] = ("0", "1")) -> list[Example]:
    """Swap "good" and "bad" with the label."""
    made = []
    for example in examples:
        *others, last = example.texts
        word, other = ("good", "bad") if "good" in last else ("bad", "good")
        texts = (*others, last.replace(word, other))
        made.append(replace(example, texts=texts, label=labels[other == "good"]))
    return made


def prepare_test(root: Path, count: int, sha256: str) -> list[Example]:
    """Prepare pairs for the models of classes of `text_runs` as ``test``, made of a ``plain`` file.

    Args:
        root: the folder ``data`` is made in it.
        count: how many pairs.
        sha256: of the file.
    """
    examples = pairs(count, LABELS)
    more = {"dataset": "plain", "options": {"read": {"text2_column": "text2"}}, "annotations": ()}
    inputs = {"test": {"file": "test.tsv", "sha256": sha256}}
    prepare(root / "data", "classes", {"test": examples}, inputs=inputs, **more)
    return examples


def write_file(path: Path, dataset: str, examples: Sequence[Example]) -> Path:
    """Write examples in a dataset's form; `FORMS` has it."""
    _, _, header, row = FORMS[dataset]
    lines = [header] if header else []
    for example in examples:
        a, b = (*example.texts, "")[:2]
        lines.append(row.format(id=example.id, a=a, b=b, label=example.label))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_folder(
    folder: Path,
    originals: Sequence[Example],
    perturbed: Sequence[Example],
    *,
    dataset: str = "paws_wiki",
    name: str = "SwapAnt",
    sha256: str = "",
    keep: bool = False,
) -> Path:
    """Write a folder as `perturb` does.

    Args:
        folder: where to.
        originals, perturbed: equally many; those that are the same count as untouched.
        dataset: of `FORMS`.
        name: of the transformation.
        sha256: of the file that was perturbed.
        keep: whether files hold untouched examples, too.
    """
    split, file, _, _ = FORMS[dataset]
    both = [*zip(originals, perturbed)]
    kept = [(one, other) for one, other in both if keep or one.texts != other.texts]
    write_file(folder / file, dataset, [other for _, other in kept])
    write_file(folder / "original" / file, dataset, [one for one, _ in kept])
    changes = [
        {
            "id": one.id,
            "line": one.line,
            "changed": one.texts != other.texts,
            "texts": list(one.texts),
            "new_texts": list(other.texts),
            "label": one.label,
            "new_label": other.label,
            "what": ["word"],
        }
        for one, other in both
    ]
    write_json_lines(folder / "changes.jsonl", changes)
    record = {"dataset": dataset, "split": split, "transformation": name, "seed": 1}
    record |= {"source": {"file": file, "lines": len(both), "sha256": sha256}, "pairs": len(both)}
    (folder / "perturbation.json").write_text(json.dumps(record))
    return folder


def write_json_lines(path: Path, rows: Sequence[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def samples(
    examples: Sequence[Example], fields: Sequence[str] = ("sentence1", "sentence2")
) -> list[dict]:
    """Return examples as TextFlint's samples."""
    return [{**dict(zip(fields, e.texts)), "y": e.label, "sample_id": int(e.id)} for e in examples]


def textflint(folder, before, after, name="SwapWord_3"):
    """Write a pair of TextFlint's files; return that of the transformed samples."""
    write_json_lines(folder / f"ori_{name}.json", before)
    return write_json_lines(folder / f"trans_{name}.json", after)


def model(labels=("0", "1"), *, dataset="paws_wiki", target="classes", sentences=2, **read):
    """Stand for the manifest of a prepared folder."""
    known = {"labels": list(labels), "dataset": dataset, "target": target, "sentences": sentences}
    known["target_kind"] = TARGETS[str(known["target"])]
    return SimpleNamespace(**known, options={"read": read})


def edit(path, old, new):
    """Replace a text that must be there, once."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def refusal(paths, manifest=None, error=ValueError):
    """Return why sets are refused."""
    with pytest.raises(error) as caught:
        read_sets(paths, manifest or model())
    return str(caught.value)
