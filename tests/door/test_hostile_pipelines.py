"""Forged and damaged pipelines, hundreds of each kind: refused in one sentence before spaCy reads.

Generators are seeded. Native code of spaCy is tried with what was found harmless alone.
"""

from __future__ import annotations

import gc
import json
import pkgutil
import random
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy
import spacy.lang
from confection import Config
from spacy.pipeline._edit_tree_internals.edit_trees import EditTrees
from spacy.strings import StringStore
from srsly import msgpack

from fairseq_plugins.door import pipeline_files, pipelines
from fairseq_plugins.door.pipeline_files import (
    MOST_NODES,
    NO_CHILD,
    damaged,
    file_problems,
    tree_problems,
)
from fairseq_plugins.door.pipelines import PIPELINE
from fairseq_plugins.resources import pipeline_path
from fairseq_plugins.text.annotators import load_annotator

COUNT = 300
CONFIG = (pipeline_path("bundled") / "config.cfg").read_text(encoding="utf-8")
RULES = {"@tokenizers": "spacy.Tokenizer.v1"}


def packed(value) -> bytes:
    return msgpack.dumps(value, use_bin_type=True)


def refusal(check) -> str:
    """Return the one sentence by which something is refused; empty if it is taken."""
    try:
        check()
    except ValueError as error:
        message = str(error)
        assert "\n" not in message
        assert len(message) < 700
        assert "allow_pickle" not in message
        return message
    return ""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A pipeline of a configuration alone; nothing that is not bounded is interpolated."""
    monkeypatch.setattr(pipelines, "file_problems", lambda *_: iter(()))
    return tmp_path


def nested(dice: random.Random) -> str:
    """References to references, which make up to 10 ** 9 values of a few lines."""
    levels, width = dice.randint(6, 9), dice.randint(7, 12)
    place = dice.choice(["training.x", "components.x", "nlp.x", "paths"])
    join = dice.choice([", ", "", "."])
    lines = [f"[{place}]"]
    for level in range(levels):
        name = f"${{{place}{dice.choice('.:')}a{level + 1}}}"
        lines.append(f"a{level} = {dice.choice(['', '[', chr(34)])}{join.join([name] * width)}")
    return "\n".join([*lines, f"a{levels} = {'x' * dice.randint(1, 20)}"])


def sections(dice: random.Random) -> str:
    """Sections that hold each other, by references, in lists, or by confection's own sign."""
    levels, width = dice.randint(6, 9), dice.randint(7, 12)
    sign = dice.choice(['"__SECTION__:%s"', '"\\u005f_SECTION__:%s"', "${%s}"])
    last = dice.randint(0, 1)  # whether the last holds the first: endless
    lines = ["[x]"]
    for level in range(levels):
        lines.append(f"[x.a{level}]")
        following = f"x.a{(level + 1) % levels}" if last or level + 1 < levels else ""
        lines += [f"b{i} = {sign % following}" for i in range(width) if following]
    return "\n".join([*lines, "[x.end]", "y = 1"])


def sizes(dice: random.Random) -> str:
    """A size that is no fair one, in the forms that become numbers."""
    name = dice.choice([*pipeline_files.SIZES, "rows", "embed_size", "nO"])
    value = dice.choice([10**6 + 1, 10**8, -(10**7), 2**63, 10**300])
    forms = ["{}", "[1, {}]", '{{"a": {}}}', "{}.0"]
    found = dice.choice(forms).format(value)
    if name in pipeline_files.SIZES and value > 0:
        found = dice.choice([found, f'"{value}"', "1e7", "true", "${components.z.one}000000"])
    return f"[components.z]\nfactory = tagger\none = 1\n[components.z.model]\n{name} = {found}"


def strange(dice: random.Random) -> str:
    """References that are none, too many sections, and signs that become references later."""
    signs = ["$", "$$", "$${a.b}", "${x}", "${width}", '"\\u0024{x}"', "${a.b}$", '["${a}"]']
    many = [f"[s{i}]" for i in range(dice.randint(1001, 1100))]
    place = dice.choice(["training.a", "nlp.a", "components.a", "pretraining"])
    found = [f"[{place}]", f"b = {dice.randint(0, 9)}", f"c{dice.random()} = {dice.choice(signs)}"]
    return "\n".join(many if dice.random() < 0.2 else found)


@pytest.mark.parametrize("kind", [nested, sections, sizes, strange])
def test_forged_configurations_are_refused_before_they_grow(folder, kind, monkeypatch) -> None:
    dice = random.Random(kind.__name__)
    read, followed = Config.from_str, []

    def reading(config, text, *, interpolate):
        followed.append(interpolate)
        return read(config, text, interpolate=interpolate)

    monkeypatch.setattr(Config, "from_str", reading)
    short = CONFIG if kind is sizes else CONFIG[: CONFIG.index("[corpora.train]")]
    for number in range(COUNT):
        (folder / "config.cfg").write_text(f"{short}\n{kind(dice)}\n", encoding="utf-8")
        followed.clear()
        found = refusal(partial(PIPELINE.admit, folder))
        assert found.startswith(f"{folder}: refused: "), number
        assert kind is sizes or True not in followed


def test_damaged_configurations_are_taken_or_refused_in_a_sentence(folder) -> None:
    dice = random.Random(3)
    for _ in range(COUNT // 3):  # each is parsed twice
        text = [*CONFIG]
        for _ in range(dice.randint(1, 4)):
            text[dice.randrange(len(text))] = dice.choice('\n[]={}"$.\u0000\u4e2d\U0001f600e9')
        (folder / "config.cfg").write_text("".join(text[: dice.randint(0, 9000)]), "utf-8")
        refusal(partial(PIPELINE.admit, folder))


def test_references_that_pipelines_have_are_followed(folder) -> None:
    more = "[components.tok2vec.model.more]\nwidth = ${components.tok2vec.model.encode.width}\n"
    (folder / "config.cfg").write_text(f"{CONFIG}\n{more}", encoding="utf-8")
    PIPELINE.admit(folder)


@pytest.mark.parametrize("name", ["../x", "/etc", "a/b"])
def test_components_have_plain_names(folder, name) -> None:
    (folder / "config.cfg").write_text(f"{CONFIG}\n[components.{name}]\nfactory = tagger\n")
    if "." in name:
        assert refusal(partial(PIPELINE.admit, folder))
    else:
        assert "has no plain name" in refusal(partial(PIPELINE.admit, folder))


# Edit trees


def forest(dice: random.Random) -> list[dict]:
    """Nodes of which some may lead to themselves, ahead, nowhere, or to one child twice."""
    count, wild = dice.choice([3, 10, 40]), dice.choice([0.0, 0.0, 0.1])
    nodes = []
    for number in range(count):
        if number == 0 or dice.random() < 0.3:
            nodes.append({"orig": 1, "subst": 1})
            continue
        children = []
        for _ in range(2):
            child = dice.choice([dice.randrange(number), number - 1, NO_CHILD])
            if dice.random() < wild:
                child = dice.choice([number, number + 1, count, -1, NO_CHILD - 1, 2**40, "0", 0.0])
            children.append(child)
        ends = {"prefix_len": dice.choice([0, 1, 65535]), "suffix_len": dice.choice([0, 1])}
        nodes.append({**ends, "prefix_tree": children[0], "suffix_tree": children[1]})
    return nodes


def unfolded(nodes: list[dict], number: object, path: tuple = ()) -> int:
    """Count nodes as somebody does who walks; many where a walk does not end."""
    if type(number) is not int or not 0 <= number < len(nodes) or number in path:
        return 2 * MOST_NODES
    if len(path) > 100:
        return 2 * MOST_NODES
    found, node = 1, nodes[number]
    for name in ("prefix_tree", "suffix_tree"):
        if found <= MOST_NODES and node.get(name, NO_CHILD) != NO_CHILD:
            found += unfolded(nodes, node[name], (*path, number))
    return found


def save_trees(folder: Path, nodes, labels) -> None:
    part = folder / "lemmas"
    part.mkdir(exist_ok=True)
    (part / "trees").write_bytes(packed({"trees": nodes}))
    (part / "cfg").write_text(json.dumps({"labels": labels}))


def test_edit_trees_lead_to_an_end(tmp_path) -> None:
    dice, taken = random.Random(5), 0
    for _ in range(COUNT):
        nodes = forest(dice)
        labels = [dice.randrange(len(nodes))] + [len(nodes)] * dice.choice([0, 0, 0, 1])
        save_trees(tmp_path, nodes, labels)
        found = [*tree_problems(tmp_path)]
        walks = [unfolded(nodes, number) for number in range(len(nodes))]
        if max(walks) > MOST_NODES or len(labels) > 1:
            assert found, nodes
        if found:
            assert found[0].startswith("lemmas/trees: ")
            continue
        taken += 1
        trees = EditTrees(StringStore(["", "a"])).from_bytes(packed({"trees": nodes}))
        for form in ("", "ab", "\u4e2d\u6587", "\U0001f600" * 3):
            trees.apply(labels[0], form)
    assert COUNT // 4 < taken < COUNT


def test_trees_of_words_are_taken(tmp_path) -> None:
    dice = random.Random(6)
    trees = EditTrees(StringStore())
    for _ in range(COUNT):
        form, lemma = ("".join(dice.choices("abcd\u0645\u4e2d", k=12)) for _ in range(2))
        trees.add(form, lemma)
    save_trees(tmp_path, msgpack.loads(trees.to_bytes(), raw=False)["trees"], [len(trees) - 1])
    assert not [*tree_problems(tmp_path)]


def test_a_long_chain_is_refused_whoever_names_the_pipeline(tmp_path) -> None:
    whole = shutil.copytree(pipeline_path("bundled-layers"), tmp_path / "p")
    link = {"prefix_len": 0, "suffix_len": 0, "suffix_tree": NO_CHILD}
    nodes = [{"orig": 1, "subst": 1}, *({**link, "prefix_tree": i} for i in range(MOST_NODES))]
    (whole / "trainable_lemmatizer" / "trees").write_bytes(packed({"trees": nodes}))
    for check in (partial(PIPELINE.admit, whole), lambda: load_annotator(["lemma"], str(whole))):
        assert f"stands above more than {MOST_NODES:,} nodes" in refusal(check)


# Patterns


def slow_pattern(dice: random.Random) -> str:
    """Something that a word of a few hundred letters can keep busy for long."""
    one = dice.choice(["a", "[ab]", r"\w", ".", "\u4e2d"])
    more = dice.choice(["+", "*", "{1,}", "{2,400}", "*?"])
    found = dice.choice(
        [f"({one}{more}){more}", f"(?:{one}|{one}{one}){more}", f"({one}?){more}"]
        + [f"({one}{more}|b){{1,9}}", f"{one}{more}" * dice.randint(2, 5)]
        + [f"(?:{one}|{one}{one})" * dice.randint(14, 40), f"(?={one}{more}{one}{more})"]
        + [f"((?:{one}{{0,30}}){{0,30}}){{3}}", f"(?>{one}{more}){more}", "(" * 3000 + ")" * 3000]
        + ["a" * 100_001, f"{one}{{99999999999999999999}}"]
    )
    return dice.choice(["^", "", "x|", "(?:y)"]) + found + dice.choice(["$", "b", "|z$"])


def fair_pattern(dice: random.Random) -> str:
    """A few plain signs, one of which may be repeated."""
    things = [r"\.", r"\$", r"[\u4e00-\u9fff]", "'s", "\U0001f600", "[ab]", r"\d", "^", "\u0645"]
    found = dice.choices(things, k=dice.randint(1, 8))
    found.insert(dice.randint(1, len(found)), dice.choice(["+", "*", "?", ""]))
    return "".join(found)


def ruler(folder: Path, patterns) -> list[str]:
    (folder / "ruler").mkdir(exist_ok=True)
    rows = [{"patterns": patterns, "attrs": {"POS": "X"}, "index": 0}]
    (folder / "ruler" / "patterns").write_bytes(packed(rows))
    return [*file_problems(folder, "en")]


def test_patterns_that_could_be_slow_are_refused_wherever_they_stand(tmp_path) -> None:
    dice = random.Random(7)
    own = pipeline_files.own_tables("en")
    for number in range(COUNT):
        slow, fair = slow_pattern(dice), fair_pattern(dice)
        place = dice.choice(pipeline_files.PATTERNS)
        token = dice.choice([lambda p: {"REGEX": p}, lambda p: {"REGEX": {"IN": ["x", p]}}])
        for pattern, is_slow in ((slow, True), (fair, False)):
            (tmp_path / "tokenizer").write_bytes(packed({**own, "exceptions": {}, place: pattern}))
            (found,) = ruler(tmp_path, [])
            assert f"its {place} is" in found
            assert len(found) < 300
            found = ruler(tmp_path, [[{"TEXT": token(pattern)}]])
            assert len(found) == 1 + is_slow, (number, pattern, found)


def test_a_ruler_repeats_one_word_at_most(tmp_path) -> None:
    assert not ruler(tmp_path, [[{"OP": "*"}, {"TEXT": "a"}], [{"LOWER": "b"}]])
    for sign in ("{0,9999}", "{5}", "", None):
        assert "repeats words" in ruler(tmp_path, [[{"OP": sign}]])[0]
    assert "repeats words" in ruler(tmp_path, [[{"OP": "*"}, {"OP": "*"}]])[0]


@pytest.mark.parametrize(
    "rules",
    [
        {f"w{i}": [{65: f"w{i}"}] for i in range(200_000)},
        {"x" * 3_000_000: [{65: "x"}]},
        {"x": [{65: "x"}] * 400_000},
    ],
)
def test_exceptions_of_a_tokeniser_are_few(tmp_path, rules) -> None:
    own = pipeline_files.own_tables("en")
    (tmp_path / "tokenizer").write_bytes(packed({**own, "exceptions": rules}))
    (problem,) = file_problems(tmp_path, "en")
    assert "exceptions are not the language's own" in problem
    (tmp_path / "tokenizer").write_bytes(packed({**own, "vocab": b"x"}))
    assert "no part of a tokeniser" in next(file_problems(tmp_path, "en"))


def languages() -> list[str]:
    """All languages of spaCy but those with words of Java's or a library's, and the slowest."""
    found = {one.name for one in pkgutil.iter_modules(spacy.lang.__path__) if one.ispkg}
    return sorted(found - {"ja", "ko", "th", "vi", "zh", "fr", "id", "ms"})


def test_a_language_keeps_its_own_tokeniser(tmp_path) -> None:
    dice = random.Random(9)
    for language in (*dice.sample(languages(), 15), "hu", "tr", "el", "pt", "xx"):
        nlp = spacy.blank(language)
        nlp.tokenizer.add_special_case("abc", [{"ORTH": "a"}, {"ORTH": "bc"}])
        nlp.to_disk(tmp_path / language)
        PIPELINE.admit(tmp_path / language)


def test_sizes_in_a_model_are_fair(tmp_path) -> None:
    (tmp_path / "tagger").mkdir()
    for value, is_fair in ((1, True), (10**6, False), (-1, False), ("1", False), (1.5, False)):
        attributes = [{"window_size": packed(value)}]
        (tmp_path / "tagger" / "model").write_bytes(packed({"attrs": attributes}))
        assert bool([*file_problems(tmp_path, "en")]) != is_fair


# Damage


def whole_files(folder: Path) -> list[Path]:
    """Write a file of each format that a pipeline has."""
    (folder / "tagger").mkdir()
    texts = {"tagger/cfg": {"labels": ["A", "\u4e2d"]}, "meta.json": {"lang": "en"}}
    texts |= {"strings.json": ["a", "\U0001f600"], "vectors.cfg": {"mode": "default"}}
    for name, value in texts.items():
        (folder / name).write_text(json.dumps(value))
    for name in ("model", "trees", "patterns", "moves"):
        (folder / "tagger" / name).write_bytes(packed({"attrs": [{"a": b"1"}], "x": [1, "\u0645"]}))
    for name in ("key2row", "lookups.bin", "tokenizer"):
        (folder / name).write_bytes(packed({"a": 1, "b": ["x"] * 9}))
    for name in ("vectors", "keys"):
        with (folder / name).open("wb") as file:
            np.save(file, np.ones((4, 3)))
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_damaged_file_is_named(tmp_path) -> None:
    dice, files = random.Random(11), whole_files(tmp_path)
    assert damaged(tmp_path) is None
    for _ in range(COUNT):
        path = dice.choice(files)
        whole = path.read_bytes()
        path.write_bytes(whole[: dice.randrange(len(whole))])
        assert damaged(tmp_path) == path
        path.write_bytes(whole)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def pickled(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.array([{}], dtype=object), allow_pickle=True)


@pytest.mark.parametrize(
    ("name", "damage"),
    [("vocab/vectors", pickled), ("meta.json", cut), ("parser/moves", cut), ("tokenizer", cut)],
)
def test_a_damaged_pipeline_is_refused_in_one_sentence(tmp_path, name, damage) -> None:
    whole = shutil.copytree(pipeline_path("bundled"), tmp_path / "p")
    damage(whole / name)
    found = refusal(lambda: load_annotator(["heads"], str(whole)))
    assert f"cannot be loaded: {whole / name} is damaged" in found
    assert gc.isenabled()
