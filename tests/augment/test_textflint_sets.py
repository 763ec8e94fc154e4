"""Perturbed sets in the two files of TextFlint: names, originals, labels, faults."""

from __future__ import annotations

import pytest
from perturbed_corpora import INFERENCE, edit, model, pairs, refusal, samples, swapped, textflint

from fairseq_plugins.augment.perturbed_sets import read_sets


def test_textflint_samples_find_their_originals(tmp_path):
    before = pairs(2)
    after = samples([swapped(before)[1], swapped(before)[0], swapped(before)[1]])
    path = textflint(tmp_path, samples(before), after)
    for given_ in (path, tmp_path, tmp_path / "ori_SwapWord_3.json"):
        (one,) = read_sets([given_], model())
        assert (one.name, one.source) == ("SwapAnt", path)
        assert [e.id for e in one.originals] == ["1", "0", "1"] == [e.id for e in one.perturbed]
        assert one.originals[0].texts == before[1].texts
    assert len(read_sets([path, path.with_name("ori_SwapWord_3.json")], model())) == 1


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("TwitterType_random", "TwitterType"),
        ("TwitterType_url", "TwitterType"),
        ("SwapNum", "NumWord"),
        ("SwapSynWordNet", "SwapSyn"),
        ("Punctuation", "AddPunc"),
        ("Typos", "Typos"),
    ],
)
def test_textflints_names_are_those_of_the_paper(theirs, ours, tmp_path):
    path = textflint(tmp_path, samples(pairs(2)), samples(pairs(2)), f"{theirs}_120")
    assert read_sets([path], model())[0].name == ours


def test_textflint_without_ids_goes_by_lines(tmp_path):
    before = [{k: v for k, v in s.items() if k != "sample_id"} for s in samples(pairs(2))]
    path = textflint(tmp_path, before, before)
    (one,) = read_sets([path], model())
    assert [e.texts for e in one.originals] == [e.texts for e in pairs(2)]
    textflint(tmp_path, before[:1], before)
    assert "has 2 examples" in refusal([path])


def test_textflint_inference_is_named_as_the_model_names_it(tmp_path):
    fields = ("premise", "hypothesis")
    before = samples(pairs(2, ("neutral", "entailment")), fields)
    after = samples(pairs(2, ("non-entailment", "contradiction")), fields)
    path = textflint(tmp_path, before, after, "SwapAnt_2")
    (one,) = read_sets([path], model(["entailment", "not_entailment"], dataset="rte"))
    assert [e.label for e in one.originals] == ["entailment", "not_entailment"]
    assert {e.label for e in one.perturbed} == {"not_entailment"}
    three = refusal([path], model(INFERENCE, dataset="snli"))
    assert "trans_SwapAnt_2.json:2: gold label 'non-entailment' is none of the model's" in three


def test_textflint_faults_are_named(tmp_path):
    good = samples(pairs(2))
    path = textflint(tmp_path, good, good)
    cases = [
        ('"y": "1"', '"y": "2"', "trans_SwapWord_3.json:1: gold label '2'"),
        ('"y": "1"', '"y": null', "trans_SwapWord_3.json:1: no gold label"),
        ('"sample_id": 1', '"sample_id": 8', "trans_SwapWord_3.json:2: sample_id 8 is in no line"),
        ('"sentence2": "Bob sees the bad', '"third": "Bob', "expected y and one of: sentence1"),
        ('"y": "1", "sample_id": 0}', '"y": "1"', "trans_SwapWord_3.json:1: no JSON"),
    ]
    for old, new, told in cases:
        text = path.read_text()
        edit(path, old, new)
        assert told in refusal([path])
        path.write_text(text)
    path.write_text(path.read_text().splitlines()[0])
    assert "ori_SwapWord_3.json:2: sample_id 1 is in no line" in refusal([path])
    edit(tmp_path / "ori_SwapWord_3.json", '"sample_id": 1', '"sample_id": 0')
    assert "ori_SwapWord_3.json:2: sample_id 0 is that of line 1, too" in refusal([path])
    (tmp_path / "ori_SwapWord_3.json").unlink()
    assert "no such file of original samples" in refusal([path], error=FileNotFoundError)
