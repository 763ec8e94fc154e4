"""Parses given as CoNLL-U beside the texts: how they are taken, what becomes of them, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_corpora import contents
from raw_text import RuleParser, rows_of, text_options, word_pieces, write_pretrained, write_table

from fairseq_plugins.corpora.conllu_parses import GivenParses, ParseFile
from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import engine
from fairseq_plugins.prep.recipes import text as text_recipe
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.syntax.annotation import Annotation
from fairseq_plugins.syntax.layers import LAYERS, layers_of
from fairseq_plugins.syntax.tree import check_heads
from fairseq_plugins.text import text_encoder
from fairseq_plugins.text.text_encoder import TextEncoder

Sentence = list[tuple[str, str, object]]  # form, part of speech, head

DOG: Sentence = [("The", "DET", 2), ("dog", "NOUN", 3), ("can", "VERB", 0)]
ROSE: Sentence = [("a", "DET", 2), ("rose", "NOUN", 0)]
TREES = {"The dog can": [DOG], "a rose": [ROSE], "a rose The dog can": [ROSE, DOG]}


def write_conllu(path: Path, sentences: list[Sentence]) -> Path:
    blocks = [
        "".join(
            f"{i}\t{form}\t_\t{upos}\t_\t_\t{head}\tdep\t_\t_\n"
            for i, (form, upos, head) in enumerate(sentence, 1)
        )
        for sentence in sentences
    ]
    path.write_text("# newdoc\n\n" + "\n".join(blocks), encoding="utf-8")
    return path


@pytest.fixture
def raw(tmp_path, monkeypatch) -> Path:
    """The working folder: texts of two classes with their parses, and a pretrained directory."""
    monkeypatch.setattr(text_recipe, "load_annotator", lambda *args: RuleParser())
    monkeypatch.chdir(tmp_path)
    write_pretrained(tmp_path / "bert")
    for split, texts in (("train", [*TREES, "The dog can"]), ("valid", ["a rose"])):
        write_table(tmp_path / f"{split}.tsv", ("text", "label"), *((t, "yes") for t in texts))
        write_conllu(tmp_path / f"{split}.conllu", [s for text in texts for s in TREES[text]])
    return tmp_path


def options_for(raw: Path, destdir: str = "out", **values):
    fixed = {"train_conllu": "train.conllu", "valid_conllu": "valid.conllu", "dataset": "plain"}
    return text_options(raw, destdir, **{**fixed, **values})


def test_parses_become_heads_and_parts_of_speech(raw) -> None:
    prepare(options_for(raw))
    dog, rose, both = [2, 3, 0], [2, 0], [2, 0, 4, 5, 0]
    assert rows_of(raw / "out", "train", "heads0") == [dog, rose, both, dog]
    assert rows_of(raw / "out", "valid", "heads0") == [rose]
    tags = LAYERS["pos"].inventory.ids(["DET", "NOUN", "VERB"])
    assert rows_of(raw / "out", "train", "pos0")[0] == tags
    assert read_manifest(raw / "out", TextManifest).alignment["train"]["repaired_words"] == 0


def test_texts_of_a_pair_are_parsed_one_after_the_other(raw) -> None:
    rows = [("a rose", "The dog can", "yes"), ("The dog can", "a rose", "no")]
    write_table(raw / "pairs.tsv", ("text", "second", "label"), *rows)
    write_conllu(raw / "pairs.conllu", [ROSE, DOG, DOG, ROSE])
    paths = {"raw_dir": "", "train_file": "pairs.tsv", "train_conllu": "pairs.conllu"}
    prepare(options_for(raw, **paths, valid_conllu="", text2_column="second"))
    assert rows_of(raw / "out", "train", "heads0") == [[2, 0], [2, 3, 0]]
    assert rows_of(raw / "out", "train", "heads1") == [[2, 3, 0], [2, 0]]


@pytest.mark.parametrize(
    ("tokenize", "heads"),
    [("whitespace", [2, 3, 0]), ("characters", [2, 3, 4, 0, 4]), ("spacy", [2, 3, 4, 0])],
)
def test_words_of_every_kind_take_their_place_in_the_tree(tokenize, heads, raw) -> None:
    """Chinese words of one and two characters; whitespace words of two and one of them."""
    text = "\u6771 dog\u4eac \u6771\u4eac"
    words: Sentence = [("\u6771", "X", 2), ("dog", "X", 3), ("\u4eac", "X", 4)]
    words.append(("\u6771\u4eac", "X", 0))
    write_table(raw / "t.tsv", ("text", "label"), (text, "yes"))
    write_conllu(raw / "t.conllu", [words])
    files = {"raw_dir": "", "train_file": "t.tsv", "train_conllu": "t.conllu", "valid_conllu": ""}
    prepare(options_for(raw, tokenize=tokenize, **files))
    assert rows_of(raw / "out", "train", "heads0") == [heads]
    counts = {"whitespace": 3, "characters": 5, "spacy": 4}
    assert read_manifest(raw / "out", TextManifest).splits["train"]["words"] == counts[tokenize]


def test_held_out_examples_keep_their_parses(raw) -> None:
    texts = [list(TREES)[i % 3] for i in range(30)]
    write_table(raw / "t.tsv", ("text", "label"), *((text, "yes") for text in texts))
    write_conllu(raw / "t.conllu", [s for text in texts for s in TREES[text]])
    files = {"raw_dir": "", "train_file": "t.tsv", "train_conllu": "t.conllu", "valid_conllu": ""}
    prepare(options_for(raw, valid_fraction=0.4, **files))
    lengths = {"The dog can": [2, 3, 0], "a rose": [2, 0], "a rose The dog can": [2, 0, 4, 5, 0]}
    found = {split: rows_of(raw / "out", split, "heads0") for split in ("train", "valid")}
    assert sorted(map(len, found.values())) == sorted(
        [30 - len(found["valid"]), len(found["valid"])]
    )
    assert found["valid"]
    assert all(row in lengths.values() for rows in found.values() for row in rows)
    assert sorted(found["train"] + found["valid"]) == sorted(lengths[text] for text in texts)


def test_workers_and_chunks_change_no_byte(raw, monkeypatch) -> None:
    prepare(options_for(raw, "one"))
    monkeypatch.setattr(text_recipe, "CHUNK_EXAMPLES", 1)
    prepare(options_for(raw, "two", workers=2))
    assert contents(raw / "one") == contents(raw / "two")


def refuse(raw: Path, message: str, kind: type = ValueError, **values) -> None:
    """Assert that a preparation is refused before anything is written."""
    with pytest.raises(kind, match=message):
        prepare(options_for(raw, **values))
    assert not (raw / "out").exists()


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ([("a", "DET", 2), ("rose", "NOUN", 1)], r"valid\.conllu:3: .*cycle"),
        ([("a", "DET", 0), ("rose", "NOUN", 0)], r"valid\.conllu:3: .*2 roots"),
        ([("a", "DET", 7), ("rose", "NOUN", 0)], r"valid\.conllu:3: .*head 7"),
        ([("a", "DET", 1), ("rose", "NOUN", 0)], r"valid\.conllu:3: .*its own head"),
        ([("a", "DET", 2), ("rose", "NOUN", "_")], r"valid\.conllu:4: head '_' is no number"),
        (
            [("a", "DET", 2), ("dog", "NOUN", 0)],
            r"valid\.conllu:3: the sentence 'adog' is not what .*valid\.tsv:2 has there, 'arose'",
        ),
        (ROSE[1:], r"valid\.conllu:3: the sentence 'rose' is not what .*tsv:2 has there, 'arose'"),
        ([*ROSE, ("!", "PUNCT", 2)], r"the sentence 'arose!' is not what .* has there, 'arose'"),
        (
            [("a", "DET", 0)],
            r"valid\.conllu:3: too few sentences: the file ends before 'rose' of .*valid\.tsv:2",
        ),
    ],
)
def test_bad_parses_are_refused_before_any_work(sentence, message, raw) -> None:
    write_conllu(raw / "valid.conllu", [sentence])
    refuse(raw, message)


def test_sentences_of_no_example_are_refused(raw) -> None:
    write_conllu(raw / "valid.conllu", [ROSE, DOG])
    refuse(raw, r"valid\.conllu:6: too many sentences: 'Thedogcan' comes after .*valid\.tsv")


def test_sentences_of_rows_that_are_passed_over_are_explained(raw) -> None:
    rows = [("The dog can", "yes"), ("", "yes"), ("a rose", "yes")]
    write_table(raw / "valid.tsv", ("text", "label"), *rows)
    write_conllu(raw / "valid.conllu", [DOG, ROSE])
    manifest = prepare(options_for(raw, "right", on_empty="skip"))
    assert manifest.splits["valid"]["examples"] == 2
    write_conllu(raw / "valid.conllu", [DOG, DOG, ROSE])
    message = r"'Thedogcan' is not what .*tsv:4 has there, 'arose' \(no sentence is due of 1 rows"
    refuse(raw, message, on_empty="skip")


def test_stopped_and_rerun_gives_the_same_bytes(raw, monkeypatch) -> None:
    monkeypatch.setattr(text_recipe, "CHUNK_EXAMPLES", 1)
    prepare(options_for(raw, "straight"))
    for step in range(5):  # writes a file for each of five chunks
        write, left = engine.write_rows, [step]

        def stop(path, rows, write=write, left=left):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            write(path, rows)

        with monkeypatch.context() as patch:
            patch.setattr(engine, "write_rows", stop)
            with pytest.raises(KeyboardInterrupt):
                prepare(options_for(raw, f"out{step}"))
        prepare(options_for(raw, f"out{step}"))
        assert contents(raw / f"out{step}") == contents(raw / "straight")


def test_parts_of_speech_need_no_heads(raw) -> None:
    write_conllu(raw / "valid.conllu", [[("a", "DET", "_"), ("rose", "NOUN", 7)]])
    manifest = prepare(options_for(raw, annotations="pos"))
    assert manifest.annotations == ["pos"]
    assert rows_of(raw / "out", "valid", "pos0") == [LAYERS["pos"].inventory.ids(["DET", "NOUN"])]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"valid_conllu": ""}, "--valid-conllu names 0 CoNLL-U file.* splits .* one are valid"),
        ({"test_conllu": "train.conllu"}, "--test-conllu names 1 .* need one are none"),
        ({"train_conllu": "train.conllu,valid.conllu"}, "--train-conllu names 2"),
        ({"train_conllu": "train.conllu,"}, "--train-conllu 'train.conllu,': a file name is empty"),
        ({"annotations": "none"}, "CoNLL-U files have no work to do"),
    ],
)
def test_files_and_splits_must_match(values, message, raw) -> None:
    with pytest.raises(InputError, match=message):
        prepare(options_for(raw, **values))
    assert not (raw / "out").exists()


def test_missing_file_is_named(raw) -> None:
    message = "--train-conllu: no file 'no.conllu' for split 'train'"
    refuse(raw, message, FileNotFoundError, train_conllu="no.conllu")


def test_official_splits_take_files_in_their_order(raw) -> None:
    options = text_options(
        raw, "out", dataset="mnli", valid_conllu="a, b", test_conllu="c,d,e", train_conllu="f"
    )
    splits = ["train", "valid", "valid_mismatched", "test", "test_mismatched", "ax"]
    for name in "abcdef":
        (raw / name).touch()
    found = {split: path.name for split, path in options.conllu_files(splits).items()}
    assert found == dict(zip(splits, "fabcde"))


def test_manifest_says_whose_the_parses_are(raw) -> None:
    manifest = prepare(options_for(raw))
    assert manifest.annotator["name"] == "conllu"
    assert {"train.conllu", "valid.conllu"} <= manifest.inputs.keys()
    write_conllu(raw / "valid.conllu", [[("a", "DET", 0), ("rose", "NOUN", 1)]])
    with pytest.raises(InputError, match="holds another preparation"):
        prepare(options_for(raw))
    other = prepare(options_for(raw, overwrite=True))
    assert other.annotator_id != manifest.annotator_id


def test_raw_text_needs_a_pipeline_of_its_own(raw, monkeypatch) -> None:
    manifest = prepare(options_for(raw))
    with pytest.raises(InputError, match="prepare it with --spacy-model as well, or predict its"):
        TextEncoder.from_folder(raw / "out", manifest)
    loaded = []

    def reopen(folder, recorded, names, named, tokenize):
        loaded.append((recorded.get("model", ""), named))
        return RuleParser()

    monkeypatch.setattr(text_encoder, "reopen_annotator", reopen)
    monkeypatch.setattr(RuleParser, "identity", lambda self: {**RULE, "model": "rule"})
    manifest = prepare(options_for(raw, "both", spacy_model="rule"))
    assert manifest.annotator["name"] == "conllu"
    assert rows_of(raw / "both", "train", "heads0") == rows_of(raw / "out", "train", "heads0")
    coder = TextEncoder.from_folder(raw / "both", manifest)
    ((sentence,),) = coder.encode([Example("0", ("The dog can",))])
    assert (loaded, sentence.layers["heads"]) == ([("rule", None)], [2, 3, 0])
    TextEncoder.from_folder(raw / "out", prepare(options_for(raw)), "named")
    assert loaded[-1] == ("", "named")


RULE = {"name": "rule", "version": "1", "hash": "0"}


def test_sentences_are_taken_as_the_texts_need_them(tmp_path) -> None:
    path = write_conllu(tmp_path / "a.conllu", [ROSE, DOG, ROSE, []])
    parses = ParseFile(path, tmp_path / "a.tsv", names=("pos", "heads"))
    given_ = [Example("0", ("a rose\u00a0Thedog can", " a  rose "))]
    ((_, (first, second)),) = parses.beside(given_)
    assert first == Annotation(
        ["a", "rose", "The", "dog", "can"],
        {"pos": ["DET", "NOUN", "DET", "NOUN", "VERB"], "heads": [2, 0, 4, 5, 0]},
    )
    assert second.words == ["a", "rose"]


def test_identity_follows_from_the_bytes(tmp_path) -> None:
    one, same = (write_conllu(tmp_path / name, [ROSE]) for name in "ab")
    other = write_conllu(tmp_path / "c", [DOG])
    assert GivenParses([one]).identity() == GivenParses([same]).identity()
    assert GivenParses([one]).identity() != GivenParses([other]).identity()
    assert GivenParses([one], "xx").identity()["model"] == "xx"


PARTS = st.sampled_from(
    [
        "dog",
        "a",
        "\u6771\u4eac",
        "caf\u00e9",
        "1,0",
        "\u200b",
        "x\u200b",
        "\x1f",
        "\u3000",
        "\u6771a",
    ]
)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), parts=st.lists(PARTS, min_size=1, max_size=6))
@pytest.mark.parametrize("tokenize", ["whitespace", "characters", "spacy"])
def test_trees_stay_trees_however_words_are_cut(tokenize, data, parts) -> None:
    text = data.draw(st.sampled_from([" ", ""])).join(parts)
    letters = "".join(text.split())
    cuts = data.draw(st.sets(st.integers(1, max(1, len(letters) - 1))))
    ends = sorted({*(cut for cut in cuts if cut < len(letters)), len(letters)} - {0})
    words = [letters[begin:end] for begin, end in zip([0, *ends], ends)]
    heads = [data.draw(st.integers(0, i)) for i in range(len(words))]
    note = Annotation(words, {"pos": ["X"] * len(words), "heads": heads})
    coder = TextEncoder(word_pieces(), tokenize, layers_of(("pos", "heads")), GivenParses([]))
    ((sentence,),) = coder.encode([Example("0", (text,))], [(note,)])
    check_heads(sentence.layers["heads"], sentence.words)
    assert len(sentence.layers["pos"]) == len(sentence.words)
    assert sorted(set(sentence.word_of)) == list(range(len(sentence.words)))
    if tokenize == "characters":
        plain = TextEncoder(word_pieces(), "whitespace")
        ((whole,),) = plain.encode([Example("0", (text,))])
        assert sentence.tokens == whole.tokens
