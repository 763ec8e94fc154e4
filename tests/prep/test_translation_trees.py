"""``--parse``: the heads of the source words beside their subwords, from whatever parsed them."""

from __future__ import annotations

from pathlib import Path

import pytest
from raw_corpora import contents, invented_pairs, make_options, stream_rows, write_pairs
from raw_text import RuleParser

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.pair_columns import read_side
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes import translation
from fairseq_plugins.prep.recipes import translation_chunks as chunks
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.prep.shares import Share
from fairseq_plugins.prep.subset import choose_lines, write_subset
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.text import annotate, source_encoder
from fairseq_plugins.text.source_encoder import SourceEncoder

STREAMS = ("words", "heads")
WORDS = {"tokenizer": "pretokenized", "subwords": "none"}


@pytest.fixture
def rule_parser(monkeypatch) -> RuleParser:
    """Put the rule parser where preparations, and encoders of raw text, load spaCy."""
    parser = RuleParser()
    monkeypatch.setattr(translation, "load_annotator", lambda *args: parser)
    monkeypatch.setattr(source_encoder, "folder_annotator", lambda *args: parser)
    return parser


def trees(folder: Path, split: str) -> list[list[int]]:
    """Return the heads of a split's words, as CoNLL-U numbers them."""
    return stream_rows(folder, split, "en.heads")


def check(folder: Path, split: str) -> None:
    """Refuse trees that are none, and those that do not fit the tokens."""
    read_side(folder, read_manifest(folder, TranslationManifest), split, layers_of(["heads"]))


def write_corpus(folder: Path, count: int = 30) -> dict[str, Path]:
    """Write two splits; return the options that name them."""
    for seed, split in enumerate(("train", "test")):
        write_pairs(folder / split, invented_pairs(count >> seed, seed))
    return {f"{split}pref": folder / split for split in ("train", "test")}


@pytest.mark.parametrize("cut", [{"tokenizer": "moses"}, {"tokenizer": "none"}, WORDS])
def test_trees_stand_beside_subwords(cut, tmp_path, rule_parser, small_chunks) -> None:
    if cut["tokenizer"] == "none":
        cut = cut | {"subwords": "sentencepiece", "bpe_size": 120}
    manifest = prepare(make_options(tmp_path / "out", parse=True, **write_corpus(tmp_path), **cut))
    assert manifest.heads
    for split in ("train", "test"):
        check(tmp_path / "out", split)
        assert set(manifest.splits[split]["tokens"]) >= {"en.words", "en.heads"}
        for heads in trees(tmp_path / "out", split):  # every word hangs on the next
            assert heads == [*range(2, len(heads) + 1), 0]
            assert len(heads) > 4
    for path in manifest.files(tmp_path / "out"):
        assert path.is_file()


def test_raw_text_gets_what_the_folder_holds(tmp_path, rule_parser) -> None:
    manifest = prepare(make_options(tmp_path / "out", parse=True, **write_corpus(tmp_path)))
    encoder = SourceEncoder.from_folder(tmp_path / "out", manifest)
    lines = (tmp_path / "test.en").read_text().splitlines()
    for k, sentence in enumerate(encoder.encode(lines)):
        words, heads = (stream_rows(tmp_path / "out", "test", f"en.{x}") for x in STREAMS)
        assert words[k] == [word + 1 for word in sentence.word_of]
        assert heads[k] == sentence.layers["heads"]


@pytest.mark.parametrize("tokenizer", ["moses", "none"])
def test_workers_make_the_same_bytes(tokenizer, tmp_path, rule_parser, small_chunks) -> None:
    texts = write_corpus(tmp_path, 40)
    for workers in (1, 3):
        options = {"tokenizer": tokenizer, "workers": workers, "parse": True, **texts}
        prepare(make_options(tmp_path / str(workers), **options))
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


@pytest.mark.parametrize("step", ["annotate", "encode"])
def test_stopped_and_rerun_gives_the_same_bytes(
    step, tmp_path, rule_parser, small_chunks, monkeypatch
) -> None:
    texts = write_corpus(tmp_path)
    prepare(make_options(tmp_path / "straight", parse=True, **texts))
    work, done = getattr(chunks, f"{step}_chunk"), []

    def stop(*args):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(args)
        work(*args)

    with monkeypatch.context() as patch:
        patch.setattr(translation, f"{step}_chunk", stop)
        with pytest.raises(KeyboardInterrupt):
            prepare(make_options(tmp_path / "out", parse=True, **texts))
    prepare(make_options(tmp_path / "out", parse=True, **texts))
    assert contents(tmp_path / "out") == contents(tmp_path / "straight")


def test_without_parse_nothing_changes(tmp_path, rule_parser) -> None:
    texts = write_corpus(tmp_path)
    plain = prepare(make_options(tmp_path / "plain", **texts))
    parsed = prepare(make_options(tmp_path / "parsed", parse=True, **texts))
    assert not plain.heads
    assert "parse" not in plain.options  # as in folders that were prepared before it was an option
    assert parsed.differences(plain) == ["options.parse True -> None"]
    found = contents(tmp_path / "parsed")
    added = {name for name in found if ".heads." in name}
    assert len(added) == 2 * 2
    for name, body in contents(tmp_path / "plain").items():
        if name != "manifest.json":
            assert found.pop(name) == body
    assert set(found) == {*added, "manifest.json"}


def test_trees_need_no_features(tmp_path, rule_parser) -> None:
    options = make_options(tmp_path / "out", parse=True, features="", **write_corpus(tmp_path))
    manifest = prepare(options)
    assert manifest.annotator["name"] == "rule"
    assert trees(tmp_path / "out", "test")[0]
    assert SourceEncoder.from_folder(tmp_path / "out", manifest).encode(["a b"])[0].layers["heads"]


def test_other_source_language_needs_a_parser(tmp_path) -> None:
    with pytest.raises(InputError, match="heads of 'fr' need --spacy-model or --conllu"):
        make_options(tmp_path, source_lang="fr", parse=True, features="", trainpref="x")


def test_a_subset_keeps_its_trees(tmp_path, rule_parser) -> None:
    prepare(make_options(tmp_path / "out", parse=True, **write_corpus(tmp_path)))
    manifest = write_subset(tmp_path / "out", tmp_path / "half", Share(0.5, 1))
    assert read_manifest(tmp_path / "half").heads
    whole, half = (trees(tmp_path / name, "train") for name in ("out", "half"))
    assert half == [whole[i] for i in choose_lines(30, Share(0.5, 1))[0]]
    check(tmp_path / "half", "train")
    sizes = [(tmp_path / n / "train.en-de.en.heads.bin").stat().st_size for n in ("out", "half")]
    tokens = manifest.splits["train"]["tokens"]["en.heads"]
    assert sizes[1] == 2 * tokens < sizes[0]


class TestConllu:
    """Parses given beside the text."""

    def write(self, folder: Path, *sentences: list[tuple[str, str, str]]) -> None:
        """Write lines of one sentence each, as text and as rows of (id, form, head)."""
        blocks = []
        for sentence in sentences:
            rows = ([i, f, "_", "X", "_", "_", head, "_", "_", "_"] for i, f, head in sentence)
            blocks.append("".join("\t".join(row) + "\n" for row in rows))
        (folder / "t.en.conllu").write_text("# first\n" + "\n".join(blocks))

    def prepare(self, folder: Path, text: list[str], **values) -> list[list[int]]:
        write_pairs(folder / "t", [(line, "x y") for line in text])
        options = {"parse": True, "conllu": True, "trainpref": folder / "t", **WORDS, **values}
        self.manifest = prepare(make_options(folder / "out", **options))
        return trees(folder / "out", "train")

    def test_heads_are_taken(self, tmp_path) -> None:
        self.write(tmp_path, [("1", "a", "2"), ("2", "b", "0")], [("1", "c", "0")])
        assert self.prepare(tmp_path, ["a b", "c"]) == [[2, 0], [0]]
        assert self.manifest.annotator_id == "conllu -"

    def test_a_pipeline_beside_them_is_for_raw_text(self, tmp_path, monkeypatch) -> None:
        asked = []

        def load(model, names):
            asked.append((model, "heads" in names))
            return RuleParser()

        monkeypatch.setattr(annotate, "Annotator", load)
        self.write(tmp_path, [("1", "a", "0"), ("2", "b", "1")])
        assert self.prepare(tmp_path, ["a b"], spacy_model="xx") == [[0, 1]]
        assert (asked, self.manifest.annotator["model"]) == ([("xx", True)], "xx")
        manifest = read_manifest(tmp_path / "out")
        with pytest.raises(FileNotFoundError, match="'xx', which is not installed in this env"):
            SourceEncoder.from_folder(tmp_path / "out", manifest)
        (raw,) = SourceEncoder.from_folder(tmp_path / "out", manifest, "xx").encode(["a b"])
        assert asked == [("xx", True)] * 2
        assert (raw.word_of, raw.layers["heads"]) == ([0, 1], [2, 0])  # of the rule

    def test_multiword_tokens_are_one_word(self, tmp_path) -> None:
        parts = [("2-3", "zum", "_"), ("2", "zu", "4"), ("3", "dem", "4")]
        self.write(tmp_path, [("1", "geh", "0"), *parts, ("4", "Haus", "1")])
        assert self.prepare(tmp_path, ["geh zum Haus"]) == [[0, 3, 1]]

    def test_annotation_that_slipped_by_a_line_is_told(self, tmp_path, caplog) -> None:
        rows = [[("1", form, "0")] for form in "abcdefghijklmnopqrst"]
        lines = [form for ((_, form, _),) in rows]
        self.write(tmp_path, *rows)
        self.prepare(tmp_path, ["x", *lines[1:]])
        assert "OTHER CHARACTERS" not in caplog.text  # one of twenty
        self.write(tmp_path, *rows[1:], rows[0])
        self.prepare(tmp_path, lines, overwrite=True)
        assert "ANNOTATION OF 20 LINES OUT OF 20 IS OF OTHER CHARACTERS" in caplog.text

    @pytest.mark.parametrize("policy", ["repair", "error", "skip"])
    def test_words_cut_otherwise_follow_the_policy(self, policy, tmp_path) -> None:
        cut = [("1", "do", "3"), ("2", "n't", "3"), ("3", "go", "0")]
        self.write(tmp_path, cut, [("1", "c", "0")])
        if policy == "error":
            with pytest.raises(InputError, match=r"t.en:1: 1 words do not match"):
                self.prepare(tmp_path, ["don't go", "c"], on_misalignment=policy)
            return
        found = self.prepare(tmp_path, ["don't go", "c"], on_misalignment=policy)
        assert found == ([[2, 0], [0]] if policy == "repair" else [[0]])

    def test_other_words_keep_the_tree_of_those_they_share(self, tmp_path) -> None:
        rows = [("1", "a", "2"), ("2", "b", "3"), ("3", "c", "0"), ("4", "d", "2")]
        self.write(tmp_path, rows)
        assert self.prepare(tmp_path, ["a x c d"]) == [[3, 0, 0, 3]]  # x is a tree of its own
        assert self.manifest.alignment["train"] == {"failed_lines": 1, "repaired_words": 4}

    @pytest.mark.parametrize(
        ("heads", "message"),
        [
            (("2", "1"), r"conllu:\d: .*cycle"),
            (("0", "0"), r"conllu:\d: .*2 roots"),
            (("2", "5"), r"conllu:\d: word 2 'b' has head 5, but the sentence has 2 words"),
            (("1", "0"), r"conllu:\d: word 1 'a' of 2 is its own head"),
            (("2", "_"), r"conllu:3: head '_' is no number"),
        ],
    )
    def test_heads_that_form_no_tree(self, heads, message, tmp_path) -> None:
        rows = [(str(i), form, head) for i, (form, head) in enumerate(zip("ab", heads), 1)]
        self.write(tmp_path, rows)
        with pytest.raises(InputError, match=message):
            self.prepare(tmp_path, ["a b"])
        write_pairs(tmp_path / "t", [("a b", "x y")])
        options = {"conllu": True, "trainpref": tmp_path / "t", **WORDS}
        assert not prepare(make_options(tmp_path / "unparsed", **options)).heads
