"""The script that makes a tagging task of a treebank, and scores words found in raw text."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "tagging" / "treebank_tags.py"


def run(patch, *arguments: object) -> None:
    patch.setattr(sys, "argv", ["treebank_tags.py", *map(str, arguments)])
    runpy.run_path(str(SCRIPT), run_name="__main__")


def sentence(number: int) -> str:
    rows = [("天气", "NN"), ("好", "VV"), (str(number), "CD")]
    lines = (
        f"{i}\t{form}\t_\tX\t{tag}\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_"
        for i, (form, tag) in enumerate(rows, 1)
    )
    return "\n".join([f"# text = 天气好{number}", *lines, "", ""])


@pytest.fixture
def cut(tmp_path, monkeypatch):
    for name, count in (("dev", 20), ("test", 2)):
        text = "".join(map(sentence, range(count)))
        (tmp_path / f"zh_x-ud-{name}.conllu").write_text(text, encoding="utf-8")
    run(monkeypatch, "cut", tmp_path, tmp_path / "out")
    return tmp_path / "out"


def test_a_tenth_is_held_out_and_characters_are_the_vocabulary(cut):
    lines = {name: (cut / f"{name}.txt").read_text("utf-8") for name in ("train", "dev", "test")}
    assert [text.count("\n") for text in lines.values()] == [18, 2, 2]
    assert (cut / "dev.conllu").read_text("utf-8") == sentence(18) + sentence(19)
    assert (cut / "test.tsv").read_text("utf-8").startswith("天气\tNN\n好\tVV\n0\tCD\n\n")
    pieces = (cut / "bert" / "vocab.txt").read_text("utf-8").split()
    assert {"天", "##气"} <= {*pieces}
    assert len(pieces) == len({*pieces})


def test_words_cut_otherwise_count_by_their_characters(cut, tmp_path, monkeypatch, capsys):
    found = tmp_path / "found.conll"
    found.write_text("天气 NN\n好0 VV\n\n天 NN\n气 NN\n好 JJ\n1 CD\n\n", encoding="utf-8")
    run(monkeypatch, "score", cut / "test.tsv", found)
    # of 6 words and 6 found, 天气, 好 and 1 are words; the tag of 好 is another
    assert capsys.readouterr().out == "words F1 50.00\ntags F1 33.33\n"
    found.write_text("天气 NN\n\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="2 sentences, .* 1"):
        run(monkeypatch, "score", cut / "test.tsv", found)
