"""The official forms of the datasets' files: names, headers and rows."""

from __future__ import annotations

# dataset -> split -> (file, header, row): {i} number, {a} {b} sentences, {label} gold label
_GLUE_PAIR = ("index\tsentence1\tsentence2\tlabel", "{i}\t{a}\t{b}\t{label}")
_GLUE_TEST = ("index\tsentence1\tsentence2", "{i}\t{a}\t{b}")
_STS = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2"
_STS_ROW = "{i}\tmain-news\tMade\t2099\t{i}\tnone\tnone\t{a}\t{b}"
_MNLI = (
    "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\t"
    "sentence1_parse\tsentence2_parse\tsentence1\tsentence2"
)
_MNLI_ROW = "{i}\t9{i}\t9{i}n\tfiction\t( x )\t( y )\t(X x)\t(Y y)\t{a}\t{b}"
_MNLI_DEV = (
    _MNLI + "".join(f"\tlabel{k}" for k in range(1, 6)) + "\tgold_label",
    _MNLI_ROW + "\tneutral" * 5 + "\t{label}",
)
_QUORA = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"
_MRPC = "#1 ID\t#2 ID\t#1 String\t#2 String"
_SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\t"
    "entailment_BA\tsentence_A_original\tsentence_B_original\tsentence_A_dataset\t"
    "sentence_B_dataset\tSemEval_set"
)
_SICK_ROW = "{i}\t{a}\t{b}\tLABEL\tSCORE\tAB\tBA\t{b}\t{a}\tFLICKR\tFLICKR\t{set}"
SPLITS = (("train", "train"), ("valid", "dev"), ("test", "test"))


def _same(folder: str, header: str, row: str, test: tuple[str, str] | None = None) -> dict:
    """Name the three files of a folder; the test file may have other columns."""
    made = {split: (f"{folder}{name}.tsv", header, row) for split, name in SPLITS}
    return made if test is None else made | {"test": (f"{folder}test.tsv", *test)}


TABLES: dict[str, dict[str, tuple[str, str, str]]] = {
    "cola": _same("CoLA/", "", "xy99\t{label}\t*\t{a}", ("index\tsentence", "{i}\t{a}")),
    "sst2": _same("", "sentence\tlabel", "{a}\t{label}", ("index\tsentence", "{i}\t{a}")),
    "mrpc": _same(
        "MRPC/",
        f"\ufeffQuality\t{_MRPC}",
        "{label}\t1{i}\t2{i}\t{a}\t{b}",
        (f"\ufeffindex\t{_MRPC}", "{i}\t1{i}\t2{i}\t{a}\t{b}"),
    ),
    "sts_b": _same("", f"{_STS}\tscore", _STS_ROW + "\t{label}", (_STS, _STS_ROW)),
    "qqp": _same(
        "",
        _QUORA,
        "{i}\t1{i}\t2{i}\t{a}\t{b}\t{label}",
        ("id\tquestion1\tquestion2", "{i}\t{a}\t{b}"),
    ),
    "mnli": {
        "train": ("MNLI/train.tsv", f"{_MNLI}\tlabel1\tgold_label", _MNLI_ROW + "\tx\t{label}"),
        "valid": ("MNLI/dev_matched.tsv", *_MNLI_DEV),
        "valid_mismatched": ("MNLI/dev_mismatched.tsv", *_MNLI_DEV),
        "test": ("MNLI/test_matched.tsv", _MNLI, _MNLI_ROW),
        "test_mismatched": ("MNLI/test_mismatched.tsv", _MNLI, _MNLI_ROW),
        "ax": ("diagnostic/diagnostic.tsv", *_GLUE_TEST),
    },
    "qnli": _same(
        "QNLI/",
        "index\tquestion\tsentence\tlabel",
        "{i}\t{a}\t{b}\t{label}",
        ("index\tquestion\tsentence", "{i}\t{a}\t{b}"),
    ),
    "rte": _same("RTE/", *_GLUE_PAIR, _GLUE_TEST),
    "wnli": _same("", *_GLUE_PAIR, _GLUE_TEST),
    "ax": {
        "test": (
            "diagnostic-full.tsv",
            "Lexical Semantics\tPredicate-Argument Structure\tLogic\tKnowledge\tDomain\tPremise\t"
            "Hypothesis\tLabel",
            "\t\tNegation\t\tMade\t{a}\t{b}\t{label}",
        )
    },
    "sick": {
        split: (
            "SICK/SICK.txt",
            _SICK,
            _SICK_ROW.replace("LABEL", "{label}").replace("{set}", name),
        )
        for split, name in (("train", "TRAIN"), ("valid", "TRIAL"), ("test", "TEST"))
    },
    "sick_r": {
        split: (
            f"SICK_{name}.txt",
            "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
            "{i}\t{a}\t{b}\t{label}\tNEUTRAL",
        )
        for split, name in (("train", "train"), ("valid", "trial"), ("test", "test_annotated"))
    },
    "scitail": {
        split: (f"tsv_format/scitail_1.0_{name}.tsv", "", "{a}\t{b}\t{label}")
        for split, name in SPLITS
    },
    "twitter_url": {
        split: (
            f"Twitter_URL_Corpus_{name}.txt",
            "",
            "{a}\t{b}\t({votes}, 6)\thttp://x.invalid/{i}",
        )
        for split, name in (("train", "train"), ("test", "test"))
    },
    "paws_wiki": _same("final/", "id\tsentence1\tsentence2\tlabel", "{i}\t{a}\t{b}\t{label}"),
    "chnsenticorp": _same("", "label\ttext_a", "{label}\t{a}")
    | {"valid": ("dev.tsv", "qid\tlabel\ttext_a", "{i}\t{label}\t{a}")},
    "plain": _same("", "n\ttext\tlabel", "{i}\t{a}\t{label}", ("text", "{a}")),
    "plain_scores": _same("", "label\ttext", "{label}\t{a}"),
    "plain_labels": _same("", "label\ttext", "{label}\t{a}"),
}
TOKENS = {
    "conll2003": {"train": "eng.train", "valid": "eng.testa", "test": "eng.testb"},
    "wnut17": {
        "train": "wnut17train.conll",
        "valid": "emerging.dev.conll",
        "test": "emerging.test.annotated",
    },
    "germeval14": {split: f"NER-de-{name}.tsv" for split, name in SPLITS},
    "msra_ner": {"train": "msra_train_bio.txt", "test": "msra_test_bio.txt"},
    "fce": {split: f"tsv/fce-public.{name}.original.tsv" for split, name in SPLITS},
    "fce_typed": {split: f"m2/fce.{name}.gold.bea19.m2" for split, name in SPLITS},
    "falko_merlin": {
        "train": "de_falko-merlin_train.tsv",
        "valid": "de_falko-merlin_dev.tsv",
        "test": "fm-test.m2",
    },
    "tokens": {"train": "train.conll", "valid": "dev.conll", "test": "test.conll"},
    "token_errors": {"train": "train.m2", "valid": "dev.m2", "test": "test.tsv"},
}
