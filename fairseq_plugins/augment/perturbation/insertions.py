"""AddSent, InsertAdv, AppendIrr, AddPunc and TwitterType: inserted words, marks and sentences.

Insertions say nothing that could be wrong or concern the pair: tautologies, sayings, adverbs that
only stress. The lists are our own; TextFlint downloads its own.
"""

import re
import string
from random import Random

from .sentences import Edit, TaggedSentence, appending, as_written, exchanging

TAUTOLOGIES = (
    "A circle is round and a square is not.",
    "The sun is not the moon and the moon is not the sun.",
    "What is done is done.",
    "Today is today and tomorrow is tomorrow.",
    "Red is red and blue is blue.",
    "A day has twenty-four hours.",
    "All that is true is true.",
    "Water is wet and ice is cold.",
)
OPENINGS = (
    "By the way,",
    "To be honest,",
    "As everybody knows,",
    "If you ask me,",
    "For what it is worth,",
    "Strange as it may seem,",
    "To tell the truth,",
    "As they say,",
)
SAYINGS = (
    "Rome was not built in a day.",
    "The early bird catches the worm.",
    "All that glitters is not gold.",
    "Still waters run deep.",
    "Practice makes perfect.",
    "Where there is smoke, there is fire.",
    "Better late than never.",
    "Every cloud has a silver lining.",
    "Look before you leap.",
    "Actions speak louder than words.",
)
ADVERBS = tuple(
    "actually certainly clearly definitely indeed naturally obviously really surely truly "
    "undoubtedly".split()
)
BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'), ("“", "”"), ("【", "】"))
MARKS = ("...", ".", ",", ";", "!", "?!")
CLOSING = ".,;:!?…"
SHORT = dict(  # pyrefly: ignore[no-matching-overload]
    pair.split(":")
    for pair in (
        "you:u your:ur are:r because:bc before:b4 for:4 great:gr8 late:l8 later:l8r people:ppl "
        "please:plz thanks:thx tomorrow:tmrw tonight:2nite with:w/ without:w/o and:& about:abt "
        "between:btwn something:sth someone:sb government:govt years:yrs to:2 too:2 why:y see:c "
        "through:thru though:tho minutes:mins"
    ).split()
)
LOWERED = frozenset("ADP ADV AUX CCONJ DET PART PRON SCONJ".split())
PLURAL = re.compile(r"[^sui]s$")  # after "to" a noun, whatever the tagger says
NO_SUBJECT = frozenset("ADJ ADP ADV DET NUM PUNCT SYM X".split())
CHARACTERS = string.ascii_letters + string.digits


def add_sentence(sentence: TaggedSentence, random: Random) -> list[Edit]:
    """Append a sentence that is always true.

    TextFlint's AddSent always adds the same sentence, by its description to the premise, in its
    code to the hypothesis.
    """
    return [appending(sentence.text, random.choice(TAUTOLOGIES))]


def add_irrelevant(sentence: TaggedSentence, random: Random) -> list[Edit]:
    """Begin with a phrase and end with a saying, both unrelated to the sentence."""
    opening, saying = random.choice(OPENINGS), random.choice(SAYINGS)
    start = len(sentence.text) - len(sentence.text.lstrip())
    put, last = f"{as_written(opening, sentence.text)} ", start
    first = sentence.words[0] if sentence.words else ""
    if sentence.part(0) in LOWERED and first[:1].isupper() and first not in ("I", "I'm"):
        put, last = put + first[0].lower(), start + 1
    return [Edit(start, last, put, f"+ {opening}"), appending(sentence.text, saying)]


def add_adverbs(sentence: TaggedSentence, random: Random) -> list[Edit]:
    """Add an adverb before every verb with a subject.

    TextFlint takes all forms of verbs, including auxiliaries.
    """
    edits = []
    for i, (first, _) in enumerate(sentence.spans):
        if is_predicate(sentence, i):
            adverb = random.choice(ADVERBS)
            edits.append(Edit(first, first, f"{adverb} ", f"+ {adverb} {sentence.words[i]}"))
    return edits


def is_predicate(sentence: TaggedSentence, i: int) -> bool:
    """Return whether an adverb can precede a word: a verb, not at the start, not a modifier.

    A form in ``-ing`` needs an auxiliary before it; nothing is added after another adverb or
    ``not``, whose meaning would change.
    """
    first, before = sentence.spans[i][0], sentence.part(i - 1)
    if sentence.upos[i] != "VERB" or i == 0 or not sentence.text[first - 1].isspace():
        return False
    if not sentence.words[i].isalpha() or before in NO_SUBJECT:
        return False
    if before == "PART" and (sentence.lower(i - 1) != "to" or PLURAL.search(sentence.lower(i))):
        return False
    auxiliary = "AUX" in (before, sentence.part(i - 2))
    return auxiliary or not sentence.lower(i).endswith("ing")


def add_punctuation(sentence: TaggedSentence, random: Random) -> list[Edit]:
    """End the sentence with another mark, and add brackets or quotation marks around it."""
    text, (left, right), mark = sentence.text, random.choice(BRACKETS), random.choice(MARKS)
    start = len(text) - len(text.lstrip())
    end = max(start, len(text.rstrip().rstrip(CLOSING).rstrip()))
    blank = " " if as_written(".", text) != "." else ""
    return [
        Edit(start, start, left + blank, f"{left} … {mark} {right}"),
        Edit(end, len(text.rstrip()) if text.strip() else end, blank + mark + blank + right),
    ]


def add_twitter(sentence: TaggedSentence, random: Random) -> list[Edit]:
    """Shorten words as in short messages, and add a mention, an address or a hashtag."""
    edits = exchanging(sentence, lambda word: SHORT.get(word.lower()))
    added, text = _tag(sentence, random), sentence.text
    if random.random() < 0.5:
        place, put = len(text) - len(text.lstrip()), f"{added} "
    else:
        place, put = len(text.rstrip()), f" {added}"
    return [*edits, Edit(place, place, put, f"+ {added}")]


def _tag(sentence: TaggedSentence, random: Random) -> str:
    """Return a mention, an address that leads nowhere, or a hashtag of one of the nouns."""
    nouns = [
        word
        for word, part in zip(sentence.words, sentence.upos)
        if part in ("NOUN", "PROPN") and word.isalpha() and len(word) > 2
    ]
    kind = random.choice(("@", "#", "https") if nouns else ("@", "https"))
    if kind == "#":
        return f"#{random.choice(nouns).lower()}"
    letters = "".join(random.choices(CHARACTERS, k=random.randint(4, 9)))
    return f"@{letters}" if kind == "@" else f"https://{letters.lower()}.example/{letters[::-1]}"
