"""COMET scores of translations, from a folder of a metric and a directory of its encoder.

A text is encoded once, also if several systems share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from ..errors import InputError
from ..nn.comet import Comet
from ..nn.prepacked import prepack_
from ..pretrained.comet_folder import read_comet
from ..pretrained.tokenizer import read_tokenizer_settings
from ..pretrained.tokenizer_sources import read_vocabulary
from ..text.pieces import PieceTokenizer
from .model_sources import device_of

BATCH = 32  # texts encoded together
CHUNK = 4096  # scores computed together
SPARED = 4  # positions of the encoder without a subword: COMET leaves two free, two are special


class CometScorer:
    """A metric with its tokeniser; `signature` names it in reports.

    Args:
        directory: folder of the metric.
        encoder: directory of its encoder, for the tokeniser and the sizes.
        cpu: compute on the CPU even if there is a GPU.
    """

    def __init__(self, directory: str | Path, encoder: str | Path, *, cpu: bool = False) -> None:
        model: Any = read_comet(directory, encoder)
        self._vocabulary = read_vocabulary(encoder)
        self._pieces = PieceTokenizer(self._vocabulary, read_tokenizer_settings(encoder))
        self._device = device_of([model], cpu)
        if self._device.type == "cpu":
            prepack_(model)
        self._model: Comet = model.to(self._device)
        self.signature = f"model:{Path(directory).resolve().name}|mean of sentences x 100"

    @torch.no_grad()
    def score(
        self, sources: Sequence[str], systems: Sequence[Sequence[str]], references: Sequence[str]
    ) -> list[list[float]]:
        """Return the score of each translation of each system."""
        texts = sorted({*sources, *references, *(line for lines in systems for line in lines)})
        place, vectors = {text: i for i, text in enumerate(texts)}, self._embed(texts)

        def split(lines: Sequence[str]) -> Sequence[Tensor]:
            return torch.tensor([place[line] for line in lines]).split(CHUNK)

        found: list[list[float]] = [[] for _ in systems]
        for scores, lines in zip(found, systems):
            for chosen in zip(*map(split, (sources, lines, references)), strict=True):
                scores += self._model(*(vectors[rows] for rows in chosen)).tolist()
            lost = next((i for i, one in enumerate(scores, 1) if not isfinite(one)), None)
            if lost:
                raise InputError(f"{self.signature}: the score of sentence {lost} is no number")
        return found

    def _embed(self, texts: Sequence[str]) -> Tensor:
        """Return the vector of each text, (B, D)."""
        room = self._model.encoder.shape.longest - SPARED
        cls, sep, pad = self._vocabulary.cls, self._vocabulary.sep, self._vocabulary.pad
        rows = [
            torch.tensor([cls, *self._pieces.encode_text(text)[0][:room], sep]) for text in texts
        ]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        width = self._model.encoder.shape.hidden
        vectors = torch.empty(len(rows), width, device=self._device)
        with tqdm(total=len(rows), desc="COMET", unit=" texts", disable=None) as bar:
            for begin in range(0, len(rows), BATCH):
                chosen = order[begin : begin + BATCH]
                tokens = pad_sequence([rows[i] for i in chosen], True, pad)  # (B, S)
                vectors[chosen] = self._model.embed(tokens.to(self._device))
                bar.update(len(chosen))
        return vectors
