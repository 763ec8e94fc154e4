"""Bundles of text models: they answer as their checkpoints do, with nothing of fairseq loaded."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from answer_runs import make_runs as make_answer_runs
from inference import test_export
from inference.test_export import checkpoint, prepare
from prepared_text import examples
from pretrained.test_tokenizer_sources import odd_lines
from test_layering import ABSENT

import fairseq_plugins
from fairseq_plugins.bundles import understanding
from fairseq_plugins.bundles.index import FILE_NAME, open_bundle
from fairseq_plugins.cli.main import main
from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.corpora.readers.dataset import Dataset
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import load_vocabulary
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import sha256
from fairseq_plugins.inference.export import export_checkpoint as export
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.inference.question_answering import load as load_reader
from fairseq_plugins.nn.quantized import QuantizedLinear
from fairseq_plugins.service.models import load_model
from fairseq_plugins.service.options import ServiceOptions
from fairseq_plugins.syntax.labels import Inventory

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bundles(runs, tmp_path_factory) -> Path:
    """A bundle of every run, called as the run."""
    root = tmp_path_factory.mktemp("bundles")
    for run in ("classes1", "classes2", "score1", "multi_label1", "entities1"):
        export(runs / run, root / run)
    export(runs / "classes1", root / "int8", int8=True)
    return root


def texts_of(kind: str) -> list:
    given = examples(kind, 40, 9, pairs=kind != "entities")
    return [e.words if kind == "entities" else e.texts for e in given]


@pytest.mark.parametrize("run", ["classes1", "score1", "multi_label1", "entities1"])
def test_a_bundle_answers_as_its_checkpoint(runs, bundles, run) -> None:
    kind = run[:-1]
    wanted = load(runs / run, cpu=True).predict(texts_of(kind))
    made = fairseq_plugins.load(bundles / run, cpu=True)
    assert made.predict(texts_of(kind)) == wanted
    served = load_model("m", [bundles / run], ServiceOptions(cpu=True))
    body = served.kind.body.model_validate({"texts": [*map(list, texts_of(kind)[:9])]})
    told = served.answer(served.kind.items(served.model, body))
    assert told == [one.record() for one in made.predict(texts_of(kind)[:9])]
    data = runs / f"{kind}-data"
    split = list(load(bundles / run, data, cpu=True).predict_split("valid"))
    assert split == list(load(runs / run, cpu=True).predict_split("valid"))
    with pytest.raises(InputError, match="no split 'valid'; choices: none"):
        next(made.predict_split("valid"))


@pytest.mark.parametrize(
    "run",
    [
        "classes1",
        pytest.param("entities1", marks=pytest.mark.long),
    ],
)
def test_odd_text_is_the_same_to_both(runs, bundles, run) -> None:
    lines = [line for line in odd_lines(10_000) if line.strip()]
    texts = lines if run == "entities1" else [*zip(lines, lines[::-1])]
    how = {"cpu": True, "long_examples": "truncate"} if run == "classes1" else {"cpu": True}
    wanted, found = (load(place / run, **how).predict(texts) for place in (runs, bundles))
    assert found == wanted
    assert len(found) == len(texts) > 9_000


def test_ensembles_of_bundles_are_those_of_checkpoints(runs, bundles) -> None:
    names = ("classes1", "classes2")
    wanted = load([runs / name for name in names], cpu=True).predict(texts_of("classes"))
    found = load([bundles / name for name in names], cpu=True).predict(texts_of("classes"))
    assert found == wanted
    assert found != load(bundles / names[0], cpu=True).predict(texts_of("classes"))
    with pytest.raises(InputError, match="is a bundle and .* is none"):
        load([bundles / "classes1", runs / "classes2"])
    with pytest.raises(InputError, match="its target and labels are|its target, labels"):
        load([bundles / "classes1", bundles / "score1"])


@pytest.mark.parametrize("way", ["exported", "loaded"])
def test_int8_is_near(runs, bundles, way) -> None:
    wanted = load(bundles / "classes1", cpu=True).predict(texts_of("classes"))
    place = bundles / ("int8" if way == "exported" else "classes1")
    made = load(place, cpu=True, int8=way == "loaded")
    kinds = {type(part) for part in made.models[0].modules()}
    assert QuantizedLinear in kinds
    assert torch.nn.Linear not in kinds
    found = made.predict(texts_of("classes"))
    shares = [[p.probabilities["yes"] for p in part] for part in (found, wanted)]
    assert shares[0] != shares[1]
    assert torch.tensor(shares[0]).sub(torch.tensor(shares[1])).abs().max() < 0.05
    size = [(bundles / name / "model.safetensors").stat().st_size for name in ("int8", "classes1")]
    assert size[0] < size[1]


ARCHS = ["plain", "pos", "sla", "wla", "lisa", "sgnet", "syntax_masks"]
RELEASED = {"tree_threshold": 0, "tree_open": "punctuation", "local_dropout": "separate"}
AFFINE = {"features": "pos,case", "feature_merge": "affine", "local_attention": "sla,wla"}


SEMANTIC = {"features": "case", "semantic_layers": "pos,case"}
GIVEN = [("pos", AFFINE), ("sla_released", RELEASED), ("sembert", SEMANTIC)]


@pytest.mark.parametrize("target", ["classes", "word_labels"])
@pytest.mark.parametrize(("arch", "given"), [*((a, {}) for a in ARCHS), *GIVEN])
@pytest.mark.parametrize("int8", [False, True])
def test_every_kind_of_model_comes_through(tmp_path, arch, given, target, int8) -> None:
    path, _ = checkpoint(tmp_path, f"bert_{arch}", target=target, **given)
    export(path, tmp_path / "bundle", int8=int8)
    one, other = load(path, cpu=True, int8=int8), load(tmp_path / "bundle", cpu=True)
    assert other.inputs.needs == one.inputs.needs
    for name, value in one.models[0].state_dict().items():
        assert torch.equal(other.models[0].state_dict()[name], value), name
    assert not other.models[0].training
    signs = [made.models[0].encoder.punctuation for made in (one, other)]
    if arch == "sla_released":
        assert signs[0].any()
        assert torch.equal(*signs)
    else:
        assert signs == [None, None]
    tokens = torch.tensor([[5, 6, 15, 8, 9]])  # one of them a punctuation sign
    tokens = torch.cat([tokens.new_full((1, 1), one.inputs.vocabulary.cls), tokens], 1)
    sample = {"src_tokens": tokens, "word_of": torch.arange(6)[None] - 1, "segments": tokens * 0}
    sample |= {"heads": torch.tensor([[1, 1, 1, 2, 2]]), "src_factors": tokens[..., None] % 2 + 2}
    sample["src_factors"] = sample["src_factors"].expand(-1, -1, 2)
    sample |= {"word_rows": torch.arange(1, 6)} if target == "word_labels" else {}
    with torch.no_grad():
        wanted, found = (made.models[0](**sample)[0] for made in (one, other))
    assert torch.equal(found, wanted)


@pytest.fixture(scope="module")
def answering(tmp_path_factory) -> Path:
    root = make_answer_runs(tmp_path_factory.mktemp("answering"))
    for name in ("first", "second"):
        export(root / name, root / f"{name}-bundle")
    return root


CONTEXT = "Ilse\u00a0sold the  old bridge, in Gent.\nNadia found it. " * 9


def test_questions_are_answered_as_by_the_checkpoint(answering) -> None:
    replies = [
        load_reader(answering / name, cpu=True, n_best=4).answer("Who sold the bridge?", CONTEXT)
        for name in ("first", "first-bundle")
    ]
    assert replies[0].found == replies[1].found
    assert len(replies[0].found.candidates) == 4
    both = [
        load_reader([answering / f"{name}{end}" for name in ("first", "second")], cpu=True)
        for end in ("", "-bundle")
    ]
    asked = [one.answer("Where is the old boat?", CONTEXT).found for one in both]
    assert asked[0] == asked[1]
    made = fairseq_plugins.load(answering / "first-bundle", n_best=4)
    assert made.answer("Who sold the bridge?", CONTEXT).found == replies[0].found


def test_nothing_of_the_training_data_or_its_place_is_kept(runs, bundles) -> None:
    found = open_bundle(bundles / "classes1")
    assert {*found.files} == {"labels.txt", "manifest.json", "model.safetensors", "vocab.txt"}
    said = "".join(
        (found.folder / name).read_text()
        for name in (FILE_NAME, "manifest.json", "README.md", "labels.txt")
    )
    assert str(runs) not in said
    assert "yes" in said


def test_the_card_says_what_is_known(bundles) -> None:
    text = (bundles / "int8" / "README.md").read_text()
    for part in ("text_classification", "bert_plain_tiny", "int8", "toy", "yes", "no", "torch"):
        assert part in text
    assert "licence | to be said" in text
    assert "| words | --tokenize whitespace |" in text


# Predicts with a bundle where neither fairseq nor what only training needs can be imported.
ALONE = """
import json, sys, torch
{absent}
from fairseq_plugins import load
made = load({bundle!r}, int8={int8})
print(json.dumps([[p.label, p.probabilities] for p in made.predict({texts!r})]))
assert "fairseq" not in sys.modules
assert "torch._dynamo" not in sys.modules  # which takes seconds
"""


@pytest.mark.parametrize("int8", [False, True])
def test_a_bundle_needs_no_fairseq(bundles, int8) -> None:
    texts = [list(pair) for pair in texts_of("classes")]
    absent = ABSENT.format(
        absent=("fairseq", "omegaconf", "pandas", "matplotlib", "hydra", "submitit")
    )
    code = ALONE.format(absent=absent, bundle=str(bundles / "classes1"), int8=int8, texts=texts)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    wanted = load(bundles / "classes1", cpu=True, int8=int8).predict(texts)
    assert json.loads(done.stdout) == [[p.answer, p.probabilities] for p in wanted]


def test_commands_take_bundles(runs, answering, bundles, tmp_path) -> None:
    lines = "".join(f"{a}\t{b}\n" for a, b in texts_of("classes"))
    (tmp_path / "in.tsv").write_text(lines)
    for name, path in (("run", runs / "classes1"), ("bundle", bundles / "classes1")):
        words = ["predict", str(path), "--input", str(tmp_path / "in.tsv"), "--cpu"]
        assert main([*words, "--output", str(tmp_path / name)]) == 0
    assert (tmp_path / "bundle").read_text() == (tmp_path / "run").read_text() != ""
    for name in ("first", "first-bundle"):
        words = ["answer", str(answering / name), "--cpu", "--output"]
        raw = str(answering / "raw" / "dev-v2.0.json")
        assert main([*words, str(tmp_path / name), "--input", raw]) == 0
    files = [tmp_path / name / "predictions.json" for name in ("first", "first-bundle")]
    assert files[0].read_text() == files[1].read_text()


def test_a_bundle_for_something_else_is_named(bundles, answering) -> None:
    with pytest.raises(InputError, match="is a bundle for extractive_qa; what is wanted is one"):
        load(answering / "first-bundle")
    with pytest.raises(InputError, match="is a bundle for text_classification; what is wanted"):
        load_reader(bundles / "classes1")


def test_a_folder_with_other_labels_or_values_is_refused(runs, bundles, answering) -> None:
    with pytest.raises(InputError, match="was prepared for --task sequence_labeling"):
        load(bundles / "classes1", runs / "entities-data")
    with pytest.raises(InputError, match="the model was trained for classes"):
        load(bundles / "classes1", runs / "score-data")


@pytest.mark.parametrize(("features", "said"), [("subword", True), ("none", False)])
def test_a_folder_of_words_that_were_cut_otherwise_is_said(
    runs, bundles, tmp_path, caplog, features, said
) -> None:
    """Whatever reads nothing of words has nothing to fear of other ones."""
    data = shutil.copytree(runs / "classes-data", tmp_path / "data")
    trained = read_manifest(bundles / "classes1")
    model = json.loads((bundles / "classes1" / FILE_NAME).read_text())["content"]["model"]
    _, plan = understanding._plan(model | {"features": features}, "the bundle")
    for words, expected in (("whitespace", False), ("spacy", said)):
        body = json.loads((data / "manifest.json").read_text())
        (data / "manifest.json").write_text(json.dumps(body | {"tokenize": words}))
        content = load_vocabulary(data, trained).content
        understanding.check_folder(data, trained, content, plan)
        assert ("OTHER WORDS" in caplog.text) == expected


def test_only_files_of_the_index_are_read(bundles, tmp_path) -> None:
    """A folder of fairseq's beside them is not taken for the weights."""
    bundle = shutil.copytree(bundles / "classes1", tmp_path / "bundle")
    (bundle / "dict.txt").write_text("a 1\n")
    zeros = {name: value * 0 for name, value in load(bundle).models[0].state_dict().items()}
    torch.save({"model": zeros}, bundle / "model.pt")
    text = texts_of("classes")[:3]
    assert load(bundle, cpu=True).predict(text) == load(bundles / "classes1").predict(text)


def lemma_run(root: Path, lemmas: Sequence[str], arch="bert_plain", **options) -> Path:
    """Save a model whose prepared folder has parts of speech, lemmas and heads."""
    root.mkdir()

    def prepared(folder: Path, kind: str, target: str) -> Path:
        prepare(folder, kind, target)
        path = folder / "manifest.json"
        body = json.loads(path.read_text()) | {"annotations": ["pos", "lemma", "heads"]}
        body["annotator"] = {"name": "en_x", "version": "1", "hash": "z", "model": "/home/a/x"}
        path.write_text(json.dumps(body))
        symbols = Inventory("lemma", tuple(lemmas), learnt=True).symbols
        (folder / "dict.lemma.txt").write_text("".join(f"{one} 0\n" for one in symbols))
        return folder

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(test_export, "prepare", prepared)
        return checkpoint(root, arch, **options)[0]


def test_a_bundle_keeps_what_its_model_reads_alone(tmp_path) -> None:
    path = lemma_run(tmp_path / "run", ["secret"])
    export(path, tmp_path / "plain", with_pipeline=True)
    assert "dict.lemma.txt" not in open_bundle(tmp_path / "plain").files
    assert "/home" not in (tmp_path / "plain" / "manifest.json").read_text()
    path = lemma_run(tmp_path / "pos", ["secret"], "bert_pos")
    export(path, tmp_path / "bundle", with_pipeline=True, spacy_model="bundled")  # has no lemmas
    found = load(tmp_path / "bundle", cpu=True).predict(["The cat sat."])
    assert found == load(path, cpu=True, spacy_model="bundled").predict(["The cat sat."])
    said = json.loads((tmp_path / "bundle" / "manifest.json").read_text())["annotator"]["model"]
    assert said == ".../x"


def test_an_ensemble_has_the_same_learnt_values(tmp_path) -> None:
    names = ["the", "cat", "mat"]
    for number, lemmas in enumerate([names, names[::-1], names]):
        path = lemma_run(tmp_path / str(number), lemmas, features="lemma")
        export(path, tmp_path / f"bundle{number}")
    first, other, same = (tmp_path / f"bundle{number}" for number in range(3))
    assert len(load([first, same], cpu=True).models) == 2
    with pytest.raises(InputError, match="has other values of lemma than"):
        load([first, other], cpu=True)


def change(bundle: Path, **content) -> None:
    """Change what the index says of the model, and make all hashes fit again."""
    path = bundle / FILE_NAME
    body = json.loads(path.read_text())
    for name, value in content.items():
        part = body["content"]
        body["content"][name] = {**part[name], **value} if isinstance(value, dict) else value
    for name, entry in body["files"].items():
        entry["size"] = (bundle / name).stat().st_size
        entry["sha256"] = sha256(bundle / name)
    path.write_text(json.dumps(body))


ASKED = {"texts": [*map(list, [e.texts for e in examples("classes", 40, 9, pairs=True)])]}
CHANGES = {
    "another architecture": ({"model": {"_name": "transformer"}}, "architecture 'transformer'"),
    "a reference": ({"model": {"features": "${oc.env:HOME}"}}, "refers to something else"),
    "a type": ({"model": {"hidden_size": "12"}}, "'hidden_size' is '12', expected a whole number"),
    "a huge model": ({"model": {"hidden_size": 12 * 10**6}}, "embeddings of its own width"),
    "many layers": ({"model": {"num_hidden_layers": 10**9}}, "expected at most 1,000"),
    "other sizes": ({"model": {"intermediate_size": 24}}, "model.safetensors does not fit"),
    "other features": ({"model": {"features": "pos"}}, "was prepared without"),
    "other labels": ({"model": {"labels": '["a", "b"]'}}, "trained for classes .a, b."),
    "no labels": ({"model": {"labels": "[1"}}, "expected a JSON list"),
    "another form": ({"form": "int4"}, "form 'int4'; choices: float32, int8"),
    "form of other numbers": ({"form": "int8"}, "does not fit the options"),
    "no options": ({"model": 3}, "the index says 3 for 'model'"),
    "no heads": ({"model": {"num_attention_heads": -1}}, "--num-attention-heads -1: must be at"),
    "no number": ({"model": {"layer_norm_eps": float("nan")}}, "'layer_norm_eps' is nan, expected"),
    "many answers": ({"input": {"n_best": 2**40}}, "--n-best .*: must be from 1 to 100000"),
    "odd input": ({"input": {"max_positions": -2}}, "--max-positions -2: must be at least 1"),
    "a name of nothing": ({"names": [1]}, "the index says .1. for 'names'"),
    "input of words": ({"input": {"long_examples": "split"}}, "split: choices are error"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_hostile_index_is_refused(bundles, tmp_path, what) -> None:
    bundle = shutil.copytree(bundles / "classes1", tmp_path / "bundle")
    changed, message = CHANGES[what]
    change(bundle, **changed)
    with pytest.raises(InputError, match=message):
        load(bundle, cpu=True)


@pytest.fixture
def telling(monkeypatch) -> pytest.MonkeyPatch:
    """Let the dataset of the runs say what a label means, until undone."""
    monkeypatch.setitem(DATASETS, "toy", Dataset("toy", {}, names={"yes": "alike", "x": "none"}))
    return monkeypatch


def test_a_bundle_keeps_what_labels_mean(runs, bundles, tmp_path, telling) -> None:
    bundle = tmp_path / "bundle"
    export(runs / "classes1", bundle)
    old = load(bundles / "classes1", cpu=True).names  # made before its dataset said so
    at = [load(runs / "classes1", cpu=True).names, load(runs / "score1", cpu=True).names]
    telling.undo()
    assert (old, *at) == ({"yes": "alike"}, {"yes": "alike"}, {})
    found = load(bundle, cpu=True).predict(texts_of("classes"))
    assert found == load(bundles / "classes1", cpu=True).predict(texts_of("classes"))
    assert {made.label: made.record().get("name") for made in found} == {"yes": "alike", "no": None}
    for run, kept in ((bundle, True), (bundles / "classes1", False)):
        assert ("names" in open_bundle(run).content) == kept


@pytest.mark.parametrize("names", [{"maybe": "x"}, {"yes": 1}, {"yes": "two\nlines"}])
def test_names_that_are_none_are_refused(runs, tmp_path, telling, names) -> None:
    export(runs / "classes1", tmp_path / "bundle")
    change(tmp_path / "bundle", names=names)
    with pytest.raises(InputError, match="the index calls label"):
        load(tmp_path / "bundle", cpu=True)


def test_the_service_says_what_labels_mean(bundles, telling) -> None:
    def served() -> tuple[dict, list]:
        one = load_model("m", [bundles / "classes1"], ServiceOptions(cpu=True))
        items = one.kind.items(one.model, one.kind.body.model_validate(ASKED))
        return one.about, one.answer(items)

    told = served()
    telling.undo()
    bare = served()
    assert (told[0].pop("names"), told[0]) == ({"yes": "alike"}, bare[0])
    names = [(one["label"], one.pop("name", None)) for one in told[1]]
    assert {*names} == {("yes", "alike"), ("no", None)}
    assert told[1] == bare[1]


def pickled(path: Path) -> None:
    torch.save({"x": torch.zeros(3)}, path)


@pytest.mark.parametrize("damage", [pickled, lambda p: p.write_bytes(p.read_bytes()[:-8])])
def test_weights_that_are_none_are_refused(bundles, tmp_path, damage) -> None:
    bundle = shutil.copytree(bundles / "classes1", tmp_path / "bundle")
    damage(bundle / "model.safetensors")
    with pytest.raises(InputError, match="other bytes|bytes, but was written"):
        load(bundle, cpu=True)
    change(bundle)
    with pytest.raises(InputError, match=r"model\.safetensors"):
        load(bundle, cpu=True)


def test_two_threads_share_a_model(bundles) -> None:
    from concurrent.futures import ThreadPoolExecutor

    made = load(bundles / "classes1", cpu=True)
    parts = [texts_of("classes")[k::8] for k in range(8)] * 4
    wanted = [made.predict(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(made.predict, parts)) == wanted


def test_the_command_exports_a_bundle(runs, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    assert main(["export", str(runs / "classes1"), "--output", str(out), "--int8"]) == 0
    assert open_bundle(out).content["form"] == "int8"
    assert main(["export", str(runs / "classes1"), "--output", str(out)]) == 1
    assert "is there already" in capsys.readouterr().err
    other = ["--format", "huggingface", "--int8"]
    with pytest.raises(SystemExit) as ended:
        main(["export", str(runs / "classes1"), "--output", str(tmp_path / "b"), *other])
    assert ended.value.code == 2
