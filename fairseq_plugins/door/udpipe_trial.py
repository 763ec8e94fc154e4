"""A script that tries a UDPipe model in its own process, with limits of memory and time.

UDPipe trusts the counts in a model's file: forged counts take gigabytes, or end the process.
"""

import json
import sys
from typing import Any

SECONDS = 20  # of a processor
ROOM, TIMES = 1 << 30, 32  # bytes of memory, plus a multiple of the file's bytes
TEXT = "Le chat va. 東京 العربية 😀 a\u0301\n\nOne 1,5."


def limit(size: int) -> None:
    """Limit memory and time of this process for a model of ``size`` bytes; not on Windows."""
    try:
        import resource
    except ImportError:
        return
    most = {resource.RLIMIT_AS: ROOM + TIMES * size, resource.RLIMIT_CPU: SECONDS}
    for kind, value in {**most, resource.RLIMIT_CORE: 0}.items():
        resource.setrlimit(kind, (value, value))


def use(path: str) -> None:
    """Let a model read a text; the caller handles files that are no model."""
    import ufal.udpipe

    library: Any = ufal.udpipe  # its names are those of its compiled part
    model, error = library.Model.load(path), library.ProcessingError()
    tokenizer = model and model.newTokenizer(model.DEFAULT)
    if tokenizer:
        tokenizer.setText(TEXT)
        while tokenizer.nextSentence(sentence := library.Sentence(), error):
            _ = model.tag(sentence, "", error) and model.parse(sentence, "", error)
            library.OutputFormat.newOutputFormat("conllu").writeSentence(sentence)


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[2])
    limit(int(sys.argv[3]))
    use(sys.argv[1])
