"""Checkpoints whose options would send a secret away, open files or take all memory.

A server on this machine, an audit hook on opened files and a secret in the environment are the
marks; each is shown to work where nothing guards against it.
"""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import torch
from fairseq import checkpoint_utils, file_utils
from fairseq.hub_utils import GeneratorHubInterface
from omegaconf import OmegaConf
from prepared import StubDecoder, StubEncoder, config, make_task, prepare, random_pairs

from fairseq_plugins.errors import InputError
from fairseq_plugins.models import SyntaxTransformerModel
from fairseq_plugins.tasks import SyntaxTranslationTask, _checkpoint_options

SECRET = "s3cr3t"
REFERENCE = "${oc.env:FAIRSEQ_PLUGINS_SECRET}"
OPENED: list[str] | None = None  # what is opened meanwhile, for the audit hook


def _listen(event, arguments):
    if OPENED is not None and event == "open" and isinstance(arguments[0], str):
        OPENED.append(arguments[0])


sys.addaudithook(_listen)


@pytest.fixture
def opened(monkeypatch):
    """The paths that are opened from here on."""
    paths = []
    monkeypatch.setattr(sys.modules[__name__], "OPENED", paths)
    return paths


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """The requests that a server on this machine gets, and its address."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_error(404)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    monkeypatch.setenv("FAIRSEQ_PLUGINS_SECRET", SECRET)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(file_utils, "PYTORCH_FAIRSEQ_CACHE", str(tmp_path / "cache"))
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield requests, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """The state of a checkpoint that fairseq would save, of a model that was not trained."""
    root = tmp_path_factory.mktemp("closed")
    folder = prepare(root / "data", {"train": random_pairs(20)}, parse=True)
    words = f"{folder} --task syntax_translation --arch syntax_transformer_tiny --optimizer adam"
    cfg = config(*words.split(), "--encoder-attention", "sla")
    task = make_task(folder)
    model = task.build_model(cfg.model)
    return {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": model.state_dict(),
        "optimizer_history": [{"num_updates": 1, "optimizer_name": "x", "lr_scheduler_state": {}}],
        "extra_state": {"train_iterator": {"epoch": 1}},
    }


@pytest.fixture
def save(honest, tmp_path, monkeypatch):
    """A function that saves the checkpoint with other options, and returns its path."""
    monkeypatch.setattr(SyntaxTranslationTask, "build_source_encoder", lambda self: StubEncoder())
    monkeypatch.setattr(SyntaxTranslationTask, "build_target_decoder", lambda self: StubDecoder())

    def write(**parts):
        cfg = {**honest["cfg"]}
        for name, options in parts.items():
            cfg[name] = {**(cfg.get(name) or {}), **options}
        torch.save({**honest, "cfg": cfg}, tmp_path / "evil.pt")
        return tmp_path / "evil.pt"

    return write


def load(path, **options):
    return SyntaxTransformerModel.from_pretrained(str(path.parent), path.name, **options)


def load_by_fairseq(path):
    """Load as fairseq's own commands and its hub do."""
    models, cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(path)])
    return GeneratorHubInterface(cfg, task, models)


@pytest.mark.slow
def test_no_variable_of_the_environment_is_sent_away(save, asked, monkeypatch):
    requests, address = asked
    bpe = {"_name": "gpt2", "gpt2_encoder_json": f"{address}?t={REFERENCE}"}
    path = save(bpe={**bpe, "gpt2_vocab_bpe": address}, tokenizer={"_name": "moses"})
    for careful in (load, load_by_fairseq):
        assert careful(path) is not None
    assert not requests
    monkeypatch.setattr(_checkpoint_options, "_replace", lambda whole, defaults: None)
    with pytest.raises(Exception, match="."):
        load_by_fairseq(path)
    assert SECRET in requests[0]  # the trap works where nothing guards against it


def test_no_file_that_a_checkpoint_names_is_opened(save, opened, tmp_path, monkeypatch):
    files = {name: str(tmp_path / name) for name in ("unk", "encoder", "decoder", "bleu", "lm")}
    for name in files.values():
        (tmp_path / name).write_text("a b\n")
    path = save(
        generation={"replace_unk": files["unk"], "lm_path": files["lm"]},
        model={"encoder_embed_path": files["encoder"], "decoder_embed_path": files["decoder"]},
        checkpoint={"finetune_from_model": files["lm"]},
    )
    for careful in (load, load_by_fairseq):
        opened.clear()
        careful(path)
        assert str(path) in opened  # the hook works
        assert not set(files.values()) & set(opened)
    monkeypatch.setattr(_checkpoint_options, "_replace", lambda whole, defaults: None)
    load_by_fairseq(path)
    assert files["unk"] in opened
    monkeypatch.setattr(SyntaxTransformerModel, "opened", ())
    with pytest.raises(InputError, match="how wide, found b'a b'"):
        load_by_fairseq(path)
    assert {files["encoder"], files["decoder"]} & {*opened}


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("model", "encoder_layers", REFERENCE, "refers to something else"),
        ("model", "features", "${oc.decode:${oc.env:FAIRSEQ_PLUGINS_SECRET}}", "refers to"),
        ("model", "activation_fn", REFERENCE, "refers to something else"),
        ("task", "source_lang", REFERENCE, "refers to something else"),
        ("task", "data", "data-bin/" + REFERENCE, "refers to something else"),
        ("task", "eval_bleu_args", '{"beam": "${oc.env:X}"}', "refers to something else"),
        ("model", "encoder_layers", True, "is True, expected a whole number"),
        ("model", "encoder_layers", 10**9, "is 1000000000, expected at most 1,000"),
        ("model", "encoder_embed_dim", 10**30, "is a huge number, expected a whole number"),
        ("model", "dropout", [0.1], "is of type list, expected a number"),
        ("model", "feature_merge", ["add"], "is of type list, expected one of concat"),
        ("model", "feature_merge", "exec", "is 'exec', expected one of concat"),
        ("model", "features", {"_target_": "os.system"}, "is of type dict, expected text"),
        ("model", "feature_embed_dims", "1," * 9000, "is longer than 10,000"),
        ("model", "adaptive_softmax_cutoff", "[print('x')]", "expected a list of int"),
        ("model", "adaptive_softmax_cutoff", [1, "2"], "expected a list of int"),
        ("task", "ablation_mode", ["drop"], "is of type list, expected one of drop, shuffle"),
        ("task", "left_pad_source", "True", "is 'True', expected true or false"),
    ],
)
def test_values_that_are_not_of_their_type_are_refused(save, asked, part, name, value, message):
    path = save(**{part: {name: value}})
    with pytest.raises(InputError, match=message) as caught:
        load(path)
    assert f"evil.pt: option {name!r}" in str(caught.value)
    assert SECRET not in str(caught.value)
    if part == "model":  # the same where fairseq reads the file and asks the task
        with pytest.raises(InputError, match=message) as caught:
            load_by_fairseq(path)
        assert SECRET not in str(caught.value)


@pytest.mark.slow
def test_what_is_no_option_of_ours_changes_nothing(save):
    plain = load(save())
    others = {"_target_": "os.system", "arch": "transformer_lm", "user_dir": "/", "xformers": {}}
    found = load(
        save(
            model={**others, "xformers_att_config": "__import__('os').getcwd()"},
            task={**others, "tokens": REFERENCE},
            common={"user_dir": "/nowhere", "model_parallel_size": REFERENCE},
            ema={"store_ema": True},
            criterion={"_name": REFERENCE},
            dataset={"max_tokens": "all"},
        )
    )
    assert found.translate(["a b", "dog E"]) == plain.translate(["a b", "dog E"])
    assert found.cfg.bpe is None
    assert found.cfg.common.user_dir is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder_embed_dim": 4_000_000}, "does not fit its own options: .*size mismatch"),
        ({"decoder_layers": 90}, "does not fit its own options: .*Missing key"),
        ({"max_source_positions": 10**12}, "bytes of weights and .* of tables"),
        ({"encoder_attention_heads": 0}, "no model can be built of the checkpoint's options"),
    ],
)
def test_sizes_are_looked_at_before_memory_is_taken(save, options, message):
    with pytest.raises(InputError, match=message):
        load(save(model=options))


def test_fairseqs_loader_takes_no_memory_for_a_wrong_size_either(save):
    path = save(model={"decoder_embed_dim": 40_000_000, "decoder_output_dim": None})
    with pytest.raises(InputError, match="this machine has"):
        load_by_fairseq(path)


def test_options_of_the_user_are_taken_by_name_and_type(save):
    path = save()
    hub = load(path, ablate_features="pos", max_source_positions=9, max_tokens=100)
    assert hub.task.cfg.ablate_features == "pos"
    assert hub.task.max_positions()[0] == hub.models[0].max_positions()[0] == 9
    assert hub.cfg.dataset.max_tokens == 100
    kept = {"encoder_layers_to_keep": "0,1", "decoder_layers_to_keep": "1"}  # fairseq wants both
    assert len(load(path, **kept).models[0].decoder.layers) == 1
    with pytest.raises(InputError, match="'speed' is no option of syntax_translation"):
        load(path, speed=1)
    with pytest.raises(InputError, match="the options given: option 'left_pad_source' is 3"):
        load(path, left_pad_source=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eval_bleu_args": '{"beam": "4"}'}, "'beam' is '4', expected a whole number"),
        ({"eval_bleu_args": '{"_target_": 4}'}, "holds '_target_'"),
        ({"eval_bleu_args": "[" * 9000}, "is refused"),
        ({"eval_bleu_detok_args": '{"source_lang": "../../x"}'}, "is refused"),
        ({"eval_bleu_detok": "gpt2"}, "'eval_bleu_detok' is 'gpt2'"),
    ],
)
def test_scoring_of_a_checkpoint_only_searches(save, options, message):
    """fairseq-validate takes these from the checkpoint."""
    with pytest.raises(InputError, match=message):
        load_by_fairseq(save(task=options))


def test_scoring_of_an_honest_checkpoint_stays(save):
    path = save(task={"eval_bleu": True, "eval_bleu_args": '{"beam": 2}'})
    assert load_by_fairseq(path).task.sequence_generator.beam_size == 2
    assert not load(path).task.cfg.eval_bleu  # nobody scores there


def test_a_checkpoint_chooses_no_criterion_of_another_kind(save):
    cfg = OmegaConf.create({"_name": "cross_entropy", "sentence_avg": True, "evil": REFERENCE})
    task = load_by_fairseq(save()).task
    assert task.build_criterion(cfg).sentence_avg
    cfg._name = "ctc"
    with pytest.raises(InputError, match="criterion 'ctc' is none of cross_entropy"):
        task.build_criterion(cfg)
