"""The tables that `table` fills, and what systems are called in them."""

from __future__ import annotations

from .bertqa_tables import BERTQA
from .bertqa_tables import KINDS as BERTQA_KINDS
from .composition_tables import COMPOSITION
from .composition_tables import KINDS as COMPOSED
from .dabert_tables import ABLATIONS, DABERT, PAWS
from .sla_tables import ENTITIES, ERRORS, SLA
from .syntax_tables import SYNTAX
from .table_layouts import PLAIN, Column, Layout

# kind of architecture -> its name in the tables, in their order; of those with a plus the
# parameters beyond BERT's are told
LABELS = {
    "bert_lisa": "LISA",
    "bert_sgnet": "SGNet",
    PLAIN: "BERT",
    "bert_wla": "+ WLA",
    "bert_sla": "+ SLA",
    "bert_pos": "+ POS",
    "bert_uer": "UERBERT",
    "bert_syntax_masks": "SyntaxBERT",
    "dabert": "DABERT",
    "dabert_literal": "DABERT, as printed",
    **ABLATIONS,
    **BERTQA_KINDS,
    **COMPOSED,
}

LAYOUTS = {
    **SLA,
    **SYNTAX,
    **DABERT,
    **BERTQA,
    **COMPOSITION,
    "others": Layout(
        "Datasets that are in no paper",
        (
            Column("wnut17", "WNUT-17", ENTITIES, tested=True),
            Column("falko_merlin", "Falko-MERLIN", ERRORS, tested=True),
            Column("token_errors", "Errors in words", ERRORS, tested=True),
            PAWS,
        ),
    ),
}

FRACTIONS, FEATURES, FEATURE_DIMS = "fractions", "features", "feature_dims"  # of one dataset
BERTQA_MODELS, SETTINGS = "bertqa1", "settings"
TABLES = (BERTQA_MODELS, *LAYOUTS, FRACTIONS, FEATURES, FEATURE_DIMS, SETTINGS)
