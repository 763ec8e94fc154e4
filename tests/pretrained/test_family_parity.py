"""Hidden states of every family equal transformers' and fairseq's own, layer by layer."""

from __future__ import annotations

import random
from argparse import Namespace
from dataclasses import replace

import pytest
import torch
from family_directories import FORMS
from family_encoders import POOLED, SIZES, fill, in_double, save_fairseq, save_theirs
from safetensors.torch import load_file, save_file

from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.bert import ACTIVATIONS, BertEncoder
from fairseq_plugins.pretrained import forms
from fairseq_plugins.pretrained.configuration import SAME
from fairseq_plugins.pretrained.directory import find_family
from fairseq_plugins.pretrained.exporting import export
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.pretrained.huggingface import load_state, read_config
from fairseq_plugins.pretrained.names import NAMES, to_ours
from fairseq_plugins.pretrained.tokenizer import read_tokenizer_settings
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary

transformers = pytest.importorskip("transformers")

TOLERANCE = 1e-10  # in float64
SINGLE = 1e-6  # of fairseq, which computes gelu in float32 all the same
OTHERS = [name for name in FAMILIES if name != "bert"]
LENGTHS = ((3, 5), (1, 2), (6, 4))


def encoder_of(path) -> BertEncoder:
    shape = read_config(path)
    encoder = BertEncoder(shape)
    encoder.load_state_dict(load_state(path, shape), strict=True)
    return encoder.double().eval()


def theirs_of(path):
    model = transformers.AutoModel.from_pretrained(path).double().eval()
    for part in model.modules():
        if "Rotary" in type(part).__name__:  # whose numbers are rounded
            for kind in part.layer_types:
                exact, _ = part.compute_default_rope_parameters(model.config, layer_type=kind)
                getattr(part, f"{kind}_inv_freq").copy_(exact)
    return model


def batch_of(
    path, *, pairs: bool, side: str, lengths=LENGTHS
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return tokens, segments and what is no padding, (B, S) each, with the family's specials."""
    vocabulary = read_vocabulary(path)
    family, ids = vocabulary.family, vocabulary.indices
    cls, sep, pad = (ids[getattr(family.specials, name)] for name in ("cls", "sep", "pad"))
    plain = [i for i in range(SIZES["vocabulary"]) if i not in (cls, sep, pad)]
    generator = torch.Generator().manual_seed(2)
    rows = []
    for sizes in lengths:
        *frame, end = family.row.frame(cls, sep, 1 + pairs)
        for part, length in zip(frame, sizes):
            drawn = torch.randint(len(plain), (length,), generator=generator)
            part += [plain[i] for i in drawn.tolist()]
        rows.append(sum(frame, []) + end)
    width = max(map(len, rows))
    tokens = torch.full((len(rows), width), pad)
    segments = torch.zeros_like(tokens)
    for number, (row, (first, _)) in enumerate(zip(rows, lengths)):
        begin = 0 if side == "right" else width - len(row)
        tokens[number, begin : begin + len(row)] = torch.tensor(row)
        segments[number, begin + family.row.border(first) :] = int(pairs)
    real = tokens.ne(pad)
    return tokens, segments * real, real


def assert_layers_equal(
    ours: BertEncoder, states, tokens, segments, real, within=TOLERANCE
) -> None:
    with torch.no_grad():
        found = ours(tokens, segments, need_layers=True)
    assert len(found.layers) == len(states)
    for one, other in zip(found.layers, states):
        assert (one - other[real]).abs().max() < within
    assert (found.layers[-1] - found.layers[0]).abs().max() > 0.1


def assert_gradients_equal(ours: BertEncoder, theirs, states, tokens, segments, names) -> None:
    """Compare gradients of every parameter, by hidden states (N, D) of theirs."""
    weights = torch.randn(states.shape, generator=torch.Generator().manual_seed(3)).double()
    (states * weights).sum().backward()
    (ours(tokens, segments).rows * weights).sum().backward()
    grads = [
        {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in parameters}
        for parameters in (theirs.named_parameters(), ours.named_parameters())
    ]
    wanted = to_ours(grads[0], ours.shape, names)
    assert wanted.keys() == grads[1].keys()
    for name, grad in grads[1].items():
        assert (grad - wanted[name]).abs().max() < TOLERANCE, name
        assert grad.any() or name.startswith("pooler"), name


def assert_equals_transformers(path, *, pairs: bool, side: str, lengths=LENGTHS) -> BertEncoder:
    ours, family = encoder_of(path), find_family(path).name
    with in_double(family):
        theirs = theirs_of(path)
    tokens, segments, real = batch_of(path, pairs=pairs, side=side, lengths=lengths)
    positions = (real.long().cumsum(1) - 1).clamp(min=0) + ours.shape.position_offset
    given = {"attention_mask": real.long(), "output_hidden_states": True}
    if not ours.shape.position_offset:  # others find their positions by themselves
        given["position_ids"] = positions
        given |= {"token_type_ids": segments} if ours.shape.sides else {}
    with in_double(family):
        states = theirs(tokens, **given).hidden_states
    assert_layers_equal(ours, states, tokens, segments, real)
    assert_gradients_equal(ours, theirs, states[-1][real], tokens, segments, NAMES[family])
    return ours


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("pairs", [True, False], ids=["pairs", "single"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_layer_equals_transformers(tmp_path, family, pairs, side) -> None:
    path = save_theirs(FORMS[family](tmp_path / "model"), family)
    ours = assert_equals_transformers(path, pairs=pairs, side=side)
    assert ours.shape.pooler == (family in POOLED)


FREE = {"position_buckets": -1, "max_relative_positions": 9, "norm_rel_ebd": "none"}
APART = {"share_att_key": False, "embedding_size": 14, "position_biased_input": True}
SCHEMES = {
    "unshared": ("deberta-v2", APART | {"type_vocab_size": 2, "hidden_act": "relu"}),
    "convolution": ("deberta-v2", {"conv_kernel_size": 3, "conv_act": "gelu"}),
    "vectors": ("deberta-v2", {**FREE, "conv_kernel_size": 5, "share_att_key": False}),
    "c2p": ("deberta-v2", FREE | {"pos_att_type": "c2p", "position_biased_input": True}),
    "p2c": ("deberta-v2", {"pos_att_type": ["p2c"], "share_att_key": False}),
    "buckets": ("deberta-v2", {"position_buckets": 20, "max_relative_positions": 30}),
    "windows": ("modernbert", {"num_hidden_layers": 4, "global_attn_every_n_layers": 3}),
    "narrow": ("modernbert", {"local_attention": 1, "num_attention_heads": 1}),
    "far": ("mpnet", {}),
}


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_of_positions_equals_theirs(tmp_path, scheme, side) -> None:
    family, changes = SCHEMES[scheme]
    path = save_theirs(FORMS[family](tmp_path / "model"), family, changes)
    assert_equals_transformers(path, pairs=True, side=side, lengths=((20, 31), (1, 2), (9, 30)))


@pytest.mark.parametrize("family", ["roberta", "xlm-roberta", "electra", "albert"])
def test_embeddings_of_the_encoders_width_and_small_segment_tables_equal_theirs(
    tmp_path, family
) -> None:
    changes = {"type_vocab_size": 1}
    if family in ("electra", "albert"):
        changes = {"embedding_size": SIZES["hidden"]}
    path = save_theirs(FORMS[family](tmp_path / "model"), family, changes)
    ours = assert_equals_transformers(path, pairs=True, side="right")
    assert (ours.embeddings.projection is not None) == (family == "albert")


@pytest.mark.parametrize("activation", ["gelu_python", "gelu_pytorch_tanh"])
@pytest.mark.parametrize("family", ["bert", "electra", "albert"])
def test_pairs_of_one_segment_embedding_equal_theirs(tmp_path, family, activation) -> None:
    changes = {"type_vocab_size": 1, "hidden_act": activation}
    path = save_theirs(FORMS[family](tmp_path / "model"), family, changes)
    ours, theirs, rng = encoder_of(path), theirs_of(path), random.Random(6)
    sizes = [(rng.randrange(1, 9), rng.randrange(1, 9)) for _ in range(60)]
    tokens, segments, real = batch_of(path, pairs=True, side="right", lengths=sizes)
    given = {"attention_mask": real.long(), "output_hidden_states": True}
    assert_layers_equal(ours, theirs(tokens, **given).hidden_states, tokens, segments, real)
    shape, vocabulary = ours.shape, read_vocabulary(path)
    settings = read_tokenizer_settings(path)
    export(
        tmp_path / "out", ours.state_dict(), shape, vocabulary=vocabulary.content, settings=settings
    )
    assert read_config(tmp_path / "out") == shape
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    rows = tokenizer(["The cat", "Dogs"], ["sat on it", "12"], padding=True, return_tensors="pt")
    model = transformers.AutoModel.from_pretrained(tmp_path / "out")
    assert model(**rows).last_hidden_state.isfinite().all()  # none of a segment that is not there


@pytest.mark.parametrize("name", [*ACTIVATIONS, *SAME])
def test_activations_are_those_of_their_names(tmp_path, name) -> None:
    x = torch.randn(200, generator=torch.Generator().manual_seed(7), dtype=torch.float64) * 4
    ours = ACTIVATIONS[SAME.get(name, name)](x)
    assert (ours - transformers.activations.ACT2FN[name](x)).abs().max() < 1e-6
    for family in FAMILIES:
        key = forms.FORMS[family].activation
        path = save_theirs(FORMS[family](tmp_path / family), family, {key: name})
        assert read_config(path).activation == SAME.get(name, name)


@pytest.mark.parametrize("family", OTHERS)
def test_heads_of_theirs_are_left_out(tmp_path, family) -> None:
    path = save_theirs(FORMS[family](tmp_path / "model"), family)
    expected, title = load_state(path), FAMILIES[family].title
    kinds = ["MaskedLM", "SequenceClassification", "TokenClassification", "QuestionAnswering"]
    kinds += ["PreTraining"] if family in ("electra", "albert") else []
    config = transformers.AutoConfig.from_pretrained(path)
    plain = transformers.AutoModel.from_pretrained(path).state_dict()
    for kind in kinds:
        model = getattr(transformers, f"{title}For{kind}")(config)
        model.base_model.load_state_dict(plain, strict=False)
        model.save_pretrained(path)
        state = load_state(path)
        assert {key for key in expected if not key.startswith("pooler")} <= state.keys()
        assert all(torch.equal(value, expected[key]) for key, value in state.items())


def test_heads_and_unused_positions_of_published_debertas_are_left_out(tmp_path) -> None:
    path = save_theirs(FORMS["deberta-v2"](tmp_path / "model"), "deberta-v2")
    expected, file = load_state(path), path / "model.safetensors"
    tensors = {f"deberta.{name}": tensor for name, tensor in load_file(file).items()}
    left_out = ["lm_predictions.lm_head.dense.weight", "mask_predictions.dense.bias"]
    left_out += ["pooler.dense.weight", "deberta.embeddings.position_embeddings.weight"]
    save_file(tensors | {name: torch.zeros(64, 24) for name in left_out}, file)
    state = load_state(path)
    assert state.keys() == expected.keys()
    assert all(torch.equal(value, expected[key]) for key, value in state.items())


@pytest.mark.parametrize("pooler", [True, False])
@pytest.mark.parametrize("family", OTHERS)
def test_transformers_and_we_read_what_is_exported(tmp_path, family, pooler) -> None:
    path, out = save_theirs(FORMS[family](tmp_path / "model"), family), tmp_path / "out"
    shape = replace(read_config(path), pooler=pooler)
    encoder = BertEncoder(shape).eval()
    fill(encoder)
    vocabulary, state = read_vocabulary(path), encoder.state_dict()
    settings = read_tokenizer_settings(path)
    export(out, state, shape, vocabulary=vocabulary.content, settings=settings)
    model, report = transformers.AutoModel.from_pretrained(out, output_loading_info=True)
    assert not report["unexpected_keys"]
    assert all(key.startswith("pooler.") and not pooler for key in report["missing_keys"])
    assert read_config(out) == replace(shape, pooler=pooler and family in POOLED)
    again = load_state(out)
    assert all(torch.equal(state[key], value) for key, value in again.items())
    assert all(key.startswith("pooler") for key in state.keys() - again.keys())
    tokens, segments, real = batch_of(out, pairs=False, side="right")
    with torch.no_grad():
        theirs = model.eval()(tokens, attention_mask=real.long()).last_hidden_state[real]
        assert (encoder(tokens, segments).rows - theirs).abs().max() < 1e-5
    assert read_vocabulary(out).pieces == vocabulary.pieces
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    assert tokenizer.model_max_length == shape.longest


@pytest.mark.parametrize("form", ["roberta of fairseq", "xlm-roberta of fairseq"])
@pytest.mark.parametrize("old", [False, True], ids=["new names", "old names"])
def test_every_layer_equals_fairseqs_own_model(tmp_path, form, old) -> None:
    path = FORMS[form](tmp_path / "model")
    theirs = save_fairseq(path, old=old).double().eval()
    ours = encoder_of(path)
    assert ours.shape.longest == theirs.max_positions()
    for side in ("right", "left"):
        for pairs in (True, False):
            tokens, segments, real = batch_of(path, pairs=pairs, side=side)
            with torch.no_grad():
                _, extra = theirs(tokens, features_only=True, return_all_hiddens=True)
            states = [state.transpose(0, 1) for state in extra["inner_states"]]
            assert_layers_equal(ours, states, tokens, segments, real, SINGLE)


@pytest.fixture
def folder(tmp_path):
    """fairseq's own folder of RoBERTa, and what its ``model.pt`` holds."""
    path = FORMS["roberta of fairseq"](tmp_path / "model")
    save_fairseq(path)
    return path, torch.load(path / "model.pt", weights_only=False)


WORDS = "encoder.sentence_encoder.embed_tokens.weight"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: vars(s["args"]).update(encoder_normalize_before=True), "normalize_before is T"),
        (lambda s: vars(s["args"]).update(encoder_layers="2"), "'encoder_layers' is '2', expected"),
        (lambda s: vars(s["args"]).update(encoder_layers=3), r"missing tensors encoder\.layer\.2"),
        (lambda s: vars(s["args"]).update(encoder_attention_heads=5), "5 do not divide"),
        (lambda s: vars(s["args"]).update(activation_fn="swish"), "is 'swish'; choices: gelu"),
        (lambda s: vars(s["args"]).update(activation_fn="${oc.env:HOME}"), "nothing was looked up"),
        (lambda s: s.pop("args"), "neither 'args' nor 'cfg'"),
        (lambda s: s.pop("model"), "holds no 'model' parameters"),
        (lambda s: s["model"].update(x=torch.zeros(1)), "unknown tensors x"),
        (lambda s: s["model"].update({WORDS: torch.zeros(9, 24)}), "its options with dict.txt say"),
    ],
)
def test_other_models_of_fairseq_are_refused(folder, edit, message) -> None:
    path, state = folder
    assert read_config(path).layers == SIZES["layers"]
    edit(state)
    torch.save(state, path / "model.pt")
    with pytest.raises(InputError, match=message) as caught:
        read_config(path)
    assert "model.pt" in str(caught.value)


def test_options_of_later_releases_are_found(folder) -> None:
    path, state = folder
    expected = read_config(path)
    args = vars(state.pop("args"))
    for model in (args, Namespace(**args)):
        torch.save({**state, "args": None, "cfg": {"model": model}}, path / "model.pt")
        assert read_config(path) == expected


class Evil:
    """Creates a file when it is unpickled."""

    def __init__(self, path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def test_a_model_of_fairseq_that_would_run_code_is_refused(folder, tmp_path) -> None:
    path, state = folder
    trap = tmp_path / "trap"
    torch.save({**state, "extra": Evil(trap)}, path / "model.pt")
    for read in (read_config, load_state):
        with pytest.raises(InputError, match=r"model\.pt: refused.*nothing of it was executed"):
            read(path)
    assert not trap.exists()
    (path / "model.pt").unlink()
    with pytest.raises(FileNotFoundError, match=r"model\.pt"):
        read_config(path)
