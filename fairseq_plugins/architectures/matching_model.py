"""A model that matches the two sentences of a pair, trained from scratch, in plain torch.

`models.matching` registers the model with fairseq, `bundles` load it without fairseq. This module
turns options into parts of `nn`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Optional

from torch import Tensor, nn

from ..door.records import read_list
from ..errors import InputError
from ..methods.plan import Plan
from ..nn.bert import BertShape
from ..nn.bimpm import Bimpm
from ..nn.cafe import Cafe
from ..nn.characters import CharacterReader
from ..nn.esim import Esim
from ..nn.heads import LabelHead
from ..nn.infusion import FeatureInfusion
from ..nn.packing import BatchLayout, Known
from ..nn.pair_transformer import PairTransformer
from ..nn.word_inputs import WordInputs, WordMatcher
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import Layer
from ..targets.table import TARGETS
from .matching_options import BIMPM, CAFE, ESIM, TRANSFORMER
from .model_parts import counted, fitting, log_counts, size

Features = Optional[FeatureInfusion]


class PairModel(nn.Module):
    """Word embeddings, a matcher, and the head of one task.

    Args:
        layers: of the folder, with their inventories.

    Attributes:
        needs: the inputs of the model.
    """

    @fitting()
    def __init__(self, plan: Plan, vocabulary: Vocabulary, layers: Sequence[Layer]) -> None:
        super().__init__()
        args = plan.args
        _check(plan)
        self.needs, self.padding = plan.needs, vocabulary.pad
        self.longest = args.max_position_embeddings
        features = plan.made(lambda one: one.embedding(args.embedding_size, layers))
        self.body: Any = MAKERS[args.matcher](args, vocabulary, features)
        classes = max(1, len(read_list(args.labels, "labels")))
        self.head = LabelHead(self.body.outputs, classes, args.dropout)

    def max_positions(self) -> int:
        """Longest input in tokens, specials included."""
        return self.longest

    def parameter_counts(self) -> dict[str, int]:
        """Count parameters: word embeddings, features, matcher, head, all, trainable ones."""
        features, words = size(self.body.features), self.word_table.weight.numel()
        matcher = size(self.body) - features - words
        return counted(self, {"words": words, "features": features, "matcher": matcher})

    @property
    def word_table(self) -> nn.Embedding:
        """The word embeddings."""
        return self.body.table

    def log_parameters(self) -> None:
        """Log features and parameter counts."""
        log_counts(self.needs.features, self.parameter_counts())

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        segments: Optional[Tensor] = None,
        token_positions: Optional[Tensor] = None,
        src_factors: Optional[Tensor] = None,
        known: Optional[Known] = None,
        need_weights: bool = False,
        **unread: Optional[Tensor],
    ) -> tuple[Tensor, dict[str, Any]]:
        """Score pairs.

        Args:
            src_tokens: (B, S).
            segments, token_positions, known: see `BertEncoder.forward`.
            src_factors: feature ids (B, S, F).
            need_weights: an error, since the model has no self-attention.
            unread: inputs of other models of an ensemble.

        Returns:
            Logits (B, C), and ``losses``: none.
        """
        if need_weights:
            raise InputError("models that match pairs from scratch have no self-attention to show")
        layout = BatchLayout.of(src_tokens.eq(self.padding), token_positions, known=known)
        return self.head(self.body(src_tokens, segments, layout, src_factors)), {"losses": {}}


def _words(args: Any, vocabulary: Vocabulary, features: Features) -> nn.Module:
    """Make the word inputs and the matcher."""
    characters = None
    if args.character_hidden_size:
        sizes = (args.character_embedding_size, args.character_hidden_size)
        characters = CharacterReader(vocabulary.pieces, *sizes)
    how = (args.embedding_size, vocabulary.pad, features, characters)
    words = WordInputs(len(vocabulary), *how)
    sizes = (words.width, args.hidden_size, args.dropout)
    if args.matcher == BIMPM:
        return WordMatcher(words, Bimpm(*sizes, args.perspectives))
    if args.matcher == CAFE:
        return WordMatcher(words, Cafe(*sizes, args.factors))
    return WordMatcher(words, Esim(*sizes))


def _transformer(args: Any, vocabulary: Vocabulary, features: Features) -> nn.Module:
    shape = BertShape(
        len(vocabulary),
        args.hidden_size,
        args.num_hidden_layers,
        args.num_attention_heads,
        args.intermediate_size,
        positions=args.max_position_embeddings,
        dropout=args.dropout,
        attention_dropout=args.dropout,
        padding=vocabulary.pad,
        embedding=None if args.embedding_size == args.hidden_size else args.embedding_size,
    )
    return PairTransformer(shape, args.pair_encoding, features)


MAKERS: dict[str, Callable[[Any, Vocabulary, Features], nn.Module]] = {
    **dict.fromkeys((ESIM, BIMPM, CAFE), _words),
    TRANSFORMER: _transformer,
}


def _check(plan: Plan) -> None:
    """Refuse targets other than those of pairs, and characters for the transformer."""
    args = plan.args
    if not plan.target.pools:
        known = " or ".join(name for name, one in TARGETS.items() if one.pools)
        raise InputError(
            f"models that match pairs learn {known}, and the data folder has {args.target}: take "
            "another architecture"
        )
    if args.character_hidden_size and args.matcher == TRANSFORMER:
        raise InputError(
            f"--character-hidden-size {args.character_hidden_size}: the transformer reads no "
            "characters; choices: 0, or another architecture"
        )
