"""Subword models and corpora that the preparation tests share."""

from __future__ import annotations

import io
import threading
from collections import Counter
from pathlib import Path

import pytest
import sentencepiece
from preparations import KINDS, Kind
from raw_corpora import RuleAnnotator, contents, invented_pairs
from raw_text import RuleParser
from tqdm import tqdm

from fairseq_plugins.corpora import parallel_text
from fairseq_plugins.prep.recipes import questions, translation
from fairseq_plugins.prep.recipes import text as text_recipe
from fairseq_plugins.text.segment import (
    BpeSegmenter,
    SentencePieceSegmenter,
    WordSegmenter,
    learn_codes,
    learn_sentencepiece,
    subword_counts,
)


@pytest.fixture(scope="session", autouse=True)
def _progress_bars_of_our_own() -> None:
    """Keep tqdm's lock out of forked children: one killed while it holds the lock keeps it."""
    if tqdm.monitor is not None:
        tqdm.monitor.exit()
        tqdm.monitor = None
    tqdm.monitor_interval = 0  # the monitor's thread takes the lock at any time
    tqdm.set_lock(threading.RLock())


@pytest.fixture(scope="session")
def model_files(tmp_path_factory) -> dict[str, Path]:
    """Subword models of every kind, learnt from invented text that spells the tools' own marks."""
    folder = tmp_path_factory.mktemp("models")
    lines = [text for pair in invented_pairs(150) for text in pair]
    words = Counter(word for line in lines for word in line.split())
    words.update({"ab</w>": 9, "a</w>": 9, "</w>": 9, "x@@": 9, "@@@": 5, "ab</w>c": 9})
    files = {name: folder / name for name in ("codes", "unigram", "bytes")}
    files["codes"].write_text(learn_codes(words, 150), encoding="utf-8", newline="\n")
    files["unigram"].write_bytes(learn_sentencepiece(lines, 120, 10_000))
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=330,
        hard_vocab_limit=False,
        byte_fallback=True,
        minloglevel=2,
    )
    files["bytes"].write_bytes(model.getvalue())
    return files


@pytest.fixture(scope="session")
def segmenters(model_files) -> dict[str, object]:
    """Segmenters by name."""
    bpe = BpeSegmenter(model_files["codes"])
    counts = subword_counts(bpe, Counter(w for s, _ in invented_pairs(60) for w in s.split()))
    frequent = {piece for piece, n in counts.items() if n > 8}
    return {
        "bpe": bpe,
        "bpe_vocabulary": BpeSegmenter(model_files["codes"], frequent),
        "unigram": SentencePieceSegmenter(model_files["unigram"]),
        "bytes": SentencePieceSegmenter(model_files["bytes"]),
        "words": WordSegmenter(),
    }


@pytest.fixture
def rule_tagger(monkeypatch) -> RuleAnnotator:
    """Put the rule annotator where preparations load spaCy."""
    annotator = RuleAnnotator()
    monkeypatch.setattr(translation, "load_annotator", lambda options: annotator)
    return annotator


@pytest.fixture
def small_chunks(monkeypatch) -> None:
    """Cut files into chunks of seven lines."""
    monkeypatch.setattr(parallel_text, "CHUNK_LINES", 7)
    monkeypatch.setattr(translation, "CHUNK_LINES", 7)


@pytest.fixture
def rules_and_small_parts(monkeypatch) -> None:
    """Put the rule where preparations load spaCy, and make chunks small."""
    for place in (text_recipe, questions):
        monkeypatch.setattr(place, "load_annotator", lambda *args: RuleParser())
    monkeypatch.setattr(text_recipe, "CHUNK_EXAMPLES", 5)
    monkeypatch.setattr(questions, "CHUNK_PARAGRAPHS", 2)


@pytest.fixture(params=KINDS)
def kind(request) -> Kind:
    """Every preparation in turn."""
    return KINDS[request.param]


@pytest.fixture
def raw(kind, tmp_path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    kind.write(folder)
    return folder


@pytest.fixture
def whole(kind, raw, tmp_path) -> dict[str, bytes]:
    """What an undivided preparation writes."""
    kind.prepare(raw, tmp_path / "whole")
    return contents(tmp_path / "whole")
