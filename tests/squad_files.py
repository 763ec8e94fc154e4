"""SQuAD files for tests: their official format with invented content.

The toy facts read "Mara built the old mill in Lund in 1912." Questions ask who, where or when; a
third of them ask about a person or thing that the paragraph does not mention.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PEOPLE = "Mara Tomas Ilse Pavel Nadia Otto Greta Ruben".split()
DEEDS = {"built": "build", "painted": "paint", "sold": "sell", "found": "find"}
THINGS = "mill bridge boat clock garden tower".split()
PLACES = "Lund Riga Porto Bergen Gent Turin".split()
YEARS = [str(year) for year in range(1901, 1913)]
_OTHER = "Who Where When did the in old red . ? ,".split()
_SPECIALS = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

Answer = str | tuple[str, int]


def question(id: str, text: str, *answers: Answer, gold: bool = True) -> dict[str, Any]:
    """Make a question.

    Args:
        id: its name.
        text: what is asked.
        answers: texts (their first occurrence in the paragraph counts), or texts with their start;
            none makes the question unanswerable.
        gold: whether the file says anything about the answer (official test files do not).
    """
    body: dict[str, Any] = {"question": text, "id": id}
    return body | ({"answers": list(answers), "is_impossible": not answers} if gold else {})


def paragraph(context: str, *questions: dict[str, Any], title: str = "Toy") -> dict[str, Any]:
    """Put questions to a context; answers without a start get that of their first occurrence."""
    qas = []
    for asked in questions:
        qas.append(dict(asked))
        if "answers" in asked:
            pairs = [a if isinstance(a, tuple) else (a, context.index(a)) for a in asked["answers"]]
            qas[-1]["answers"] = [{"text": text, "answer_start": start} for text, start in pairs]
    return {"title": title, "context": context, "qas": qas}


def write_squad(
    path: Path, paragraphs: Sequence[dict[str, Any]], version: str | None = "v2.0"
) -> Path:
    """Write paragraphs as an official file, one article a title; 1.1 says nothing of no answers."""
    articles: dict[str, list[dict[str, Any]]] = {}
    for body in paragraphs:
        body = dict(body)
        if version is not None and not version.endswith("2.0"):
            body["qas"] = [
                {key: value for key, value in asked.items() if key != "is_impossible"}
                for asked in body["qas"]
            ]
        articles.setdefault(body.pop("title", "Toy"), []).append(body)
    data = [{"title": title, "paragraphs": found} for title, found in articles.items()]
    whole = {"data": data} | ({} if version is None else {"version": version})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    return path


def toy_squad(folder: Path, seed: int = 1, paragraphs: int = 6, dev: int = 3) -> tuple[Path, Path]:
    """Write ``train-v2.0.json`` and ``dev-v2.0.json`` of toy facts, three questions a paragraph."""
    rng = random.Random(seed)
    train = [toy_paragraph(rng, f"train-{number}") for number in range(paragraphs)]
    valid = [toy_paragraph(rng, f"dev-{number}") for number in range(dev)]
    return (
        write_squad(folder / "train-v2.0.json", train),
        write_squad(folder / "dev-v2.0.json", valid),
    )


def toy_paragraph(rng: random.Random, name: str, facts: int = 3) -> dict[str, Any]:
    """Make a paragraph of a few facts with three questions, the last without an answer."""
    people, things = rng.sample(PEOPLE, facts + 1), rng.sample(THINGS, facts + 1)
    places, years = rng.sample(PLACES, facts), rng.sample(YEARS, facts)
    deeds = [rng.choice([*DEEDS]) for _ in range(facts)]
    told = list(zip(people, deeds, things, places, years))
    context = " ".join("{} {} the {} in {} in {}.".format(*fact) for fact in told)
    unknown = (people[-1], rng.choice([*DEEDS]), things[-1], "", "")
    asked = [*rng.sample(told, 2), unknown]
    questions = [_asked(rng, f"{name}-{k}", fact) for k, fact in enumerate(asked)]
    return paragraph(context, *questions, title=name)


def _asked(rng: random.Random, id: str, fact: Sequence[str]) -> dict[str, Any]:
    who, did, what, place, year = fact
    text, answer = rng.choice(
        [
            (f"Who {did} the {what}?", who),
            (f"Where did {who} {DEEDS[did]} the {what}?", place),
            (f"When did {who} {DEEDS[did]} the {what}?", year),
        ]
    )
    return question(id, text, *([answer] if place else []))


def write_toy_bert(folder: Path) -> Path:
    """Write vocabulary and settings of an uncased BERT that knows the toy's words whole, and can
    spell any other ASCII word.
    """
    words = [*PEOPLE, *DEEDS, *DEEDS.values(), *THINGS, *PLACES, *YEARS, *_OTHER]
    characters = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    pieces = [*_SPECIALS, *map(str.lower, words), *characters, *(f"##{c}" for c in characters)]
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{piece}\n" for piece in dict.fromkeys(pieces))
    (folder / "vocab.txt").write_text(text, encoding="utf-8")
    body = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "strip_accents": True,
        "tokenize_chinese_chars": True,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(body))
    return folder
