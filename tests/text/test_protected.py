"""Protected spans: what is found, how it passes through words and subwords, and how it returns."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.text import protected
from fairseq_plugins.text.protected import (
    PLACES,
    READY,
    ProtectedSegmenter,
    Protection,
    misfits,
    reader,
    restored,
    with_spans,
    words_of,
)
from fairseq_plugins.text.raw_text import detokenize
from fairseq_plugins.text.segment import (
    BpeSegmenter,
    SentencePieceSegmenter,
    WordSegmenter,
    learn_codes,
    learn_sentencepiece,
)
from fairseq_plugins.text.source_encoder import annotate_lines

URL = "https://example.com/a?b=c&d=1"
FOUND = [
    ("urls", f"See {URL}.", [URL]),
    (
        "urls",
        "(https://de.wikipedia.org/wiki/A_(b)), www.x.de!",
        ["https://de.wikipedia.org/wiki/A_(b)", "www.x.de"],
    ),
    ("emails", "an a.b+c@d-e.co.uk, nicht a@b", ["a.b+c@d-e.co.uk"]),
    (
        "placeholders",
        "{name} {{x}} ${y} %s %(n)d %1$s 50 %strong",
        ["{name}", "{{x}}", "${y}", "%s", "%(n)d", "%1$s"],
    ),
    ("tags", "<2de> a < b <b>c</b>", ["<2de>", "<b>", "</b>"]),
    (" urls, emails ", "a@b.de http://c", ["a@b.de", "http://c"]),
    (r"urls, /\d{2,}/", "12 www.a.de/34 5", ["12", "www.a.de/34"]),
    (r"/[A-Z]{2,}/", "ABC d EF", ["ABC", "EF"]),
    ("urls", "text <p0> <p3=x>", ["<p0>", "<p3=x>"]),
]


@pytest.mark.parametrize(("asked", "line", "spans"), FOUND)
def test_patterns_find_their_spans(asked, line, spans) -> None:
    protection = Protection.asked(asked)
    assert [*protection.take(line).spans] == spans
    assert Protection.recorded(protection.as_json()) == protection


def test_a_file_has_terms_and_patterns(tmp_path) -> None:
    path = tmp_path / "terms"
    path.write_text("\n")
    with pytest.raises(InputError, match="terms has no term and no pattern"):
        Protection.asked(f"urls,{path}")
    path.write_text("New York\nNew York City\n\nC++\n<2de>\nart\n/§ ?\\d+/\n")
    asked = Protection.asked(f"{path}, urls")
    assert repr(asked) == "urls; 1 pattern; 5 terms"
    found = asked.take("New York City, party art C++ x<2de>§ 5 New York")
    assert found.spans == ("New York City", "art", "C++", "<2de>", "§ 5", "New York")


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("/(/", "no regular expression"),
        ("/a*/", "matches nothing"),
        (r"/\b/", "matches nothing"),
        (r"/\s+/", "matches nothing at all, or blanks"),
        ("/(?R)a|a/", "calls a group"),
        ("/((a{1000}){1000}){1000}/", "repeats too much"),
        ("/(a{40}){40}/", "repeats too much"),
        (f"/{'a' * 1001}/", "too long"),
        (f"/{'(' * 500}/", "no regular expression"),
        ("urls,/[/", "no regular expression"),
        ("urls,termz.txt", "'termz.txt' is no file, and none of urls, emails"),
        ("termz.txt,urls", "'termz.txt' is no file"),
        ("url", "'url' is no file"),
        ("urls,", "'' is no file"),
        (r"/\d+/,urls", "stands last"),
        (r"/tmp/termz.txt,/\d+/", "several patterns or files"),
    ],
)
def test_a_bad_pattern_is_one_error(asked, reason) -> None:
    with pytest.raises(InputError, match=reason) as error:
        Protection.asked(asked)
    assert str(error.value).startswith("--protect")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("entry", [[], {"patterns": []}, {"patterns": "a", "terms": []}, 3])
def test_a_manifest_of_elsewhere_is_checked(entry) -> None:
    with pytest.raises(InputError, match="for 'protect'"):
        Protection.recorded(entry)


def test_the_number_of_patterns_and_terms_is_limited() -> None:
    numbers = tuple(map(str, range(10_001)))
    assert len(Protection(terms=numbers[1:]).terms) == 10_000
    for given, reason in (((numbers[:101],), "101 patterns"), (((), numbers), "10,001 terms")):
        with pytest.raises(InputError, match=reason):
            Protection(*given)


def test_a_pattern_that_never_ends_is_stopped(monkeypatch) -> None:
    monkeypatch.setattr(protected, "SECONDS", 0.2)
    begun = time.monotonic()
    with pytest.raises(InputError, match="takes more than 0.2 seconds"):
        Protection(("(a|aa)+$",)).take("a" * 20_000 + "b")
    assert time.monotonic() - begun < 20


def test_ready_patterns_are_linear() -> None:
    runs = ["a", "(", "http://", "www.", "a@", "a.", "<a", "{", "%(", "%1$", "a-", "http://("]
    protection = Protection(tuple(READY.values()))
    for run in runs:
        protection.take(run * (100_000 // len(run)) + "\x01")  # has a limit of its own


def test_a_target_has_the_numbers_of_its_source() -> None:
    protection = Protection.asked("urls")
    source = protection.take("www.a.de www.b.de www.a.de")
    assert source.spans == ("www.a.de", "www.b.de", "www.a.de")
    target = protection.take("www.b.de www.a.de www.c.de www.a.de www.a.de", source.spans)
    assert (sorted(protected.numbers_in(target.text)), target.left) == ([0, 1, 2], 2)
    assert target.text.split()[2::2] == ["www.c.de", "www.a.de"]
    assert protection.take("www.a.de \ufdd1").text == " \ufdd1  \ufffd"
    many = protection.take(" ".join(f"www.{i}.de" for i in range(12)))
    assert (len(many.spans), many.left) == (len(PLACES), 2)


@pytest.fixture(scope="module")
def segmenters(tmp_path_factory):
    folder, text = tmp_path_factory.mktemp("models"), ["see ( this ) , the page & that ."] * 9
    (folder / "codes").write_text(learn_codes(Counter(text[0].split() * 2), 10), encoding="utf-8")
    (folder / "pieces").write_bytes(learn_sentencepiece(text, 40, 100))
    return {
        "subword_nmt": BpeSegmenter(folder / "codes"),
        "sentencepiece": SentencePieceSegmenter(folder / "pieces"),
        "none": WordSegmenter(),
    }


WAYS = [("moses", "subword_nmt"), ("moses", "none"), ("none", "sentencepiece")]
WAYS += [("moses", "sentencepiece"), ("pretokenized", "subword_nmt")]
LINES = [f"{URL}", f"See ({URL}), and {URL}/b.", f"the '{URL}' & that <p0>", "the page."]


@pytest.mark.parametrize(("tokenizer", "subwords"), WAYS)
@pytest.mark.parametrize("line", LINES)
def test_spans_return_unchanged_from_words_and_subwords(
    tokenizer, subwords, line, segmenters
) -> None:
    how = {"tokenizer": tokenizer, "normalizer": "none", "subwords": subwords}
    if tokenizer == "pretokenized":  # the words of the last test
        line = line.replace("(", "( ").replace(")", " )").replace(", ", " , ")
    taken = reader(how, "en", Protection.asked("urls"))(line)
    segmenter = ProtectedSegmenter(segmenters[subwords], marks=subwords == "sentencepiece")
    found, spans = segmenter.segment(taken.text)
    assert [one for one in found if one in PLACES] == [*PLACES[: len(taken.spans)]]
    assert len(found) == len(spans)
    assert spans == sorted(spans)
    assert all(end - begin == 1 for one, (begin, end) in zip(found, spans) if one in PLACES)
    tokens, numbers = with_spans(found, taken.spans)
    assert misfits(taken.spans, numbers) == []
    text = restored(detokenize(segmenter.join(" ".join(tokens)), tokenizer, "en"))
    expected = line
    if tokenizer == "pretokenized":
        expected = detokenize(line, "none", "en").replace("( ", "(").replace(" )", ")")
        text, expected = text.replace(" ", ""), expected.replace(" ", "")
    assert text.replace("See", "see") == expected.replace("See", "see")


def test_tags_in_words_keep_their_blanks_without_a_tokeniser(segmenters) -> None:
    how = {"tokenizer": "none", "normalizer": "none", "subwords": "sentencepiece"}
    taken = reader(how, "en", Protection.asked("tags"))(line := "see <b>the</b> page<br>.")
    segmenter = ProtectedSegmenter(segmenters["sentencepiece"], marks=True)
    tokens, _ = with_spans(segmenter.segment(taken.text)[0], taken.spans)
    assert restored(segmenter.join(" ".join(tokens))) == line


def test_text_that_looks_like_a_place_is_no_place(segmenters) -> None:
    """Of a target without such a text in its source."""
    assert ProtectedSegmenter(segmenters["none"], marks=False).segment("a <p0>")[0] == [
        "a",
        "<unk>",
    ]


def test_annotators_read_protected_words_in_full() -> None:
    class Reading:
        def annotate_words(self, sentences):
            self.seen = sentences
            return [protected_note(words) for words in sentences]

    def protected_note(words):
        from fairseq_plugins.syntax.annotation import Annotation

        return Annotation([*words], {"pos": ["X"] * len(words)})

    annotator, how = Reading(), {"tokenizer": "moses", "normalizer": "none", "subwords": "none"}
    taken = reader(how, "en", Protection.asked("/New York/"))("See New York.")
    (line,) = annotate_lines([taken], "moses", annotator)
    assert annotator.seen == [["See", "New York", "."]] == [line.words]
    assert len(line.spans) == len(line.layers["pos"]) == 3
    assert line.protected == ("New York",)


def test_missing_doubled_and_invented_spans_are_named() -> None:
    given = ["<p8>", "<p7>", "a", "<p0>", "<p0>", "<p7>", "b"]
    tokens, found = with_spans(given, ["x y", "z"])
    assert restored(" ".join(tokens)) == "a x y x y b"
    assert misfits(["x y", "z"], found) == [
        "<p1> ('z') is missing",
        "<p0> ('x y') stands there 2 times",
        "<p7> is not in the source, and left out",
        "<p8> is not in the source, and left out",
    ]


def test_nothing_changes_without_protection() -> None:
    how = {"tokenizer": "moses", "normalizer": "none", "subwords": "none"}
    found = reader(how, "en", None)(f"See {URL}.")
    assert found.spans == ()
    assert len(found.text.split()) > 8
    assert words_of("a &amp; b", ()) == ["a", "&", "b"]
