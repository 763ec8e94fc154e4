"""Roles as CoNLL-U: keys of MISC for the first predicates, beside what is known of the words."""

from __future__ import annotations

from pathlib import Path

import pytest
from raw_text import RuleParser, text_options, write_pretrained, write_table

from fairseq_plugins.cli.main import main
from fairseq_plugins.corpora.conllu import parse_block, read_blocks
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_folders import read_sentences
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import role_files
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.role_files import RoleFiles, convert
from fairseq_plugins.text.annotators import load_annotator
from fairseq_plugins.text_reading import numbered_lines

ROLES = "the (A0* O\ndog *) B-V\n\na O O B-V O\nrose B-V O O O\n\ndog\n"
NAMES = ["given.srl1", "given.srl2", "given.srl3"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(role_files, "load_annotator", lambda *_: RuleParser())
    (tmp_path / "a.srl").write_text(ROLES, encoding="utf-8")
    return tmp_path


def options(folder: Path, **values) -> RoleFiles:
    fixed = {"roles": str(folder / "a.srl"), "output": str(folder / "a.conllu")}
    return RoleFiles(**{**fixed, **values})


def found(path: Path, names=NAMES):
    blocks = read_blocks(numbered_lines(path))
    return [parse_block(block, path, names) for block in blocks]


def test_first_predicates_become_layers_and_further_layers_have_none(folder) -> None:
    counts = convert(options(folder))
    kept = {"sentences": 3, "predicates": 6, "left out": 1, "crowded": 1, "bare": 1}
    assert counts == kept
    rows = [[note.layers[name] for name in NAMES] for note in found(folder / "a.conllu")]
    assert rows == [
        [["B-A0", "I-A0"], ["O", "B-V"], ["O", "O"]],
        [["O", "B-V"], ["O", "O"], ["B-V", "O"]],
        [["O"], ["O"], ["O"]],
    ]
    convert(options(folder, predicates=1, name="role"))
    (first, *_) = found(folder / "a.conllu", ["given.role1"])
    assert first.layers["given.role1"] == ["B-A0", "I-A0"]
    assert "role2" not in (folder / "a.conllu").read_text()


def test_trees_of_several_sentences_become_one(folder, monkeypatch) -> None:
    """The bundled pipeline parses two sentences in one text as two trees."""
    monkeypatch.setattr(role_files, "load_annotator", load_annotator)
    text = "He *\nleft (V*)\n. *\nShe *\nstayed *\n. *\n\nYes *\n"
    (folder / "a.srl").write_text(text, encoding="utf-8")
    convert(options(folder, annotator="bundled"))
    two, one = found(folder / "a.conllu", ["heads", "dep"])
    roots = [place for place, head in enumerate(two.layers["heads"]) if head == 0]
    assert len(roots) == 1
    assert two.layers["dep"].count("parataxis") == 1
    (one_root,) = one.layers["heads"]
    assert one_root == 0


def test_an_annotator_gives_what_else_is_known(folder) -> None:
    convert(options(folder, annotator="some"))
    notes = found(folder / "a.conllu", ["heads", "dep", *NAMES])
    assert [note.layers["heads"] for note in notes] == [[2, 0], [2, 0], [0]]
    assert all(set(note.layers["pos"]) - {"X"} for note in notes)
    assert notes[0].layers["given.srl1"] == ["B-A0", "I-A0"]


def test_roles_join_a_parse_of_the_same_words(folder) -> None:
    parse = (
        "# sent_id = 1\n1-2\tthedog\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\tsrl1=old|Gloss=x\n2\tdog\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n"
        "\n1\ta\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\trose\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
        "\n1\tdog\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    )
    (folder / "b.conllu").write_text(parse, encoding="utf-8")
    convert(options(folder, conllu=str(folder / "b.conllu"), predicates=1))
    told = (folder / "a.conllu").read_text(encoding="utf-8")
    assert told.startswith("# sent_id = 1\n1-2\tthedog")
    assert "\tGloss=x|srl1=B-A0\n" in told
    assert "old" not in told
    notes = found(folder / "a.conllu", ["heads", "given.srl1"])
    assert [note.layers["heads"] for note in notes[1:]] == [[2, 0], [0]]
    assert notes[1].layers["given.srl1"] == ["O", "B-V"]
    (folder / "a.conllu").unlink()
    for other, message in (
        (parse.replace("\trose\t", "\ttree\t"), r"b\.conllu:6: the sentence 'a tree' is not that"),
        (parse[: parse.rindex("\n1\t")], r"a\.srl:7: the sentence 'dog' comes after all those of"),
        (f"{parse}\n1\tdog\t_\tX\t_\t_\t0\t_\t_\t_\n", r"b\.conllu:11: .* comes after all those"),
    ):
        (folder / "b.conllu").write_text(other, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            convert(options(folder, conllu=str(folder / "b.conllu")))
        assert not (folder / "a.conllu").exists()


def test_pairs_and_tokens_are_prepared_with_them(folder) -> None:
    write_pretrained(folder / "bert")
    convert(options(folder))
    write_table(folder / "train.tsv", ("text", "second", "label"), ("the dog", "a rose", "yes"))
    with (folder / "train.tsv").open("a", encoding="utf-8") as stream:
        stream.write("dog\tthe dog\tno\n")
    (folder / "a.srl").write_text(f"{ROLES}\nthe O\ndog B-V\n", encoding="utf-8")
    convert(options(folder))
    given = {"train_conllu": "a.conllu", "layers": ",".join(NAMES), "layer_min_count": 1}
    given = {**given, "train_conllu": folder / "a.conllu"}
    prepare(text_options(folder, "pairs", dataset="plain", text2_column="second", **given))
    manifest = read_manifest(folder / "pairs", TextManifest)
    assert (manifest.sentences, manifest.annotations) == (2, NAMES)
    sides = read_sentences(folder / "pairs", manifest, "train", NAMES)
    labels = (folder / "pairs" / "dict.given.srl1.txt").read_text().split()[::2]
    rows = [[labels[i] for i in side.layers["given.srl1"][0]] for side in sides]
    assert rows == [["B-A0", "I-A0"], ["O", "B-V"]]
    (folder / "train.tsv").unlink()
    words = "the\tO\ndog\tB-PER\n\na\tO\nrose\tO\n\ndog\tO\n\nthe\tO\ndog\tO\n"
    (folder / "train.conll").write_text(words, encoding="utf-8")
    prepare(text_options(folder, "tokens", dataset="tokens", **given))
    (side,) = read_sentences(
        folder / "tokens", read_manifest(folder / "tokens", TextManifest), "train", NAMES
    )
    assert [labels[i] for i in side.layers["given.srl1"][3]] == ["O", "B-V"]


def test_without_the_columns_nothing_is_prepared(folder) -> None:
    write_pretrained(folder / "bert")
    write_table(folder / "train.tsv", ("text", "label"), ("the dog", "a"), ("a rose", "b"))
    given = {"dataset": "plain", "layers": ",".join(NAMES), "train_file": folder / "train.tsv"}
    with pytest.raises(InputError, match="nothing has the values of given.srl1, given.srl2"):
        text_options(folder, "out", **given)
    convert(options(folder, predicates=2))
    message = r"a\.conllu:1: 'the' has no key srl3 in MISC \(its keys: srl1, srl2\)"
    with pytest.raises(InputError, match=message):
        prepare(text_options(folder, "out", train_conllu=folder / "a.conllu", **given))
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"predicates": 0}, "--predicates 0: must be at least 1"),
        ({"name": "a=b"}, "--name 'a=b': must be letters, digits and _"),
        ({"conllu": "x", "annotator": "y"}, "leave out --annotator"),
        ({"roles": "gone"}, "no file 'gone'"),
        ({"output": "gone/a.conllu"}, "--output: no folder 'gone'"),
    ],
)
def test_what_does_not_fit_is_refused(folder, values, message) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        convert(options(folder, **values))


@pytest.mark.parametrize("flag", ["roles", "conllu"])
def test_an_output_never_replaces_what_is_read(folder, flag) -> None:
    convert(options(folder))
    (folder / "link").symlink_to(folder / ("a.srl" if flag == "roles" else "a.conllu"))
    before = (folder / "link").read_bytes()
    given = {flag: str(folder / "link"), "output": str((folder / "link").resolve())}
    with pytest.raises(InputError, match=r"--output .*: would replace what is read; name another"):
        convert(options(folder, **given))
    assert (folder / "link").read_bytes() == before
    for output in (str(folder), ""):
        with pytest.raises(InputError, match="is no name of a file"):
            convert(options(folder, output=output))


def test_the_command_prints_the_counts(folder, capsys) -> None:
    files = ["--roles", str(folder / "a.srl"), "--output", str(folder / "a.conllu")]
    assert not main(["convert-roles", *files])
    assert capsys.readouterr().out == (
        "3 sentences, 6 predicates; 1 sentences without any\n"
        "1 sentences have more than 3: the first 3 are kept, 1 predicates left out\n"
    )
    (folder / "a.srl").write_text("\n", encoding="utf-8")
    assert main(["convert-roles", *files]) == 1
    assert "a.srl: no sentences" in capsys.readouterr().err
