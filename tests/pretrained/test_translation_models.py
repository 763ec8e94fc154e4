"""Multilingual models of Hugging Face's and of fairseq's: prepared, started and translated."""

from __future__ import annotations

import json
import shutil
from argparse import Namespace

import pytest
import torch
from prepared import batches, make_model, make_task
from pretrained.translation_twins import CODES, sentences, write_directory

from fairseq_plugins.errors import InputError
from fairseq_plugins.models._trained import Start
from fairseq_plugins.prep.recipes.like import options_of
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.pretrained.translation_models import language_token, read_model

TOKENS = {"m2m": ("__en__", "__de__"), "nllb": ("eng_Latn", "deu_Latn")}
TOKENS |= {"nllb_legacy": TOKENS["nllb"]} | dict.fromkeys(("mbart50", "mbart"), ("en_XX", "de_DE"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return what makes a model of a kind, its directory and a folder prepared like it, once."""
    kept = {}

    def make(kind):
        if kind not in kept:
            place = tmp_path_factory.mktemp(kind)
            model = write_directory(kind, place / "model")
            corpus(place)
            prepare(options_of(options(place) | {"like_model": str(place / "model")}))
            kept[kind] = model, place / "model", place / "data"
        return kept[kind]

    return make


def corpus(place):
    for k, language in enumerate(("en", "de")):
        text = "".join(f"{line}\n" for line in sentences(12, seed=k))
        (place / f"train.{language}").write_text(text)


def options(place):
    told = {"trainpref": str(place / "train"), "destdir": str(place / "data"), "workers": 1}
    return {"source_lang": "en", "target_lang": "de", "features": "pos,case,subword", **told}


@pytest.mark.parametrize("kind", CODES)
def test_a_model_starts_with_the_logits_and_translations_of_transformers(made, kind):
    theirs, model, folder = made(kind)
    task = make_task(folder, stub=False)
    task.load_dataset("train")
    batch = batches(task, "train", max_sentences=12)[0]
    ours = make_model(task, "syntax_transformer", pretrained=str(model), feature_merge="add")
    source, target = (batch["net_input"][key] for key in ("src_tokens", "prev_output_tokens"))
    with torch.no_grad():
        found = ours(**batch["net_input"])[0]
        wanted = theirs(**right_padded(source), decoder_input_ids=target).logits
    real = target.ne(1)
    assert torch.allclose(found[real], wanted[real], atol=1e-5)
    first, last = (row[row.ne(1)].tolist() for row in (source[0], batch["target"][0]))
    here, there = (task.src_dict.index(token) for token in TOKENS[kind])
    behind = kind in ("mbart", "nllb_legacy")
    assert first.index(here) == (len(first) - 1 if behind else 0)
    assert last.index(there) == (len(last) - 1 if kind == "mbart" else 0)
    assert batch["net_input"]["src_factors"][0][first.index(here) - len(first)].unique() == 1

    lines = (folder.parent / "train.en").read_text().split("\n")[:5] + [""]
    tokens, lengths = task.get_interactive_tokens_and_lengths(lines, None)
    again = [row[row.ne(1)].tolist() for row in source.index_select(0, batch["id"].argsort())]
    assert [row.tolist() for row in tokens] == [*again[:5], [2]]
    data = task.build_dataset_for_inference(tokens, lengths)
    sample = data.collater([data[i] for i in range(6)])
    generator = task.build_generator([ours], Namespace(beam=1, max_len_b=9))
    begun = {"decoder_start_token_id": there if kind == "mbart" else 2}
    begun |= {} if kind == "mbart" else {"forced_bos_token_id": there}
    wanted = theirs.generate(
        **right_padded(sample["net_input"]["src_tokens"]), num_beams=1, max_new_tokens=8, **begun
    )
    *found, empty = task.inference_step(generator, [ours], sample)
    assert empty[0]["tokens"].tolist() == [2]
    for row, best in zip(wanted.tolist(), found):
        kept = best[0]["tokens"].tolist()[:7]
        assert kept == [one for one in row[1:8] if one != 1]
        text = task.tgt_dict.string(torch.tensor(kept), "sentencepiece")
        assert TOKENS[kind][1] not in text


def test_a_folder_like_such_a_folder_has_its_form(made, tmp_path):
    _, _, folder = made("mbart")
    held = {"like": str(folder), "trainpref": None, "testpref": str(folder.parent / "train")}
    prepare(options_of(options(tmp_path) | held))
    kept = [json.loads((one / "manifest.json").read_text()) for one in (folder, tmp_path / "data")]
    assert kept[0]["segmentation"] == kept[1]["segmentation"]
    assert kept[0]["segmentation"]["source"]["form"] == "$ </s> en_XX"
    names = [f"{split}.en-de.en.bin" for split in ("train", "test")]
    assert (folder / names[0]).read_bytes() == (tmp_path / "data" / names[1]).read_bytes()


def test_another_form_than_the_models_is_said(made, tmp_path, caplog):
    _, model, folder = made("nllb")
    data = tmp_path / "data"
    shutil.copytree(folder, data)
    manifest = json.loads((data / "manifest.json").read_text())
    manifest["segmentation"]["target"]["form"] = ""
    (data / "manifest.json").write_text(json.dumps(manifest))
    task = make_task(data, stub=False)
    make_model(task, "syntax_transformer", pretrained=str(model), features="none")
    assert f"those of {data} have ['eng_Latn $ </s>', '']" in caplog.text


def right_padded(source):
    """Return left-padded rows as transformers expects them."""
    rows = [row[row.ne(1)] for row in source]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=1)
    return {"input_ids": ids, "attention_mask": ids.ne(1).long()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source_lang": "zh"}, "language 'zh' is that of 2 tokens .*: zho_Hans, zho_Hant; name"),
        ({"source_lang": "fr"}, "language 'fr' is that of 0 tokens .*: deu_Latn, eng_Latn"),
        ({"subwords": "none"}, "--subwords none contradicts --like-model .* 'sentencepiece'"),
        ({"like": "x"}, "--like and --like-model: give one"),
        ({"source_form": "en $"}, "--source-form en .* contradicts --like-model"),
        ({"target_layers": "truecase"}, "--target-layers and --target-form: give one"),
    ],
    ids=str,
)
def test_options_that_contradict_a_model_are_refused(made, tmp_path, change, said):
    place = str(made("nllb")[1])
    with pytest.raises(InputError, match=said):
        options_of(options(tmp_path) | {"like_model": place} | change)


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("config.json", {"model_type": "t5"}, "model_type is 't5'; choices: m2m_100, mbart"),
        ("config.json", {"vocab_size": 9}, "subwords, config.json says 9"),
        ("config.json", {"vocab_size": 10**12}, "subwords, config.json says"),
        ("config.json", {"tie_word_embeddings": False}, "only shared tables"),
        ("config.json", {"d_model": "x"}, "option 'encoder_embed_dim' is 'x', expected"),
        ("tokenizer.json", {"added_tokens": [{"content": 3}]}, "no ids of subwords"),
        ("tokenizer.json", {"added_tokens": [{"content": "a", "id": 999}]}, "are not 0, 1, 2"),
    ],
    ids=str,
)
def test_a_broken_directory_is_refused(tmp_path, file, change, said):
    write_directory("nllb", tmp_path)
    path = tmp_path / file
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=said):
        Start.of(tmp_path)


def test_a_language_is_found_by_its_token():
    known = ["de", "en", "__de__", "[de_DE]", "en_XX", "__en__"]
    assert language_token(known, "de_DE") == "[de_DE]"
    assert language_token(known, "en") == "__en__"
    assert language_token(["de", "de_DE"], "de") == "de_DE"


BART, MULTI = "translation_from_pretrained_bart", "translation_multi_simple_epoch"
FAIRSEQ = [  # task, its options, the forms, and symbols that the task adds
    (BART, {"langs": "de_DE,en_XX"}, ["$ </s> [en_XX]", "$ </s> [de_DE]"],
     ["[de_DE]", "[en_XX]", "<mask>"]),
    (MULTI, {"langs": ["de", "en"], "encoder_langtok": "src", "decoder_langtok": True,
             "lang_tok_style": "multilingual"},
     ["__en__ $ </s>", "__de__ $ </s>"], ["__de__", "__en__"]),
    (MULTI, {"langs": ["de_DE", "en_XX"], "encoder_langtok": "tgt", "lang_tok_style": "mbart"},
     ["[de_DE] $ </s>", ""], ["[de_DE]", "[en_XX]", "<mask>"]),
    ("translation", {}, ["", ""], []),
]  # fmt: skip


@pytest.mark.parametrize(("task", "told", "forms", "added"), FAIRSEQ, ids=str)
def test_a_checkpoint_of_fairseq_tells_its_forms(tmp_path, task, told, forms, added):
    (tmp_path / "dict.txt").write_text("a 1\nb 1\n")
    args = Namespace(task=task, arch="transformer", **told)
    table = {"encoder.embed_tokens.weight": torch.zeros(6 + len(added) + 1, 4)}
    torch.save({"args": args, "model": table}, tmp_path / "model.pt")
    model = read_model(tmp_path)
    assert model.forms(["en", "de"]) == forms
    rest = ["madeupword0000"] if added else []
    assert model.dictionary("en")[1] == ["<s>", "<pad>", "</s>", "<unk>", "a", "b", *added, *rest]
