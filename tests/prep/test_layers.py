"""Layers whose values are learnt or given: counted, looked up, taken from elsewhere, refused."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from raw_corpora import contents, make_options, stream_rows
from raw_text import write_pretrained

from fairseq_plugins.architectures.agreement import check_inventories
from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.inventories import bound_layers
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes import text as texts
from fairseq_plugins.prep.recipes import translation
from fairseq_plugins.prep.recipes.layer_options import read_layers
from fairseq_plugins.prep.recipes.like import options_of
from fairseq_plugins.prep.recipes.text_options import TextOptions
from fairseq_plugins.syntax.annotation import Annotation
from fairseq_plugins.syntax.layers import digests
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.text import text_encoder
from fairseq_plugins.text.text_encoder import TextEncoder

WORDS = {"tokenizer": "pretokenized", "bpe_size": 30}
SIDES = (("src", "en"), ("tgt", "de"))
ASKED = "lemma,pos,morph.Number,arc,given.role"
LEMMAS = {"ate": "eat", "eaten": "eat", "houses": "house", "mice": "mouse"}
FORMS = (*LEMMAS, "unseen")


def rows_of(word: str, number: int, count: int, role: bool) -> str:
    lemma = LEMMAS.get(word, word)
    head = number + 1 if number < count else 0
    misc = f"Other=x|role={word[0].upper()}" if role else "_"
    return "\t".join(
        [str(number), word, lemma, "X", "_", "Number=Plur", str(head), "dep", "_", misc]
    )


def write(folder: Path, *, role: bool = True, sizes=(40, 6)) -> dict[str, str]:
    """Write two splits with CoNLL-U; only the second has the last word. Return their options."""
    for seed, (split, count) in enumerate(zip(("train", "test"), sizes)):
        dice, forms = random.Random(seed), FORMS if split == "test" else [*LEMMAS]
        lines = [[dice.choice(forms) for _ in range(dice.randint(1, 6))] for _ in range(count)]
        parsed = [
            "\n".join(rows_of(word, n, len(line), role) for n, word in enumerate(line, 1))
            for line in lines
        ]
        text = "".join(f"{' '.join(line)}\n" for line in lines)
        (folder / f"{split}.en").write_text(text)
        (folder / f"{split}.de").write_text(text.upper())
        (folder / f"{split}.en.conllu").write_text("\n\n".join(parsed) + "\n\n")
    return {f"{split}pref": str(folder / split) for split in ("train", "test")}


def prepare(folder: Path, name: str = "out", **more):
    given = {"layers": ASKED, "conllu": True, **WORDS, **more}
    return translation.prepare(make_options(folder / name, **given))


def labels(folder: Path, split: str, name: str) -> list[list[str]]:
    manifest = read_manifest(folder)
    (layer,) = bound_layers(folder, manifest, [name])
    rows = stream_rows(folder, split, f"en.{name}")
    return [[layer.inventory.symbols[i] for i in row] for row in rows]


def test_values_are_counted_in_words_and_looked_up(tmp_path, small_chunks):
    files = write(tmp_path)
    out = tmp_path / "out"
    manifest = prepare(tmp_path, **files)
    assert manifest.features == ["lemma", "pos", "morph.Number", "arc", "given.role"]
    words = (tmp_path / "train.en").read_text().split()
    counts = Counter(LEMMAS[word] for word in words)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    stored = (out / "dict.en.lemma.txt").read_text().splitlines()
    assert stored == ["<pad> 0", "<special> 0", "<unknown> 0", *(f"{k} {n}" for k, n in ranked)]
    found = {value for row in labels(out, "test", "lemma") for value in row}
    assert found == {"eat", "house", "mouse", "<unknown>"}
    assert {v for row in labels(out, "test", "given.role") for v in row} >= {"A", "E", "H", "M"}
    assert {v for row in labels(out, "train", "morph.Number") for v in row} == {"Plur"}
    assert {v for row in labels(out, "train", "arc") for v in row} == {"R1", "root"}


def test_rare_values_and_those_beyond_the_size_are_unknown(tmp_path):
    files = write(tmp_path)
    prepare(tmp_path, layer_max_size=1, **files)
    kept = [row for row in labels(tmp_path / "out", "train", "lemma") if row]
    assert {value for row in kept for value in row} == {"eat", "<unknown>"}
    with pytest.raises(InputError, match="--layer-min-count 2 and --layer-max-size 0 let in"):
        prepare(tmp_path, "none", layer_max_size=0, **files)
    with pytest.raises(InputError, match=r"'lemma': no word has one that --layer-min-count 999"):
        prepare(tmp_path, "rare", layer_min_count=999, **files)


def test_workers_and_shards_change_nothing(tmp_path, small_chunks):
    files = write(tmp_path)
    prepare(tmp_path, **files)
    prepare(tmp_path, "two", workers=2, **files)
    for number in (1, 2):
        prepare(tmp_path, "parts", shard=f"{number}/2", **files)
    prepare(tmp_path, "parts", merge=True, **files)
    whole = contents(tmp_path / "out")
    assert contents(tmp_path / "two") == contents(tmp_path / "parts") == whole


def test_the_values_of_another_folder_are_taken(tmp_path):
    files = write(tmp_path)
    prepare(tmp_path, **files)
    asked = {"like": str(tmp_path / "out"), "destdir": str(tmp_path / "again"), "workers": 1}
    translation.prepare(options_of({**asked, "testpref": files["testpref"], "conllu": True}))
    for name in ("lemma", "given.role"):
        first, again = (stream_rows(tmp_path / n, "test", f"en.{name}") for n in ("out", "again"))
        assert first == again
    options_of({**asked, "testpref": "x", "layers": ASKED, "layer_dicts": f"{tmp_path}/./out/"})
    with pytest.raises(InputError, match="--layers pos,heads contradicts --like .*'lemma,pos,"):
        options_of({**asked, "testpref": "x", "layers": "pos,heads"})
    models = {f"{side}dict": tmp_path / "out" / f"dict.{lang}.txt" for side, lang in SIDES}
    models |= {"testpref": files["testpref"], "bpe_codes": tmp_path / "out" / "codes.bpe"}
    with pytest.raises(InputError, match="without training text the values of tag cannot be"):
        prepare(tmp_path, "none", layers="tag", **models)
    with pytest.raises(InputError, match=r"--layer-dicts .*out has no tag"):
        prepare(tmp_path, "none", layers="tag", layer_dicts=tmp_path / "out", **files)


def test_a_checkpoint_refuses_a_folder_with_other_values(tmp_path):
    files = write(tmp_path)
    folders = []
    for name, most in (("out", -1), ("small", 1)):
        manifest = prepare(tmp_path, name, layer_max_size=most, **files)
        folders.append(bound_layers(tmp_path / name, manifest))
    trained = SimpleNamespace(inventories=digests(folders[0]))
    check_inventories(trained, folders[0], "out")
    with pytest.raises(InputError, match="small has other values of lemma and of given.role than"):
        check_inventories(trained, folders[1], "small")
    check_inventories(SimpleNamespace(), folders[1], "of a checkpoint without learnt layers")


def test_given_values_may_stand_in_a_file(tmp_path):
    files = write(tmp_path, role=False)
    for split in ("train", "test"):
        text = (tmp_path / f"{split}.en").read_text().splitlines()
        roles = [" ".join(word[0].upper() for word in line.split()) for line in text]
        (tmp_path / f"{split}.en.role").write_text("\n".join(roles) + "\n")
    prepare(tmp_path, **files)
    write(tmp_path)
    (tmp_path / "train.en.role").unlink()
    (tmp_path / "test.en.role").unlink()
    prepare(tmp_path, "misc", **files)
    first, other = (stream_rows(tmp_path / n, "test", "en.given.role") for n in ("out", "misc"))
    assert first == other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + "A\n", "test.en has 6 lines but .*test.en.role has 7 lines"),
        (lambda text: "A A A A A A A\n" + text.split("\n", 1)[1], "test.en.role:1: 7 values for"),
    ],
)
def test_files_of_other_length_are_refused(tmp_path, change, message):
    files = write(tmp_path, role=False)
    for split in ("train", "test"):
        text = (tmp_path / f"{split}.en").read_text()
        (tmp_path / f"{split}.en.role").write_text(text)
    path = tmp_path / "test.en.role"
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=message):
        prepare(tmp_path, **files)
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize("values", ["A B C D", "A B"])
def test_values_are_those_of_words_as_they_are_cut(tmp_path, values, monkeypatch):
    monkeypatch.setattr(translation, "annotate_chunk", lambda *args: pytest.fail("too late"))
    for name, text in (("en", "Yes, we can."), ("de", "Ja."), ("en.role", values)):
        (tmp_path / f"train.{name}").write_text(f"{text}\n")
    options = make_options(
        tmp_path / "out", trainpref=tmp_path / "train", layers="given.role", tokenizer="moses"
    )
    with pytest.raises(InputError, match=r"train.en.role:1: \d values for the 5 words of .*en:1"):
        translation.prepare(options)


def test_a_missing_key_and_a_missing_file_are_named(tmp_path):
    files = write(tmp_path, role=False)
    with pytest.raises(InputError, match=r"train.en.conllu:1: '.*' has no key role in MISC"):
        prepare(tmp_path, **files)
    with pytest.raises(FileNotFoundError, match=r"given.role: no file .*train.en.role.*--conllu"):
        prepare(tmp_path, conllu=False, layers="given.role", **files)


@pytest.mark.parametrize("more", [{"features": "pos"}, {"parse": True}])
def test_two_ways_to_say_the_same_are_refused(tmp_path, more):
    with pytest.raises(InputError, match="--layers says what --features and --parse say"):
        make_options(tmp_path, trainpref="x", layers="pos", **more)


def test_layers_say_what_older_options_say(tmp_path):
    one = make_options(tmp_path, trainpref="x", layers="case,heads,pos")
    assert (
        one.recorded()
        == make_options(tmp_path, trainpref="x", features="case,pos", parse=True).recorded()
    )
    raw = {"dataset": "cola", "destdir": "x", "raw_dir": "y"}
    same = TextOptions(**raw, layers="heads,case,subword,pos")
    assert same.recorded() == TextOptions(**raw, annotations="pos,heads").recorded()
    assert TextOptions(**raw, layers="none").annotation_names == ()


class LemmaParser:
    """Stands in for a pipeline: the lemma of a word is its first letter."""

    def identity(self):
        return {"name": "rule", "version": "1", "hash": "00", "model": "rule"}

    def annotate_words(self, sentences):
        return [
            Annotation(list(words), {"pos": ["X"] * len(words), "lemma": [w[0] for w in words]})
            for words in sentences
        ]


def test_raw_text_has_the_values_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "load_annotator", lambda *args: LemmaParser())
    monkeypatch.setattr(text_encoder, "reopen_annotator", lambda *args: LemmaParser())
    lines = ["the cat sat", "a dog ran here", "the dog sat"] * 2
    rows = [f"{line}\t{i % 2}\n" for i, line in enumerate(lines)]
    (tmp_path / "train.tsv").write_text("text\tlabel\n" + "".join(rows))
    (tmp_path / "test.tsv").write_text("text\tlabel\nthe zebra ran\t1\n")
    manifest = texts.prepare(
        TextOptions(
            dataset="plain",
            destdir=str(tmp_path / "out"),
            train_file=str(tmp_path / "train.tsv"),
            test_file=str(tmp_path / "test.tsv"),
            pretrained=str(write_pretrained(tmp_path / "bert")),
            layers="lemma",
            tokenize="whitespace",
            workers=1,
        )
    )
    (layer,) = bound_layers(tmp_path / "out", manifest, ["lemma"])
    (stored,) = (row.tolist() for row in Rows.read(tmp_path / "out" / "test.lemma0"))
    assert [layer.inventory.symbols[i] for i in stored] == ["t", "<unknown>", "r"]
    ((raw,),) = TextEncoder.from_folder(tmp_path / "out", manifest).encode(
        [Example("1", ("the zebra ran",))]
    )
    assert raw.layers["lemma"] == stored


def test_texts_take_the_values_of_another_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "load_annotator", lambda *args: LemmaParser())
    base = {"dataset": "plain", "layers": "lemma", "workers": 1, "tokenize": "whitespace"}
    base["pretrained"] = str(write_pretrained(tmp_path / "bert"))
    for name, text in (("one", "the cat sat"), ("two", "the sat fog")):
        (tmp_path / name).write_text(f"text\tlabel\n{text}\ta\n{text}\tb\n")
    kept = {}
    for name, more in (("one", {}), ("two", {"layer_dicts": str(tmp_path / "out_one")})):
        out = tmp_path / f"out_{name}"
        base |= {"train_file": str(tmp_path / name), "destdir": str(out), **more}
        (layer,) = bound_layers(out, texts.prepare(TextOptions(**base)), ["lemma"])
        row = Rows.read(out / "train.lemma0")[0].tolist()
        kept[name] = [layer.inventory.symbols[i] for i in row]
    assert kept == {"one": ["t", "c", "s"], "two": ["t", "s", "<unknown>"]}
    stored = (tmp_path / "out_two" / "dict.lemma.txt").read_text().splitlines()
    assert stored[2:] == ["<unknown> 2", "c 0", "s 2", "t 2"]


def test_layers_of_target_text_are_no_layers_of_a_source():
    assert read_layers("pos, case", "--layers") == ["pos", "case"]
    with pytest.raises(
        ValueError, match="--layers 'pos,truecase': 'truecase' is a layer of target"
    ):
        read_layers("pos,truecase", "--layers")
