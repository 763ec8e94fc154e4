"""``esim`` and its relatives: models that match the two sentences of a pair, from scratch.

Every architecture is a value of one model. They read words (``prepare text --words-from``) or any
other vocabulary of a prepared folder. The mathematics lives in `nn`; see `architectures`.
"""

import json
import logging
from collections.abc import Sequence
from typing import Any

import torch
from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from torch import nn

from ..architectures.matching_model import PairModel
from ..architectures.matching_options import (
    ARCHITECTURES,
    BEFORE,
    FAMILY,
    OPENED,
    needs_of,
    presets_of,
    resolve,
)
from ..architectures.options import merged, write
from ..architectures.text_kinds import check_options
from ..architectures.unread_options import OF_MATCHING, check_read
from ..nn.factors import clear_padding
from ..pretrained.vocabulary import Vocabulary
from ..pretrained.word_vectors import read_word_vectors
from ..syntax.layers import Layer, digests
from ..syntax.needs import Needs
from ._matching_config import MatchingConfig

logger = logging.getLogger(__name__)


@register_model(FAMILY, dataclass=MatchingConfig)
class MatchingModel(PairModel, BaseFairseqModel):
    """A `PairModel` for fairseq; its attributes are those of `models.bert.BertModel`."""

    takes_text = True
    opened = OPENED
    before = BEFORE
    resolve = staticmethod(resolve)
    check_options = staticmethod(check_options)

    @classmethod
    def needs_of(cls, cfg: Any) -> Needs:
        """Return what a model of these options reads.

        Raises:
            InputError: an option that does not fit.
        """
        resolve(cfg)
        return needs_of(merged(cfg, MatchingConfig))

    @classmethod
    def complete_config(cls, cfg: Any, manifest: Any, layers: Sequence[Layer] = ()) -> None:
        """Write into a new model's options what follows from the data.

        Args:
            cfg: the options; changed in place, so that the checkpoint holds them.
            manifest: `data.manifest.Manifest` of the data folder.
            layers: those of the folder, with its inventories.

        Raises:
            InputError: an option that does not fit.
        """
        features = cls.needs_of(cfg).features
        check_read(merged(cfg, MatchingConfig), OF_MATCHING, presets_of(cfg))
        write(
            cfg,
            target=manifest.target,
            labels=json.dumps(manifest.labels, ensure_ascii=False),
            annotator=manifest.annotator_id if features else None,
            inventories=digests(one for one in layers if one.name in features) or None,
        )

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "MatchingModel":
        """Build the model.

        Raises:
            FileNotFoundError: no such file of word vectors.
            InputError: options, vocabulary or vectors that do not fit together.
        """
        resolve(cfg)
        args = merged(cfg, MatchingConfig)
        model = cls(args, task.source_dictionary.vocabulary, task.layers)
        if args.word_vectors:
            model.load_vectors(args.word_vectors, task.source_dictionary.vocabulary)
        model.word_table.weight.requires_grad = not args.freeze_words
        model.log_parameters()
        return model

    def begin_at(self, score: float) -> None:
        """Let predictions start around a score.

        From zero a model learns the mean first, by vectors whose tanh ends at 1 for every pair.
        """
        nn.init.constant_(self.head.out.bias, score)

    def load_vectors(self, path: str, vocabulary: Vocabulary) -> None:
        """Put given vectors in the place of word embeddings; see `read_word_vectors`.

        A word that is not there takes the vector of its lower case, or is drawn as they are spread.
        """
        table, special = self.word_table, {*vars(vocabulary.family.specials).values()}
        pieces = {word: i for i, word in enumerate(vocabulary.pieces) if word not in special}
        wanted = {*pieces, *map(str.lower, pieces)}
        found = read_word_vectors(path, wanted, table.embedding_dim)
        places = {word: row for row, word in enumerate(found.words)}
        known = {i: places.get(word, places.get(word.lower())) for word, i in pieces.items()}
        known = {i: row for i, row in known.items() if row is not None}
        with torch.no_grad():
            nn.init.normal_(table.weight, std=float(found.vectors.std(correction=0)))
            clear_padding(table)
            table.weight[[*known]] = found.vectors[[*known.values()]].to(table.weight)
        logger.info("%s has %d of the %d words", path, len(known), len(pieces))


for _arch in ARCHITECTURES:
    if _arch != FAMILY:  # registered with the model
        register_model_architecture(FAMILY, _arch)(resolve)
