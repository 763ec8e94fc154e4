"""Heads of tasks on an encoder that predict labels."""

from torch import Tensor, nn

from .bert import draw
from .dropout import Dropout


class LabelHead(nn.Module):
    """Dropout and one linear map.

    Devlin et al. 2019: for classes of the pooled first token (section 4.1), for labels of words of
    the state of every word's first subword (section 5.3).

    Args:
        hidden: width D.
        labels: number of labels C; 1 for a score.
        dropout: on the states.
    """

    def __init__(self, hidden: int, labels: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.out = nn.Linear(hidden, labels).apply(draw)

    def forward(self, states: Tensor) -> Tensor:
        """Return logits (., C) of states (., D)."""
        return self.out(self.dropout(states))
