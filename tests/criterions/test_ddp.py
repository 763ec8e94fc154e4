"""torch's own DistributedDataParallel, which fairseq uses on GPUs: no parameter may be left out."""

from __future__ import annotations

from dataclasses import replace

import asked_entities
import entity_tasks
import matching_models
import prepared
import prepared_questions
import prepared_text
import pytest
import torch
from fairseq.distributed import ModuleProxyWrapper
from omegaconf import OmegaConf
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from fairseq_plugins.architectures import matching_options
from fairseq_plugins.architectures.bert_options import KINDS
from fairseq_plugins.nn.fusion import ABLATIONS

WEIGHTS = {f"{name}_loss_weight": 1.0 for name in ("start", "end", "span")}
WINDOWS = {"max_positions": 24, "doc_stride": 8, "max_query_length": 6}
ONLY_PAIRS, ONLY_QUESTIONS = ("bert_uer", "dabert", "dabert_literal"), ("bertqa", "bertqa_literal")
SEEKING = ("bert_mrc", "bert_mrc_released")
OTHERS = [kind for kind in KINDS if kind not in SEEKING]
SINGLE = [kind for kind in OTHERS if kind not in (*ONLY_PAIRS, *ONLY_QUESTIONS)]
ASKED = [kind for kind in OTHERS if kind not in ("bert_uer", "bert_sembert")]
OWN = {"bert_sembert": {"semantic_layers": "pos,case"}}  # these folders have no roles
SOUGHT = "sought"
EVERYTHING = {"features": "pos,case", "local_attention": "sla,wla", "parent_loss_weight": 0.5}
EVERYTHING |= {"ancestor_layers": 2, "dual_layers": "0,1"}
SEMANTIC = {**EVERYTHING, **OWN["bert_sembert"]}
TRANSLATION = "translation"
CASES = [
    (TRANSLATION, TRANSLATION, {}),
    (TRANSLATION, TRANSLATION, {"encoder_attention": "sla,wla", "features": "pos,case"}),
    (TRANSLATION, TRANSLATION, {"feature_merge": "overlay", "share_all_embeddings": True}),
    (TRANSLATION, TRANSLATION, {"features": "none", "checkpoint_activations": True}),
    *((SOUGHT, kind, {}) for kind in SEEKING),
    (SOUGHT, "bert_mrc", {"features": "pos", "local_attention": "sla"}),
    *(("pairs", kind, OWN.get(kind, {})) for kind in OTHERS if kind not in ONLY_QUESTIONS),
    *(("pairs", kind, {"features": "pos"}) for kind in matching_options.KINDS),
    ("pairs", "pair_transformer", {"pair_encoding": "siamese"}),
    *(("score", kind, OWN.get(kind, {})) for kind in SINGLE),
    *(("entities", kind, OWN.get(kind, {})) for kind in SINGLE),
    *(("qa", kind, {}) for kind in ASKED),
    *(("pairs", "dabert", {"ablate": name}) for name in ABLATIONS),
    ("pairs", "bert_plain", EVERYTHING),
    ("pairs", "bert_plain", {**EVERYTHING, "checkpoint_activations": True}),
    ("pairs", "bert_plain", SEMANTIC),
    ("pairs", "bert_sembert", {**OWN["bert_sembert"], "semantic_pooling": "first"}),
    ("pairs", "bert_pos", {"freeze_layers": 1}),
    ("qa", "bertqa", {**EVERYTHING, "answerability_loss_weight": 0.3}),
    ("qa", "bertqa", {"local_convolutions": "per-block", "coattention_skip": "highway"}),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("ddp")
    passages = {"train": prepared_questions.passages(9)}
    found = {"qa": prepared_questions.prepare(root / "qa", passages, annotations=("pos", "heads"))}
    for data, kind in (("pairs", "classes"), ("score", "score"), ("entities", "entities")):
        annotations = ("pos", "heads", *(["similarity"] if data == "pairs" else []))
        some = {"train": prepared_text.examples(kind, 12, pairs=data == "pairs")}
        found[data] = prepared_text.prepare(root / data, kind, some, annotations=annotations)
    asked_entities.questions_file(root / "q.tsv")
    found[SOUGHT] = asked_entities.nested_folder(
        root / SOUGHT, {"train": asked_entities.examples(12)}, annotations=("pos", "heads")
    )
    pairs = {"train": prepared.random_pairs(12)}
    found[TRANSLATION] = prepared.prepare(root / TRANSLATION, pairs, joined=True, parse=True)
    return found


@pytest.fixture(scope="module")
def group():
    """A group of this process alone."""
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def translated(folder, given):
    """Return task, model and options of the criterion of translation."""
    task = prepared.make_task(folder)
    model = prepared.make_model(task, **given)
    options = {"_name": "label_smoothed_cross_entropy", "label_smoothing": 0.1}
    options |= {"report_accuracy": False, "ignore_prefix_size": 0, "sentence_avg": False}
    return task, model, options


def understood(folder, kind, given):
    """Return task, model and options of the criterion of an understanding task."""
    if folder.name == SOUGHT:
        task = sought_task(folder)
        model = prepared_text.make_model(task, f"{kind}_tiny", num_attention_heads=2, **given)
        return task, model, {"_name": task.NAME, **WEIGHTS}
    windows = WINDOWS if folder.name == "qa" else {}
    make = prepared_questions if folder.name == "qa" else prepared_text
    task = make.make_task(folder, **windows)
    if kind in matching_options.KINDS:
        model = matching_models.build(folder, f"{kind}_tiny", task=task, **given)
    else:
        model = prepared_text.make_model(task, f"{kind}_tiny", num_attention_heads=2, **given)
    return task, model, {"_name": task.NAME}


def sought_task(folder):
    """Set up a task of entities whose questions are annotated as the folder's sentences are."""
    task = entity_tasks.make_task(folder, folder.parent / "q.tsv")

    def ask(questions):
        def encode(names):
            return [prepared_text.encode(text.split()) for text in questions.questions.values()]

        task.inputs.questions = replace(questions, encode=encode)

    task.inputs.ask = ask
    return task


def three_steps(folder, kind, given, change=lambda model: None):
    """Take three steps without an optimiser, as fairseq wraps models and criterions call them."""
    made = translated(folder, given) if kind == TRANSLATION else understood(folder, kind, given)
    task, model, options = made
    change(model)
    task.load_dataset("train")
    dataset = task.dataset("train")
    criterion = task.build_criterion(OmegaConf.create(options))
    wrapped = ModuleProxyWrapper(DistributedDataParallel(model.train()))
    for start in (0, 4, 8):
        batch = dataset.collater([dataset[i] for i in range(start, start + 4)])
        criterion(wrapped, batch)[0].backward()


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(("data", "kind", "given"), CASES)
def test_every_parameter_takes_part_in_every_step(folders, data, kind, given):
    three_steps(folders[data], kind, given)


@pytest.mark.usefixtures("group")
def test_a_parameter_that_takes_no_part_is_noticed(folders):
    def add_idle(model):
        model.idle = torch.nn.Parameter(torch.zeros(3))

    with pytest.raises(RuntimeError, match="Expected to have finished reduction"):
        three_steps(folders["score"], "bert_plain", {}, add_idle)
