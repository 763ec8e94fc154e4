"""Training and scoring pipelines, end to end on a toy treebank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy")
pytest.importorskip("sacremoses")
from spacy.training import Example  # noqa: E402

from fairseq_plugins.cli.main import main  # noqa: E402
from fairseq_plugins.door.pipelines import PIPELINE  # noqa: E402
from fairseq_plugins.text.annotate import directory_hash  # noqa: E402
from fairseq_plugins.text.pipeline import scores  # noqa: E402
from fairseq_plugins.text.pipeline import training as pipeline  # noqa: E402
from fairseq_plugins.text.pipeline.treebank import read_docs  # noqa: E402

NOUNS = ["dog", "cat", "bird", "fish", "horse", "mouse"]
VERBS = ["sees", "hears", "chases", "likes"]


def toy_conllu(count: int) -> str:
    """Subject verb object clauses, every one with another choice of words."""
    blocks = []
    for i in range(count):
        words = ["The", NOUNS[i % 6], VERBS[i % 4], "a", NOUNS[(i + 1) % 6], "."]
        rows = zip(
            words,
            ["DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"],
            [2, 3, 0, 5, 3, 3],
            ["det", "nsubj", "root", "det", "obj", "punct"],
            ["the", words[1], words[2].replace("s", "z"), "a", words[4], "."],
            ["DT", "NN", "VBZ", "DT", "NN", "."],
            ["_", "Number=Sing", "Person=3", "_", "Number=Sing", "_"],
        )
        lines = [f"# text = {' '.join(words[:-1])}."]
        for number, (word, tag, head, dep, lemma, xpos, feats) in enumerate(rows, 1):
            misc = "SpaceAfter=No" if number == 5 else "_"
            lines.append(
                f"{number}\t{word}\t{lemma}\t{tag}\t{xpos}\t{feats}\t{head}\t{dep}\t_\t{misc}"
            )
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    for split, count in (("train", 120), ("dev", 12), ("test", 12)):
        (folder / f"{split}.conllu").write_text(toy_conllu(count), encoding="utf-8")
    return folder


def sentences_of(treebank: Path, split: str) -> list:
    return list(read_docs(treebank / f"{split}.conllu", spacy.blank("en").vocab))


def train(treebank: Path, out: Path, steps: int = 40, *options: str) -> Path:
    sizes = ["--rows", "200", "100", "100", "100", "--eval-every", "10"]
    paths = ["--ud-dir", str(treebank), "--output", str(out), "--lang", "en"]
    more = ["--license", "CC BY-SA 4.0", *options]
    assert main(["train-pipeline", *paths, "--steps", str(steps), *sizes, *more]) == 0
    return out


def test_grouped_joins_sentences_with_their_trees_and_loses_none(treebank):
    sentences = sentences_of(treebank, "train")
    docs = list(pipeline.grouped(sentences, seed=0))
    assert "".join(doc.text for doc in docs) == "".join(doc.text for doc in sentences)
    assert {len(list(doc.sents)) for doc in docs} == {1, 2, 3}
    assert {word.head.sent == word.sent for doc in docs for word in doc} == {True}


def test_variants_add_lower_case_and_moses_tokens_at_their_rate(treebank):
    nlp, gold = spacy.blank("en"), sentences_of(treebank, "train")[0]

    def mixed(rate):
        return [one.x for one in pipeline.variants(rate)(nlp, Example(nlp(gold.text), gold))]

    words = "The dog sees a cat .".split()
    assert [[word.text for word in doc] for doc in mixed(0)] == [words]
    _, lower, moses = [[word.text for word in doc] for doc in mixed(1)]
    assert lower == [word.lower() for word in words]
    assert [word.lower() for word in moses] == lower


@pytest.mark.slow
def test_train_then_evaluate_leaves_a_pipeline_with_a_filled_card(treebank, tmp_path):
    out = train(treebank, tmp_path / "pipe")
    before = directory_hash(out)
    assert main(["train-pipeline", "--ud-dir", str(treebank), "--output", str(out), "--score"]) == 0
    assert directory_hash(out) == before  # what was prepared with it stays so
    found = json.loads((out / "scores.json").read_text(encoding="utf-8"))
    assert found["of"] in (out / "README.md").read_text(encoding="utf-8")
    assert found["upos"] > 90
    assert found["uas"] > 60
    assert found["words"] == 72
    assert min(found["xpos"], found["feats"], found["lemmas"]) > 80
    card = (out / "README.md").read_text(encoding="utf-8")
    assert f"| {found['upos']} |" in card
    assert "$" not in card
    assert "CC BY-SA 4.0" in (out / "LICENSE").read_text(encoding="utf-8")
    PIPELINE.admit(out)  # a bundle may hold it
    assert {path.name for path in tmp_path.iterdir()} == {"pipe"}


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ("pipe/meta.json", "pipe is there already"),
        ("pipe.training/model-best/meta.json", "pipe.training holds model-best"),
        ("pipe.training/precious.txt", "pipe.training holds precious.txt"),
    ],
)
def test_what_lies_where_a_training_writes_is_kept(treebank, tmp_path, capsys, there, said):
    """Nothing is replaced, least of all what a training left that was killed."""
    (tmp_path / there).parent.mkdir(parents=True)
    (tmp_path / there).write_text("kept", encoding="utf-8")
    how = ["--ud-dir", str(treebank), "--output", str(tmp_path / "pipe"), "--lang", "en"]
    assert main(["train-pipeline", *how, "--license", "x"]) == 1
    assert said in capsys.readouterr().err
    assert (tmp_path / there).read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("over", ["", "2 minutes are over"])
@pytest.mark.parametrize("best", ["none", "half", "whole"])
def test_interrupted_training_keeps_the_best_pipeline_if_it_is_whole(
    treebank, tmp_path, monkeypatch, over, best, capsys
):
    def interrupted(config, scratch, overrides):
        if best == "whole":
            spacy.blank("en").to_disk(scratch / "model-best")
        elif best == "half":
            (scratch / "model-best").mkdir()
            (scratch / "model-best" / "meta.json").write_text("{}", encoding="utf-8")
        raise KeyboardInterrupt(*filter(None, [over]))

    monkeypatch.setattr(pipeline, "train_spacy", interrupted)
    out, is_whole = tmp_path / "pipe", best == "whole"
    how = ["--ud-dir", str(treebank), "--output", str(out), "--lang", "en", "--license", "x"]
    assert (main(["train-pipeline", *how]) == 0) == is_whole
    assert (out / "config.cfg").is_file() == is_whole
    said = f"{over or 'interrupted'}: the best" in capsys.readouterr().out
    assert said == is_whole
    assert not (tmp_path / "pipe.training").exists()


@pytest.mark.slow
def test_training_twice_gives_the_same_weights(treebank, tmp_path):
    first, second = (train(treebank, tmp_path / name, steps=10) for name in ("a", "b"))
    for part in ("tok2vec", "parser", "morphologizer"):
        assert (first / part / "model").read_bytes() == (second / part / "model").read_bytes()


@pytest.mark.slow
def test_training_out_of_time_leaves_the_best_pipeline(treebank, tmp_path, capsys):
    out = train(treebank, tmp_path / "pipe", 1000, "--minutes", "0.02")
    assert spacy.load(out).meta["name"] == "pipe"
    assert "0.02 minutes are over: the best pipeline so far is kept" in capsys.readouterr().out


@pytest.mark.slow
def test_saved_pipeline_keeps_no_corpus_words(treebank, tmp_path):
    out = train(treebank, tmp_path / "pipe", steps=1)
    strings = json.loads((out / "vocab" / "strings.json").read_text(encoding="utf-8"))
    assert not set(NOUNS) & set(strings)
    assert str(tmp_path) not in (out / "config.cfg").read_text(encoding="utf-8")


def test_score_is_perfect_for_a_pipeline_that_knows_the_answers(treebank):
    nlp, gold = spacy.blank("en"), sentences_of(treebank, "test")
    for name in ("morphologizer", "parser"):
        nlp.add_pipe(name)
    examples = [Example(doc, doc) for doc in gold]
    assert scores.measures(nlp, examples)["upos"] == 100.0
    assert scores.measures(nlp, examples)["las"] == 100.0
