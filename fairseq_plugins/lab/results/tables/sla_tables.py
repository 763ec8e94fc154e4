"""The tables of Li et al. (2020), arXiv:2012.15150: their layouts, and the figures they print."""

from __future__ import annotations

from .table_layouts import ACCURACY, Column, Layout, spell_rows

ENTITIES = (("P", "entity_precision"), ("R", "entity_recall"), ("F1", "entity_f1"))
ERRORS = (("P", "token_precision"), ("R", "token_recall"), ("F0.5", "token_f0.5"))
_DETECTION = (("P", "detection_precision"), ("R", "detection_recall"), ("F1", "detection_f1"))
_OWN = ("bert_lisa", "bert_sgnet", "bert_wla", "bert_sla")

_SINGLE = (
    Column("cola", "CoLA", (("MCC", "mcc"),)),
    Column("sst2", "SST-2", ACCURACY),
    Column("conll2003", "CoNLL-2003", ENTITIES, tested=True),
    Column("fce", "FCE", ERRORS, tested=True),
)
_PAIRS = (
    Column("qnli", "QNLI", ACCURACY),
    Column("rte", "RTE", ACCURACY),
    Column("mrpc", "MRPC", ACCURACY),
    Column("sts_b", "STS-B", (("PCC", "pearson"),)),
)
_CHINESE = (
    Column("chnsenticorp", "ChnSentiCorp", ACCURACY, tested=True),
    Column("msra_ner", "MSRA NER", ENTITIES, tested=True),
    Column("cged", "CGED", _DETECTION, tested=True),
)

_BASE = {
    "bert_lisa": ("110M", (59.8,), (92.0,), (90.7, 92.2, 91.4), (63.4, 38.6, 56.1)),
    "bert_sgnet": ("133M", (59.2,), (93.1,), (90.9, 92.6, 91.7), (60.9, 40.7, 55.4)),
    "bert_plain": ("110M", (58.7,), (93.1,), (91.0, 92.3, 91.6), (60.5, 40.0, 54.9)),
    "bert_wla": ("+0.01M", (59.6,), (92.8,), (91.3, 92.9, 92.1), (60.4, 41.3, 55.3)),
    "bert_sla": ("+0.01M", (60.0,), (93.3,), (91.5, 92.9, 92.2), (61.0, 41.3, 55.7)),
}
_LARGE = {
    "bert_lisa": ("340M", (62.2,), (92.7,), (91.3, 92.6, 92.0), (63.4, 43.2, 57.9)),
    "bert_sgnet": ("381M", (63.3,), (93.6,), (91.5, 92.8, 92.1), (63.1, 42.5, 57.5)),
    "bert_plain": ("340M", (63.9,), (94.0,), (91.7, 93.1, 92.4), (62.7, 42.6, 57.3)),
    "bert_wla": ("+0.02M", (62.7,), (93.9,), (91.5, 93.1, 92.3), (61.9, 44.5, 57.4)),
    "bert_sla": ("+0.02M", (64.5,), (94.3,), (92.3, 93.4, 92.9), (63.9, 42.3, 58.0)),
}
_PAIRS_BASE = {
    "bert_plain": ("", (91.7,), (68.6,), (87.3,), (89.5,)),
    "bert_sla": ("", (91.4,), (67.8,), (88.5,), (89.9,)),
}
_CHINESE_BASE = {
    "bert_plain": ("", (94.7,), (95.0, 94.6, 94.8), (79.9, 75.2, 77.5)),
    "bert_wla": ("", (95.1,), (95.1, 94.2, 94.6), (79.9, 73.5, 76.6)),
    "bert_sla": ("", (95.7,), (94.9, 95.0, 94.9), (81.0, 76.6, 78.7)),
}

SLA = {
    "sla1": Layout(
        "Single sentences (layout of Li et al. 2020, Table 1)",
        _SINGLE,
        average=True,
        paper={"base": spell_rows(_SINGLE, _BASE), "large": spell_rows(_SINGLE, _LARGE)},
        own=_OWN,
    ),
    "sla2": Layout(
        "Sentence pairs (layout of Li et al. 2020, Table 2)",
        _PAIRS,
        paper={"base": spell_rows(_PAIRS, _PAIRS_BASE)},
        own=_OWN,
    ),
    "sla3": Layout(
        "Chinese (layout of Li et al. 2020, Table 3)",
        _CHINESE,
        paper={"base": spell_rows(_CHINESE, _CHINESE_BASE)},
        own=_OWN,
    ),
}
