"""The spaCy annotator: any line, given words, pipelines that are missing or cannot tag."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raw_corpora import NASTY
from spacy.language import Language

from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.labels import UPOS
from fairseq_plugins.text import annotate
from fairseq_plugins.text.annotate import (
    Annotator,
    check_recorded,
    directory_hash,
    recorded_name,
    site_folders,
)
from fairseq_plugins.text.annotators import reopen_annotator
from fairseq_plugins.text.raw_text import LONGEST_WORD, overlong_words, parts_of

LINES = st.lists(
    st.one_of(st.sampled_from(NASTY), st.text(max_size=4), st.just(" ")), max_size=8
).map(lambda parts: " ".join("".join(parts).encode("utf-8", "ignore").decode().split()))
CALM = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def annotator() -> Annotator:
    """The bundled pipeline."""
    return Annotator()


def save_pipeline(folder, *components: str):
    """Save an English pipeline with untrained components; the ruler calls every token a noun."""
    nlp = spacy.blank("en")
    for name in components:
        pipe = nlp.add_pipe(name)
        if name == "attribute_ruler":
            pipe.add(patterns=[[{}]], attrs={"POS": "NOUN"})
    nlp.to_disk(folder)
    return folder


@given(lines=st.lists(LINES, max_size=5))
@CALM
def test_words_of_raw_lines_lie_where_their_spans_say(lines, annotator) -> None:
    notes = annotator.annotate_text(lines)
    assert len(notes) == len(lines)
    for line, note in zip(lines, notes):
        assert [line[a:b] for a, b in note.spans] == note.words
        assert "".join(note.words) == "".join(line.split())
        assert len(note.layers["pos"]) == len(note.words)
        assert set(note.layers["pos"]) <= set(UPOS)


def test_words_without_end_are_found_in_linear_time(annotator, monkeypatch) -> None:
    pieces: list[int] = []
    make_doc = annotator.nlp.make_doc
    monkeypatch.setattr(annotator.nlp, "make_doc", lambda t: pieces.append(len(t)) or make_doc(t))
    line = "Well " + "!?" * 2600 + " (so) " + "x" * 500
    (note,) = annotator.annotate_text([line])
    assert max(pieces) <= 2 * LONGEST_WORD  # of spaCy's own time, a square of that
    assert [line[a:b] for a, b in note.spans] == note.words
    assert "".join(note.words) == "".join(line.split())
    assert note.words[-4:] == ["(", "so", ")", "x" * 500]


@given(text=st.text(alphabet="ab \t\u2003\u00e9", max_size=60))
@CALM
def test_parts_make_up_the_text_and_hold_no_long_word(text, monkeypatch) -> None:
    monkeypatch.setattr("fairseq_plugins.text.raw_text.LONGEST_WORD", 5)
    parts = parts_of(text)
    assert "".join(parts) == text
    assert all(len(word) <= 5 for part in parts for word in part.split())
    assert (len(parts) == 1) == (overlong_words(text) == 0)


@given(lines=st.lists(LINES, max_size=5))
@CALM
def test_given_words_are_tagged_one_by_one(lines, annotator) -> None:
    sentences = [line.split() for line in lines]
    notes = annotator.annotate_words(sentences)
    assert [note.words for note in notes] == sentences
    assert [len(note.layers["pos"]) for note in notes] == [len(words) for words in sentences]


def test_unmistakable_words_are_tagged(annotator) -> None:
    note = annotator.annotate_words([["The", "dog", "is", "on", "the", "table", "."]])[0]
    assert (note.layers["pos"][0], note.layers["pos"][-1]) == ("DET", "PUNCT")


def test_annotations_do_not_depend_on_their_company(annotator) -> None:
    lines = [["A", "small", "dog", "barks"], [], ["Nobody", "watched", "it", "."], ["Stop", "!"]]
    together = annotator.annotate_words(lines)
    assert together == [annotator.annotate_words([line])[0] for line in lines]


def test_missing_pipeline_names_the_choices() -> None:
    with pytest.raises(FileNotFoundError, match=r"no spaCy pipeline 'xx_none_sm': give 'bundled'"):
        Annotator("xx_none_sm")


def test_folder_that_is_no_pipeline_is_refused(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="no spaCy pipeline"):
        Annotator(str(tmp_path))


@pytest.mark.parametrize("components", [(), ("tagger",)])
def test_pipeline_without_parts_of_speech_is_refused(components, tmp_path) -> None:
    folder = save_pipeline(tmp_path / "pipeline")
    if components:
        nlp = spacy.blank("en")
        tagger = nlp.add_pipe("tagger")
        tagger.add_label("NN")
        nlp.initialize()
        nlp.to_disk(folder)
    with pytest.raises(InputError, match="gives no pos"):
        Annotator(str(folder))


def test_refusal_of_a_morphological_feature_names_those_there_are() -> None:
    with pytest.raises(InputError, match=r"gives no morph.Nummer .*morph: .*Number"):
        Annotator("bundled-layers", ["morph.Nummer"])


@pytest.mark.parametrize("model", ["udpipe:/elsewhere/en.udpipe", "/elsewhere/en_small"])
def test_path_that_a_folder_names_is_no_spacy_pipeline_for_certain(model) -> None:
    with pytest.raises(InputError, match=f"by the annotator in '{model}'.*--spacy-model {model}"):
        check_recorded(model, Path("data-bin/mine"))


def test_own_component_may_set_parts_of_speech(tmp_path) -> None:
    if not Language.has_factory("all_verbs"):

        @Language.component("all_verbs")
        def all_verbs(doc):
            for token in doc:
                token.pos_ = "VERB"
            return doc

    annotator = Annotator(str(save_pipeline(tmp_path / "pipeline", "all_verbs")))
    assert annotator.annotate_words([["go", "home"]])[0].layers["pos"] == ["VERB", "VERB"]


def test_a_pipeline_gives_what_its_rules_say(tmp_path) -> None:
    nlp = spacy.blank("en")
    rules = nlp.add_pipe("attribute_ruler")
    rules.add([[{"ORTH": "cat"}]], {"POS": "NOUN", "MORPH": "Number=Sing"})
    rules.add([[{"ORTH": "runs"}]], {"POS": "VERB", "MORPH": "Number=Sing|Person=3"})
    nlp.to_disk(tmp_path / "rules")
    (found,) = Annotator(str(tmp_path / "rules"), ["morph.Person"]).annotate_words(
        ["cat runs".split()]
    )
    assert found.layers["morph.Person"] == ["_", "3"]
    with pytest.raises(InputError, match="gives no morph.Case"):
        Annotator(str(tmp_path / "rules"), ["morph.Case"])


def test_identity_follows_the_content_of_a_pipeline(tmp_path) -> None:
    folder = save_pipeline(tmp_path / "pipeline", "attribute_ruler")
    shutil.copytree(folder, tmp_path / "copy")
    before = Annotator(str(folder)).identity()
    assert (before["name"], before["model"]) == ("en_pipeline", str(folder))
    assert Annotator(str(tmp_path / "copy")).identity()["hash"] == before["hash"]
    for name in ("README.md", "scores.json"):
        (folder / name).write_text("what is said of it is no content")
    assert directory_hash(folder) == before["hash"]
    (folder / "tokenizer").write_bytes((folder / "tokenizer").read_bytes() + b"\x00")
    assert directory_hash(folder) != before["hash"]


PLANTED = "en_planted"
CODE = """
from pathlib import Path
from spacy.util import load_model_from_init_py

Path({marker!r}).touch()

def load(**overrides):
    return load_model_from_init_py(__file__, **overrides)
"""


def plant(folder: Path) -> Path:
    """Install a pipeline as a package; return the file that appears when its code runs."""
    data, marker = folder / PLANTED / f"{PLANTED}-1.0.0", folder.with_name(f"{folder.name}.ran")
    data.parent.mkdir(parents=True)
    save_pipeline(data, "attribute_ruler")
    meta = json.loads((data / "meta.json").read_text()) | {"name": "planted", "version": "1.0.0"}
    for place in (data, data.parent):
        (place / "meta.json").write_text(json.dumps(meta))
    (data.parent / "__init__.py").write_text(CODE.format(marker=str(marker)))
    about = folder / f"{PLANTED}-1.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PLANTED}\nVersion: 1.0.0\n")
    (about / "entry_points.txt").write_text(f"[spacy_models]\n{PLANTED} = {PLANTED}\n")
    return marker


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory that Python imports from first, as with ``python -m`` or PYTHONPATH."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop(PLANTED, None)


def reopened(model, folder, named=None):
    """Load the pipeline of a folder whose manifest names ``model``."""
    return reopen_annotator(folder, {"model": model}, ["pos"], named)


def test_a_manifest_brings_no_package_of_the_working_directory(here, tmp_path) -> None:
    marker = plant(here)
    with pytest.raises(FileNotFoundError, match=r"not installed in this env.*--spacy-model en_pl"):
        reopened(PLANTED, tmp_path / "prepared")
    assert not marker.exists()
    sys.modules[PLANTED] = sys  # even one that is imported already
    with pytest.raises(FileNotFoundError, match="not installed in this environment"):
        reopened(PLANTED, tmp_path / "prepared")
    del sys.modules[PLANTED]
    assert Annotator(PLANTED).name == PLANTED  # named by the user: the marker works
    assert marker.exists()
    assert reopened("other", tmp_path, named=PLANTED).name == PLANTED


def test_an_installed_pipeline_is_not_shadowed_by_the_working_directory(
    here, tmp_path, monkeypatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    shadow, installed = plant(here), plant(site)
    monkeypatch.setattr(annotate, "site_folders", lambda: [str(site)])
    assert reopened(PLANTED, tmp_path / "prepared").name == PLANTED
    assert (installed.exists(), shadow.exists()) == (True, False)
    del sys.modules[PLANTED]
    importlib.import_module(PLANTED)  # the control: this is what Python itself takes
    assert shadow.exists()
    with pytest.raises(FileNotFoundError, match="not installed in this environment"):
        reopened(PLANTED, tmp_path / "prepared")  # another one is imported now


@pytest.mark.parametrize("name", ["pip", "numpy", "os", "en_none_at_all"])
def test_what_is_no_installed_pipeline_is_not_imported(name, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{name!r}, which is not installed in this env"):
        reopened(name, tmp_path)


def test_a_path_of_a_manifest_is_loaded_when_the_user_names_it(here, tmp_path) -> None:
    folder = save_pipeline(tmp_path / "pipeline", "attribute_ruler")
    for model in (str(folder), "../pipeline", "a.b", ".."):
        with pytest.raises(InputError, match=r"does not decide which path is loaded: give --spacy"):
            reopened(model, tmp_path / "prepared")
    found = reopened(str(folder), tmp_path / "prepared", named=str(folder))
    assert found.identity()["model"] == str(folder)


def test_names_are_recorded_as_they_are_loaded(here) -> None:
    (here / "bundled").mkdir()
    save_pipeline(here / "mine", "attribute_ruler")
    assert recorded_name("bundled") == "bundled"  # whatever is called so here
    assert recorded_name("mine") == str(here / "mine")
    assert recorded_name("none") == "none"


def test_packages_are_installed_outside_the_working_directory(monkeypatch) -> None:
    places = site_folders()
    assert str(Path(spacy.__file__).parents[1]) in places
    monkeypatch.chdir(places[0])
    assert places[0] not in site_folders()
