"""An encoder and its head over padded batches: the computation depends only on the batch's sizes.

The encoder without padding (`nn.packing`) takes other steps for other lengths, which no graph for
all batches can hold. Here padding is computed and closed to attention; the modules and their
weights are the same, and so are the logits of real tokens.

Letters: B batch, S length, F features, C labels.
"""

from torch import Tensor, nn

from .bert import BertEncoder
from .packing import BatchLayout
from .span_heads import SpanReader


class PaddedModel(nn.Module):
    """Logits of padded batches.

    Args:
        encoder: with plain attention; features may join its embeddings.
        head: of labels, or of answers if it maps tokens one by one.
    """

    def __init__(self, encoder: BertEncoder, head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        src_factors: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Score a batch.

        Args:
            input_ids: (B, S), padded on the right.
            attention_mask: (B, S), 0 at padding and 1 elsewhere.
            token_type_ids: (B, S), 0 and 1 for the sides of a pair.
            src_factors: feature ids (B, S, F), for an encoder with features.

        Returns:
            Logits (B, C) of sentences, or (B, S, C) of tokens, or start and end logits, (B, S) each
            and -inf at padding.
        """
        layout = BatchLayout.padded(attention_mask.eq(0))
        output = self.encoder(input_ids, token_type_ids, factors=src_factors, layout=layout)
        if isinstance(self.head, SpanReader):
            return self.head(output, token_type_ids)[0].unbind(-1)  # (B, S) twice
        if self.encoder.pooler is None:
            return (layout.pad(self.head(output.rows)),)  # (B, S, C)
        return (self.head(self.encoder.pool(output)),)  # (B, C)
