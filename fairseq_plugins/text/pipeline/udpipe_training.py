"""Trains a UDPipe model on a treebank: a file that splits raw text into words, tags and parses."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...files import write_bytes
from ...text_reading import read_text

METHOD = "morphodita_parsito"  # UDPipe's only method


def train(args: Namespace) -> None:
    """Train by the flags of ``train-pipeline``."""
    import ufal.udpipe

    from .treebank import split_file  # needs spaCy

    library: Any = ufal.udpipe  # its names are those of its compiled part
    held_out = args.dev or (None if args.train else split_file(args.ud_dir, "dev"))
    sentences = read(library, args.train or split_file(args.ud_dir, "train"))
    heldout = read(library, held_out) if held_out else library.Sentences()
    error = library.ProcessingError()
    options = (args.tokenizer, args.tagger, args.parser)
    model = library.Trainer.train(METHOD, sentences, heldout, *options, error)
    if error.occurred() or not model:
        raise InputError(f"UDPipe could not be trained: {error.message}")
    write_bytes(args.output, model)
    print(f"saved {args.output}: {len(model) / 1e6:.2f} MB")


def read(library: Any, path: Path) -> Any:
    """Read all sentences of a CoNLL-U file."""
    found, error = library.Sentences(), library.ProcessingError()
    reader = library.InputFormat.newConlluInputFormat()
    reader.setText(read_text(path))
    sentence = library.Sentence()
    while reader.nextSentence(sentence, error):
        found.push_back(sentence)
        sentence = library.Sentence()
    if error.occurred() or not len(found):
        raise InputError(f"{path} is no CoNLL-U: {error.message or 'it holds no sentence'}")
    return found
