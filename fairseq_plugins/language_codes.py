"""Codes of languages: ``zh_CN``, ``zho_Hans``, ``cmn`` and ``ZH`` are all ``zh``."""

import re
from functools import cache

CHINESE = ("chi", "cmn", "yue", "wuu", "lzh", "nan", "hak", "gan", "hsn")
BIBLIOGRAPHIC = {  # older codes of three letters, of languages that Moses has rules for
    **{"cze": "cs", "dut": "nl", "fre": "fr", "ger": "de", "gre": "el", "ice": "is"},
    **{"rum": "ro", "slo": "sk"},
}
KNOWN = (  # ISO 639-1; those of nltk, which takes two seconds to import
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da "
    "de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy "
    "hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg "
    "li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or "
    "os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw "
    "ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
SHORTER = dict.fromkeys(CHINESE, "zh") | BIBLIOGRAPHIC


def base_code(code: str) -> str:
    """Return the language of a code without region and script, as two letters if possible."""
    found = re.search("[a-z]+", code.lower())
    language = found[0] if found else ""
    if language in SHORTER or len(language) != 3:
        return SHORTER.get(language, language)
    return _two_letters().get(language, language)


def is_known(code: str) -> bool:
    """Whether the language of a code is one of ISO 639-1."""
    return base_code(code) in KNOWN.split()


@cache
def _two_letters() -> dict[str, str]:
    """Map codes of three letters to codes of two; takes a second."""
    from nltk.langnames import iso639short

    return iso639short
