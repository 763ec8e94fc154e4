"""Translation figures against a slow twin, and the relations that hold between them."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation import sacrebleu_sets
from fairseq_plugins.evaluation.generate_log import load, read_sentences
from fairseq_plugins.evaluation.score_report import format_report, score_files
from fairseq_plugins.evaluation.significance import paired_bootstrap
from fairseq_plugins.evaluation.translation import (
    TEST_SETS,
    Corpus,
    TextForm,
    check_equal_counts,
    looks_tokenized,
    prepare,
    remove_subwords,
    score,
    split_compounds,
    token_bleu,
)
from fairseq_plugins.files import write_text

REFERENCE = [
    "Der kleine Hund jagt den roten Ball durch den Garten.",
    "Sie liest, während er das Radio-Gerät repariert.",
    "Ein Mann mit Hut steht vor dem alten Haus.",
    "Die Kinder spielen heute draußen im Schnee.",
]
TOKENS = [
    "Der kleine Hund jagt den roten Ball durch den Garten .",
    "Sie liest , während er das Radio-Gerät repariert .",
    "Ein Mann mit Hut steht vor dem alten Haus .",
    "Die Kinder spielen heute draußen im Schnee .",
]
GOOD = [line.replace("alten", "neuen") for line in REFERENCE]
BAD = ["Der Hund den Ball im Garten.", *GOOD[1:3], "Kinder im Schnee heute."]


def slow_bleu(system: list[str], reference: list[str]) -> float:
    """BLEU over white-space tokens with plain loops, unsmoothed, as multi-bleu.perl defines it."""
    right, total, length, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, gold in zip(system, reference):
        h, g = hypothesis.split(), gold.split()
        length, wanted = length + len(h), wanted + len(g)
        for n in range(4):
            grams = Counter(tuple(h[i : i + n + 1]) for i in range(len(h) - n))
            golds = Counter(tuple(g[i : i + n + 1]) for i in range(len(g) - n))
            total[n] += sum(grams.values())
            right[n] += sum(min(count, golds[gram]) for gram, count in grams.items())
    if min(right) == 0:
        return 0.0
    logs = sum(math.log(r / t) for r, t in zip(right, total)) / 4
    return 100 * math.exp(min(0.0, 1 - wanted / length) + logs)


def corpus(lines: list[str], name: str = "sys", **options: str) -> Corpus:
    """Prepare German lines."""
    return prepare(name, lines, TextForm("de", **options))


def test_perfect_output_scores_100_everywhere_and_worse_output_less() -> None:
    perfect = score(corpus(REFERENCE), corpus(REFERENCE), lang="de").figures
    good = score(corpus(GOOD), corpus(REFERENCE), lang="de").figures
    bad = score(corpus(BAD), corpus(REFERENCE), lang="de").figures
    errors = [one.pop("ter") for one in (perfect, good, bad)]
    assert 0 == errors[0] < errors[1] < errors[2]
    for name in perfect:
        assert perfect[name] == pytest.approx(100.0)
        assert bad[name] < good[name] < 100.0


def test_headline_figures_are_sacrebleus_own() -> None:
    scores = score(corpus(BAD), corpus(REFERENCE), lang="de")
    assert scores.figures["bleu"] == sacrebleu.corpus_bleu(BAD, [REFERENCE]).score
    assert scores.figures["chrf"] == sacrebleu.corpus_chrf(BAD, [REFERENCE]).score
    assert scores.figures["ter"] == sacrebleu.corpus_ter(BAD, [REFERENCE]).score
    assert "tok:13a" in scores.signatures["bleu"]
    assert "tok:none" in scores.signatures["tokenized_bleu"]
    assert scores.sentences == len(BAD)


words = st.lists(st.sampled_from("der Hund hund rot ein- , .".split()), max_size=9).map(" ".join)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=6))
def test_token_bleu_equals_the_slow_twin(pairs: list[tuple[str, str]]) -> None:
    system, reference = (list(side) for side in zip(*pairs))
    ours = token_bleu().corpus_score(system, [reference]).score
    assert ours == pytest.approx(slow_bleu(system, reference), abs=1e-9)


def test_token_bleu_minds_case() -> None:
    lower = [line.lower() for line in TOKENS]
    assert token_bleu().corpus_score(lower, [TOKENS]).score < 100


def test_compounds_are_split_at_inner_hyphens_only() -> None:
    assert split_compounds("rich-text format - a -b c-") == (
        "rich ##AT##-##AT## text format - a -b c-"
    )
    assert split_compounds("Radio @-@ Gerät") == "Radio ##AT##-##AT## Gerät"
    assert split_compounds("ohne") == "ohne"
    assert split_compounds(split_compounds("Radio-Gerät")) == split_compounds("Radio-Gerät")
    assert corpus(["das Radio ##AT##-##AT## Gerät ."]).text == ["das Radio-Gerät."]


def test_compound_split_figure_differs_exactly_when_there_are_hyphens() -> None:
    with_hyphen = score(corpus(BAD), corpus(REFERENCE), lang="de").figures
    assert with_hyphen["compound_split_bleu"] != with_hyphen["tokenized_bleu"]
    plain = [line.replace("-", "") for line in REFERENCE]
    without = score(corpus([s.replace("-", "") for s in BAD]), corpus(plain), lang="de").figures
    assert without["compound_split_bleu"] == without["tokenized_bleu"]


def test_figures_do_not_depend_on_the_form_of_the_text() -> None:
    """Plain, tokenised, BPE and sentencepiece forms of one output score alike."""
    plain = score(corpus(REFERENCE[:1] + GOOD[1:]), corpus(REFERENCE), lang="de").figures
    tokens = TOKENS[:1] + [line.replace("alten", "neuen") for line in TOKENS[1:]]
    bpe = [line.replace("kleine", "klei@@ ne").replace("Garten", "Gar@@ ten") for line in tokens]
    pieces = [
        " ".join("\u2581" + word for word in line.split()).replace("Schn", "Schn ")
        for line in REFERENCE[:1] + GOOD[1:]
    ]
    for form in (tokens, bpe, pieces):
        assert score(corpus(form), corpus(REFERENCE), lang="de").figures == plain
    assert score(corpus(bpe), corpus(TOKENS), lang="de").figures == pytest.approx(plain)


def test_marks_left_in_are_seen_in_the_figures() -> None:
    bpe = [line.replace("kleine", "klei@@ ne") for line in TOKENS]
    kept = score(corpus(bpe, subwords="none"), corpus(REFERENCE), lang="de").figures
    assert kept["bleu"] < 100
    as_they_are = score(corpus(TOKENS, tokenized="no"), corpus(REFERENCE), lang="de").figures
    assert as_they_are["chrf"] == pytest.approx(100)  # chrF ignores spaces
    assert corpus(TOKENS, tokenized="no").text == TOKENS


def test_moses_entities_are_undone() -> None:
    escaped = corpus(["Tom &amp; Jerry &apos;s &quot; Film &quot; &#91; 1 &#93; ."])
    assert escaped.text == ['Tom & Jerry \'s "Film" [1].']
    assert escaped.tokens == ['Tom & Jerry \'s " Film " [ 1 ] .']


def test_subword_marks_are_removed_only_where_they_are() -> None:
    assert remove_subwords(["a@@ b c@@", "d"]) == ["ab c", "d"]
    assert remove_subwords(["\u2581Der \u2581Ho f ."]) == ["Der Hof."]
    assert remove_subwords(["mail@example.org  x"]) == ["mail@example.org  x"]
    assert remove_subwords(["a@@ b"], "none") == ["a@@ b"]
    with pytest.raises(InputError, match="choose from auto, bpe"):
        remove_subwords(["a"], "wordpiece")


def test_tokens_are_recognised_by_their_look() -> None:
    assert looks_tokenized(TOKENS)
    assert not looks_tokenized(REFERENCE)
    assert not looks_tokenized(["ja", ""])
    with pytest.raises(InputError, match="tokenized: unknown value 'maybe'"):
        corpus(TOKENS, tokenized="maybe")


def test_unequal_counts_and_nothing_to_score_are_refused() -> None:
    with pytest.raises(InputError, match=r"a\.txt has 1, .*b\.txt has 1,000"):
        check_equal_counts(("a.txt", ["x"]), ("b.txt", ["x"] * 1000))
    with pytest.raises(InputError, match="sys has 3, ref has 4"):
        score(corpus(GOOD[:3]), corpus(REFERENCE, "ref"), lang="de")
    with pytest.raises(InputError, match="no sentences"):
        score(corpus([]), corpus([], "ref"), lang="de")


def test_newstest_variants_are_named_by_size() -> None:
    assert "filtered" in TEST_SETS[2737]
    assert "wmt14/full" in TEST_SETS[3003]


def test_paired_bootstrap_is_seeded_and_tells_unlike_from_like() -> None:
    gold = corpus(REFERENCE * 10, "ref")
    good, bad = corpus(GOOD * 10, "good"), corpus(BAD * 10, "bad")
    twin = corpus(GOOD * 10, "twin")
    run = paired_bootstrap([bad, good], gold, lang="de", samples=100, seed=7)
    assert run == paired_bootstrap([bad, good], gold, lang="de", samples=100, seed=7)
    assert run != paired_bootstrap([bad, good], gold, lang="de", samples=100, seed=8)
    assert {item.metric for item in run} == {"bleu", "chrf"}
    assert all(item.p_value < 0.05 and item.difference > 0 for item in run)
    assert (run[0].seed, run[0].samples) == (7, 100)
    theirs = BLEU(trg_lang="de").corpus_score(GOOD * 10, [REFERENCE * 10]).score
    assert run[0].score == pytest.approx(theirs)
    assert all(item.low <= item.difference <= item.high for item in run)
    same = paired_bootstrap([good, twin], gold, lang="de", samples=100)
    assert all(item.difference == 0 and item.p_value == 1 for item in same)


def test_paired_bootstrap_refuses_what_it_cannot_compare() -> None:
    gold, good = corpus(REFERENCE, "ref"), corpus(GOOD, "good")
    with pytest.raises(InputError, match="at least two"):
        paired_bootstrap([good], gold, lang="de")
    with pytest.raises(InputError, match="named twice"):
        paired_bootstrap([good, good], gold, lang="de")
    with pytest.raises(InputError, match="seed -1"):
        paired_bootstrap([good, corpus(BAD, "bad")], gold, lang="de", seed=-1)
    pair = [corpus(text[:1], name) for text, name in ((BAD, "bad"), (GOOD, "good"))]
    with pytest.raises(InputError, match="at least two sentences"):  # any difference looks certain
        paired_bootstrap(pair, corpus(REFERENCE[:1], "gold"), lang="de")


def write_log(path, hypotheses: list[str], targets: list[str]) -> None:
    lines = []
    for i in reversed(range(len(targets))):
        lines += [f"S-{i}\tsrc {i}", f"T-{i}\t{targets[i]}", f"H-{i}\t-1.0\t{hypotheses[i]}"]
        lines += [f"D-{i}\t-1.0\t{hypotheses[i]}"]
    write_text(path, "".join(f"{line}\n" for line in lines))


def test_log_and_plain_file_score_alike_and_are_all_counted(tmp_path) -> None:
    write_log(tmp_path / "gen.log", BAD, REFERENCE)
    write_text(tmp_path / "sys.txt", "".join(f"{line}\n" for line in BAD))
    write_text(tmp_path / "ref.txt", "".join(f"{line}\n" for line in REFERENCE))
    files = [tmp_path / "gen.log", tmp_path / "sys.txt"]
    report = score_files(files, [tmp_path / "ref.txt"], TextForm("de"), paired=True, samples=50)
    from_log, from_text = report.systems
    assert from_log.figures == from_text.figures
    assert report.sentences == from_log.sentences == from_text.sentences == 4
    stored = json.loads(report.as_json())
    assert stored["systems"][0]["figures"] == from_log.figures
    assert len(stored["paired"]) == 2
    text = format_report(report)
    assert all(signature in text for signature in from_log.signatures.values())


def test_target_lines_are_the_references_if_none_are_given(tmp_path) -> None:
    write_log(tmp_path / "a.log", BAD, REFERENCE[:3] + ["ein <<unk>> mehr"])
    report = score_files([tmp_path / "a.log"], [], TextForm("de"))
    assert report.reference == f"T- lines of {tmp_path / 'a.log'}"
    assert any("<<unk>>" in note for note in report.notes)
    write_log(tmp_path / "b.log", BAD, REFERENCE[:3] + ["anders"])
    with pytest.raises(InputError, match="differ from .* at sentence 3"):
        load([tmp_path / "a.log", tmp_path / "b.log"], [], TextForm("de"))
    write_text(tmp_path / "plain.txt", "ja\n")
    with pytest.raises(InputError, match="has no references"):
        load([tmp_path / "plain.txt"], [], TextForm("de"))


def test_form_of_a_log_shows_in_its_references_if_not_in_its_hypotheses(tmp_path) -> None:
    """A poor system without any punctuation is detokenised like a good one."""
    hypotheses = ["Tom @-@ Tom", "der &amp; die", "das da@@ s", "die"]
    write_log(tmp_path / "poor.log", hypotheses, TOKENS)
    inputs = load([tmp_path / "poor.log"], [], TextForm("de"))
    assert inputs.systems[0].text == ["Tom-Tom", "der & die", "das das", "die"]
    write_log(tmp_path / "poorer.log", ["der", "die", "das", "die"], TOKENS)
    inputs = load([tmp_path / "poorer.log"], [], TextForm("de"))
    assert inputs.systems[0].tokens is not None
    write_text(tmp_path / "poorer.txt", "der\ndie\ndas\ndie\n")
    alone = load([tmp_path / "poorer.txt"], [tmp_path / "poorer.txt"], TextForm("de"))
    assert alone.systems[0].tokens is None


def test_several_references_are_those_of_sacrebleu(tmp_path) -> None:
    other = [line.replace("kleine", "junge") for line in GOOD]
    for name, lines in {"a.txt": REFERENCE, "b.txt": other, "sys.txt": BAD}.items():
        write_text(tmp_path / name, "".join(f"{line}\n" for line in lines))
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    report = score_files([tmp_path / "sys.txt"], files, TextForm("de"))
    found = report.systems[0]
    for name in ("bleu", "chrf", "ter"):
        theirs = getattr(sacrebleu, f"corpus_{name}")(BAD, [REFERENCE, other]).score
        assert (
            found.figures[name]
            == theirs
            != score(corpus(BAD), corpus(REFERENCE), lang="de").figures[name]
        )
    assert "nrefs:2" in found.signatures["bleu"]
    assert report.reference == f"{files[0]}, {files[1]}"
    gold = load([tmp_path / "sys.txt"], files, TextForm("de")).reference
    (paired,) = paired_bootstrap(
        [corpus(BAD, "bad"), corpus(GOOD, "good")], gold, lang="de", samples=20, names=["bleu"]
    )
    assert paired.score == sacrebleu.corpus_bleu(GOOD, [REFERENCE, other]).score
    write_text(tmp_path / "b.txt", "eins\n")
    with pytest.raises(InputError, match=r"has 4, .*b\.txt has 1"):
        load([tmp_path / "sys.txt"], files, TextForm("de"))


def test_sgml_is_read_by_its_segments(tmp_path) -> None:
    rows = [f'<seg id="{k}"> {line}\n </seg>' for k, line in enumerate(REFERENCE)]
    write_text(tmp_path / "ref.sgm", "\n".join(['<refset trglang="de">', *rows, "</refset>"]))
    assert read_sentences(tmp_path / "ref.sgm") == REFERENCE
    write_text(tmp_path / "ref.sgm", "<doc>\n")
    with pytest.raises(InputError, match=r"ref\.sgm: no whole segments"):
        read_sentences(tmp_path / "ref.sgm")


def test_test_sets_of_sacrebleu_are_read_where_they_are_on_disk(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sacrebleu_sets, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(sacrebleu_sets.DATASETS["wmt14"], "_outdir", str(tmp_path / "wmt14"))
    with pytest.raises(FileNotFoundError, match="sacrebleu -t wmt14 -l en-de --echo ref"):
        sacrebleu_sets.test_set_files("wmt14", "en-de")
    for field in ("src", "ref", "docid", "genre", "origlang"):
        (tmp_path / "wmt14").mkdir(exist_ok=True)
        write_text(tmp_path / f"wmt14/wmt14.en-de.{field}", f"{field}\n")
    source, (found,) = sacrebleu_sets.test_set_files("wmt14", "en-de")
    assert (read_sentences(source), read_sentences(found)) == (["src"], ["ref"])
    with pytest.raises(InputError, match="no test set 'wmt1'"):
        sacrebleu_sets.test_set_files("wmt1", "en-de")
    with pytest.raises(InputError, match="wmt14 has no pair 'de-xx'; choices: cs-en"):
        sacrebleu_sets.test_set_files("wmt14", "de-xx")


def test_unequal_files_are_both_named(tmp_path) -> None:
    write_text(tmp_path / "sys.txt", "eins\nzwei\n")
    write_text(tmp_path / "ref.txt", "eins\n")
    with pytest.raises(InputError, match=r"sys\.txt has 2, .*ref\.txt has 1"):
        load([tmp_path / "sys.txt"], [tmp_path / "ref.txt"], TextForm("de"))
