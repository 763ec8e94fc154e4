"""Raw text, prepared folder and Python interface give the same translations."""

from __future__ import annotations

from argparse import Namespace

import pytest
import torch
from fairseq.token_generation_constraints import pack_constraints
from prepared import batches, make_model, make_task, prepare, random_pairs

from fairseq_plugins.data.factored_pair_dataset import FactoredPairDataset
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.layers import LAYERS

pytestmark = pytest.mark.slow

TEST = random_pairs(23, seed=4)
LINES = [source for source, _ in TEST]
BEAM = {"beam": 3, "max_len_b": 8}


ATTENTION = {False: {}, True: {"encoder_attention": "sla", "tree_threshold": 1}}


@pytest.fixture(scope="module", params=[False, True], ids=["features", "features+sla"])
def parse(request):
    """Whether the folder holds trees, and the model reads them."""
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory, parse):
    splits = {"train": random_pairs(40), "test": TEST}
    return prepare(tmp_path_factory.mktemp("data"), splits, joined=True, parse=parse)


def sharp(model):
    """A model whose output depends strongly on its input, untrained though it is."""
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.4)
    return model


@pytest.fixture(scope="module")
def model(folder, parse):
    torch.manual_seed(1)
    return sharp(make_model(make_task(folder), **ATTENTION[parse]))


def generate(task, models, **options):
    """As fairseq-generate: batches of the prepared folder."""
    task.load_dataset("test")
    generator = task.build_generator(models, Namespace(**{**BEAM, **options}))
    found = {}
    for batch in batches(task, "test", max_sentences=5, required_batch_size_multiple=8):
        hypotheses = task.inference_step(generator, models, batch)
        found.update(zip(batch["id"].tolist(), hypotheses))
    return [found[i] for i in range(len(TEST))]


def interactive(task, models, lines, buffer, size):
    """As fairseq-interactive: only tokens and lengths come back from the iterator."""
    generator = task.build_generator(models, Namespace(**BEAM))
    found = []
    for start in range(0, len(lines), buffer):
        part = lines[start : start + buffer]
        tokens, lengths = task.get_interactive_tokens_and_lengths(part, None)
        dataset = task.build_dataset_for_inference(tokens, lengths)
        rows = {}
        for batch in task.get_batch_iterator(dataset, max_sentences=size).next_epoch_itr(
            shuffle=False
        ):
            net_input = {k: batch["net_input"][k] for k in ("src_tokens", "src_lengths")}
            hypotheses = task.inference_step(generator, models, {"net_input": net_input})
            rows.update(zip(batch["id"].tolist(), hypotheses))
        found += [rows[i] for i in range(len(part))]
    return found


def tokens_of(hypotheses):
    return [[hypothesis["tokens"].tolist() for hypothesis in nbest] for nbest in hypotheses]


@pytest.mark.parametrize(("buffer", "size"), [(1, 1), (7, 3), (100, 4), (100, 100)])
def test_interactive_equals_generate(folder, model, buffer, size):
    task = make_task(folder)
    expected = generate(task, [model])
    found = interactive(task, [model], LINES, buffer, size)
    assert tokens_of(found) == tokens_of(expected)
    for a, b in zip(found, expected):
        torch.testing.assert_close(a[0]["score"], b[0]["score"], rtol=0, atol=1e-4)


def test_no_sentence_is_lost_and_features_decide(folder, model):
    task = make_task(folder)
    expected = tokens_of(generate(task, [model]))
    assert len(expected) == 23
    ablated = tokens_of(generate(make_task(folder, ablate_features="pos,case,subword"), [model]))
    assert sum(a != b for a, b in zip(expected, ablated)) > 15


@pytest.mark.parametrize("mode", ["drop", "shuffle"])
def test_interactive_ablation_equals_that_of_generate(folder, model, mode):
    options = {"ablate_features": "pos", "ablation_mode": mode}
    expected = tokens_of(generate(make_task(folder, **options), [model]))
    for buffer in (1, 10):
        found = interactive(make_task(folder, **options), [model], LINES, buffer, 4)
        assert tokens_of(found) == expected


def test_ensemble_of_models_that_read_different_features(folder):
    task = make_task(folder)
    models = [sharp(make_model(task, features=f)) for f in ("pos", "case,subword", "none")]
    together = tokens_of(generate(task, models))
    assert tokens_of(interactive(task, models, LINES, 9, 4)) == together
    assert all(together != tokens_of(generate(task, [model])) for model in models)


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    pairs = random_pairs(12, seed=6, longest=15)
    return prepare(tmp_path_factory.mktemp("parsed"), {"test": pairs}, parse=True), pairs


@pytest.mark.parametrize("limit", [None, 5])
def test_raw_text_has_the_trees_of_the_folder(parsed, limit):
    folder, pairs = parsed
    options = {"max_source_positions": limit, "truncate_source": True} if limit else {}
    task = make_task(folder, **options)
    task.load_dataset("test")
    lines = [source for source, _ in pairs]
    tokens, _ = task.get_interactive_tokens_and_lengths(lines, None)
    longest = 0
    for i, (ids, row) in enumerate(zip(tokens, tokens.factors)):
        item = task.dataset("test")[i]
        assert torch.equal(item["source"], ids)
        assert torch.equal(item["factors"], row)
        longest = max(longest, len(row))
    assert longest == limit if limit else longest > 12


def test_trees_decide_translations_and_mix_in_ensembles(parsed):
    folder, pairs = parsed
    task, lines = make_task(folder), [source for source, _ in pairs]
    near = {"sla": {"tree_threshold": 1}, "wla": {"window": 1}, "none": {}}
    models = [sharp(make_model(task, encoder_attention=kind, **near[kind])) for kind in near]
    found = [tokens_of(interactive(task, [model], lines, 9, 4)) for model in models]
    assert all(one != other for k, one in enumerate(found) for other in found[:k])
    together = tokens_of(interactive(task, models, lines, 9, 4))
    assert tokens_of(interactive(task, models, lines, 100, 5)) == together
    assert together not in found


def test_prepared_empty_lines_get_empty_translations(tmp_path):
    task = make_task(prepare(tmp_path, {"test": [("a b Cat", "ax"), ("", "bx"), ("dog", "cx")]}))
    model = sharp(make_model(task))
    task.load_dataset("test")
    (batch,) = batches(task, "test", max_sentences=3)
    ids = batch["id"].tolist()
    generator = task.build_generator([model], Namespace(**BEAM))
    found = dict(zip(ids, task.inference_step(generator, [model], batch)))
    assert [h["tokens"].tolist() for h in found[1]] == [[task.tgt_dict.eos()]] * 3
    assert all(len(found[i][0]["tokens"]) > 1 for i in (0, 2))
    scorer = task.build_generator([model], Namespace(score_reference=True))
    scores = dict(zip(ids, task.inference_step(scorer, [model], batch)))
    assert len(scores[1][0]["tokens"]) == 2  # references keep theirs


def test_the_limit_of_a_line_is_that_of_the_smallest_model(folder):
    task = make_task(folder)
    models = [sharp(make_model(task, max_source_positions=n)) for n in (20, 6)]
    lines = ["a b a b a", "a b a b a b", "E fox"]
    assert [len(nbest[0]["tokens"]) > 1 for nbest in interactive(task, models, lines, 3, 2)] == [
        *(True, False, True)
    ]


def test_trees_without_features(tmp_path):
    task = make_task(prepare(tmp_path, {"test": TEST}, features=(), parse=True))
    model = sharp(make_model(task, encoder_attention="sla", tree_threshold=1))
    expected = tokens_of(generate(task, [model]))
    assert tokens_of(interactive(task, [model], LINES, 7, 3)) == expected


def test_features_and_tokens_out_of_step_are_noticed(folder, model):
    task = make_task(folder)
    generator = task.build_generator([model], Namespace(**BEAM))
    tokens, lengths = task.get_interactive_tokens_and_lengths(["a b", "E fox"], None)
    dataset = task.build_dataset_for_inference(tokens, lengths)
    batch = dataset.collater([dataset[0]])
    other = {k: torch.full_like(batch["net_input"][k], 5) for k in ("src_tokens", "src_lengths")}
    with pytest.raises(RuntimeError, match="out of step"):
        task.inference_step(generator, [model], {"net_input": other})
    with pytest.raises(RuntimeError, match="never made"):
        task.inference_step(generator, [model], {"net_input": other})


def test_a_new_buffer_forgets_the_old_one(folder, model):
    task = make_task(folder)
    tokens, lengths = task.get_interactive_tokens_and_lengths(["a b"], None)
    dataset = task.build_dataset_for_inference(tokens, lengths)
    dataset.collater([dataset[0]])
    tokens, lengths = task.get_interactive_tokens_and_lengths(["E fox"], None)
    dataset = task.build_dataset_for_inference(tokens, lengths)
    batch = dataset.collater([dataset[0]])
    del batch["net_input"]["src_factors"]
    task.inference_step(task.build_generator([model], Namespace(**BEAM)), [model], batch)


def test_tokens_without_features_are_refused(folder):
    with pytest.raises(InputError, match="tokens alone carry no source features"):
        make_task(folder).build_dataset_for_inference([torch.tensor([4, 2])], [2])


def test_unknown_words_and_reserved_spellings_keep_their_features(folder):
    task = make_task(folder)
    tokens, lengths = task.get_interactive_tokens_and_lengths(["new <pad> a </s> Cat", ""], None)
    unk, a, cat = task.src_dict.unk(), task.src_dict.index("a"), task.src_dict.index("Cat")
    assert tokens[0].tolist() == [unk, unk, a, unk, cat, task.src_dict.eos()]
    assert tokens[1].tolist() == [task.src_dict.eos()]
    assert lengths == [6, 1]
    assert [len(row) for row in tokens.factors] == lengths
    assert len({row.size(1) for row in tokens.factors}) == 1
    assert tokens.factors[0][4, 1] == LAYERS["case"].inventory.ids(["upper"])[0]
    assert isinstance(task.build_dataset_for_inference(tokens, lengths), FactoredPairDataset)


def test_segmented_input_is_warned_of_once(folder, caplog):
    task = make_task(folder)
    task.get_interactive_tokens_and_lengths(["a b", "an @ sign"], None)
    assert not [r for r in caplog.records if r.levelname == "WARNING"]
    for _ in range(2):
        task.get_interactive_tokens_and_lengths(["wat@@ ch"], None)
    assert caplog.text.count("looks segmented already") == 1


def test_raw_text_without_any_feature(tmp_path):
    task = make_task(prepare(tmp_path, {"test": TEST}, features=()))
    model = sharp(make_model(task))
    expected = tokens_of(generate(task, [model]))
    assert tokens_of(interactive(task, [model], LINES, 7, 3)) == expected


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_alignment_is_printed(folder, model, kind):
    task = make_task(folder)
    for (source, _), nbest in zip(TEST, generate(task, [model], print_alignment=kind)):
        length = len(source.split())
        for hypothesis in nbest:
            assert "alignment" in hypothesis
            pairs = hypothesis["alignment"]
            if kind == "soft":
                assert all(len(row) <= length + 1 for row in pairs)
            else:
                assert all(0 <= s <= length for s, _ in pairs)
                assert pairs or len(hypothesis["tokens"]) == 1


def test_generation_options_of_fairseq(folder, model):
    task = make_task(folder)
    task.load_dataset("test")
    (batch,) = batches(task, "test", max_sentences=99)
    best = task.build_generator([model], Namespace(**BEAM))
    prefix = batch["target"][:, :1]
    for nbest, first in zip(task.inference_step(best, [model], batch, prefix), prefix):
        assert len(nbest) == 3
        assert nbest[0]["tokens"][0] == first
    sampler = task.build_generator([model], Namespace(**BEAM, sampling=True, sampling_topk=3))
    assert len(task.inference_step(sampler, [model], batch)) == 23
    wanted = task.tgt_dict.index("fx")
    constraints = pack_constraints([[torch.tensor([wanted])]] * 23)
    search = task.build_generator([model], Namespace(**BEAM, constraints="ordered"))
    for nbest in task.inference_step(search, [model], batch, constraints=constraints):
        assert wanted in nbest[0]["tokens"]
    scorer = task.build_generator([model], Namespace(score_reference=True))
    for target, nbest in zip(batch["target"], task.inference_step(scorer, [model], batch)):
        assert torch.equal(nbest[0]["tokens"], target[target.ne(task.tgt_dict.pad())])


def test_output_is_decoded_as_the_folder_says(folder):
    task = make_task(folder)
    tokenizer, subwords = task.build_tokenizer(None), task.build_bpe(None)
    assert subwords.encode(tokenizer.encode("gehen.")) == "ge@@ hen ."
    assert tokenizer.decode(subwords.decode("ge@@ hen .")) == "gehen."
    chosen = task.build_tokenizer(Namespace(tokenizer="space"))
    assert chosen.decode("ein  .") == "ein  ."
