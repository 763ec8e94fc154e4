"""Codes as users, corpora and models write them, from a seed; and texts in several scripts."""

from __future__ import annotations

from random import Random

# what a code may begin with -> the language
FIRST = {
    **{"zh": "zh", "zho": "zh", "chi": "zh", "cmn": "zh", "yue": "zh", "lzh": "zh"},
    **{"ja": "ja", "jpn": "ja", "ko": "ko", "kor": "ko"},
    **{"de": "de", "deu": "de", "ger": "de", "en": "en", "eng": "en", "fr": "fr", "fra": "fr"},
    **{"ar": "ar", "ara": "ar", "ru": "ru", "rus": "ru", "ceb": "ceb", "fil": "fil"},
}
MORE = ("", "CN", "tw", "XX", "Hans", "HANT", "Hans_CN", "Latn", "jpan", "KR.UTF-8", "x-own")
FRAMES = ("{}", " {}", "__{}__", "<2{}>", ">>{}<<")
PIECES = (
    "中国",
    "我们在",
    "北京。",
    "，",
    "東京に",
    "住んで",
    "です",
    "한국어",
    "the cat",
    " sat.",
    "مرحبا",
    "🙂",
)


def codes(seed: int, count: int) -> list[tuple[str, str]]:
    """Return codes, each with its language."""
    draw, found = Random(seed), []
    for _ in range(count):
        first, more = draw.choice([*FIRST]), draw.choice(MORE)
        code = f"{first}{draw.choice('_-') if more else ''}{more}"
        code = draw.choice((str, str.upper, str.title))(code)
        found.append((draw.choice(FRAMES).format(code), FIRST[first]))
    return found


def sentences(seed: int, count: int) -> list[str]:
    """Return short texts of mixed scripts, none of them empty."""
    draw = Random(seed)
    return ["".join(draw.choices(PIECES, k=draw.randint(1, 7))) for _ in range(count)]
