"""What a task puts on top of an encoder."""

from __future__ import annotations

from torch import Tensor, nn

from .bert import BertEncoder, BertOutput, draw
from .dropout import Dropout


class ClassificationHead(nn.Module):
    """Pooled first token, dropout, one linear map (Devlin et al. 2019, section 4.1).

    Args:
        hidden: width D.
        classes: number of classes C; 1 for a score.
        dropout: on the pooled vector.
    """

    def __init__(self, hidden: int, classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.out = nn.Linear(hidden, classes)
        draw(self.out)

    def forward(self, encoder: BertEncoder, output: BertOutput) -> Tensor:
        """Return logits, (B, C)."""
        return self.out(self.dropout(encoder.pool(output)))


class TaggingHead(nn.Module):
    """Dropout and one linear map on the state of every word's first subword.

    Devlin et al. 2019, section 5.3.

    Args:
        hidden: width D.
        labels: number of labels C.
        dropout: on the states.
    """

    def __init__(self, hidden: int, labels: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.out = nn.Linear(hidden, labels)
        draw(self.out)

    def forward(self, output: BertOutput, word_rows: Tensor) -> Tensor:
        """Return logits of the words, (W, C).

        Args:
            output: of the encoder.
            word_rows: (W,) packed rows of the words' first subwords.
        """
        return self.out(self.dropout(output.rows.index_select(0, word_rows)))
