"""Given beginnings of translations: fairseq and bundles go on from them, in any batch."""

from __future__ import annotations

from argparse import Namespace

import pytest
from inference import translation_runs as runs
from prepared import make_model, make_task
from raw_corpora import make_options, write_pairs

from fairseq_plugins.bundles.translation import Translator
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.bundle_translation import translate_text
from fairseq_plugins.inference.translation_export import export_translation
from fairseq_plugins.models import SyntaxTransformerModel
from fairseq_plugins.models.checkpoints import read_checkpoint
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.service.kinds import TRANSLATION
from fairseq_plugins.service.requests import Refused
from fairseq_plugins.text.beginnings import beginnings_of, read_beginnings

WHO = {"the man": "der Mann", "the dog": "der Hund", "my cat": "meine Katze"}
VERBS = {"reads": "liest", "likes": "mag", "sees": "sieht"}
PAIRS = [
    (f"{a} {b} it, too.", f"{x} {y} es auch.") for a, x in WHO.items() for b, y in VERBS.items()
]
LINES = ["the man reads it, too.", "my cat sees it, too.", "", "the dog likes it, too."]
BEGUN = ["meine Katze mag", "", "der Hund", "der Mann"]
HOW = {"beam": 3, "lenpen": 0.6}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    write_pairs(place / "train", PAIRS * 3)
    prepare(make_options(place / "data", trainpref=place / "train", features="case"))
    runs.save_trained(place / "data", place / "model.pt", steps=40, features="case")
    export_translation(place / "model.pt", place / "bundle", data=place / "data")
    hub = SyntaxTransformerModel.from_pretrained(str(place), "model.pt", str(place / "data"))
    return place, hub, Translator.open(place / "bundle", threads=1)


def test_translations_go_on_from_their_beginnings(run) -> None:
    _, hub, bundle = run
    free = hub.translate(LINES, **HOW)
    found = hub.translate(LINES, prefix=BEGUN, **HOW)
    assert found == bundle.translate(LINES, prefix=BEGUN, **HOW)
    assert all(one.startswith(begun) for one, begun in zip(found, BEGUN) if one)
    assert (found[0] != free[0], found[1], found[2]) == (True, free[1], "")
    assert hub.translate(LINES[0], prefix="der Hund", **HOW).startswith("der Hund ")
    assert hub.translate(LINES, prefix="", **HOW) == bundle.translate(LINES, **HOW) == free


def test_scores_are_those_of_the_whole_translation(run) -> None:
    _, hub, bundle = run
    tokens, _ = hub.task.read_lines(LINES, BEGUN)
    theirs = [nbest[0]["score"].item() for nbest in hub.generate(tokens, **HOW)]
    ours = [nbest[0].score for nbest in bundle.hypotheses(LINES, prefix=BEGUN, **HOW)]
    assert ours == pytest.approx(theirs, abs=1e-4)


def test_batches_make_no_difference(run) -> None:
    _, hub, bundle = run
    for translate in (hub.translate, bundle.translate):
        alone = [translate([x], prefix=[y], **HOW)[0] for x, y in zip(LINES, BEGUN)]
        assert alone == translate(LINES, prefix=BEGUN, **HOW)


def test_beginnings_are_a_text_or_the_lines_of_a_file(run, tmp_path, caplog) -> None:
    _, _, bundle = run
    path, source, output = (tmp_path / name for name in ("begun", "source", "output"))
    path.write_text("\n".join(BEGUN) + "\n")
    source.write_text("\n".join(LINES) + "\n")
    assert read_beginnings(str(path)) == BEGUN
    for text in ("der Hund", "Nr.5", "z.B.", "3.14", "U.S", "und/oder ", "Aus a/b.txt", "", "Hund"):
        assert read_beginnings(text) == text
    assert "one beginning for all lines: 'der Hund'" in caplog.text
    for name in ("begun.txt", "begun.de", "begun.zh-tw.pt", "./begun", str(tmp_path)):
        with pytest.raises(FileNotFoundError, match="--prefix .*: no such file"):
            read_beginnings(name)
    assert beginnings_of(BEGUN, 3, 2) == BEGUN[2:]
    translate_text(bundle.translate, str(source), str(output), read_beginnings(str(path)))
    assert output.read_text().split("\n")[:-1] == bundle.translate(LINES, prefix=BEGUN)
    with pytest.raises(InputError, match="prefix: 4 lines, but line 5 of the text needs one"):
        beginnings_of(BEGUN, 4, 2)


@pytest.mark.parametrize(
    ("prefix", "reason"),
    [("der Hund \u4e2d", "prefix of line 1: the model has no subword"), ("der " * 300, "300 subw")],
)
def test_a_beginning_that_no_model_writes_is_refused(run, prefix, reason) -> None:
    _, hub, bundle = run
    for translate in (hub.translate, bundle.translate):
        with pytest.raises(InputError, match=reason):
            translate(LINES[:1], prefix=prefix)


def test_a_service_takes_one_beginning_or_one_for_each_text(run) -> None:
    _, _, bundle = run
    texts = [line for line in LINES if line]
    for prefix in ("der Hund", ["der Hund", "", "meine Katze"]):
        body = TRANSLATION.body.model_validate({"texts": texts, "prefix": prefix})
        records = TRANSLATION.answer(bundle, TRANSLATION.items(bundle, body))
        expected = bundle.translate(texts, prefix=prefix)
        assert [one["translation"] for one in records] == expected
    body = TRANSLATION.body.model_validate({"texts": texts, "prefix": ["der"]})
    with pytest.raises(Refused, match="prefix has 1 texts, texts 3"):
        TRANSLATION.items(bundle, body)


def test_no_checkpoint_names_a_file_of_beginnings(run, tmp_path) -> None:
    import torch

    place, _, _ = run
    state = torch.load(place / "model.pt", weights_only=True)
    state["cfg"]["task"]["prefix"] = "/etc/hostname"
    torch.save(state, tmp_path / "model.pt")
    assert "prefix" not in read_checkpoint(tmp_path / "model.pt").task


def test_beginnings_keep_their_case_and_protected_spans(tmp_path) -> None:
    url = "https://A.de/Bb?c=%20"
    write_pairs(tmp_path / "train", [*PAIRS, (f"see {url}", f"sieh {url}")])
    how = {"trainpref": tmp_path / "train", "features": "", "target_layers": "truecase"}
    prepare(make_options(tmp_path / "data", protect="urls", **how))
    task = make_task(tmp_path / "data", stub=False)
    model = make_model(task, features="none", target_features="truecase").eval()
    tokens, lengths = task.read_lines([f"the man {url}"], [f"DER Hund {url} Sieht"])
    generator = task.build_generator([model], Namespace(beam=2, max_len_b=20))
    batch = task.build_dataset_for_inference(tokens, lengths)
    sample = batch.collater([batch[0]])
    best = task.inference_step(generator, [model], sample)[0][0]["tokens"]
    text = task.target_decoder.remove_subwords(task.tgt_dict.string(best))
    assert task.target_decoder.detokenize(text).startswith(f"DER Hund {url} Sieht")
    plain = task.tgt_dict.plain(best)
    assert max(plain.tolist()) < len(task.tgt_dict)
