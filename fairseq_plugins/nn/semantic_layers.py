"""Labels of words beside the states of an encoder (Zhang et al. 2020, "SemBERT").

A sentence has m sequences of labels, one a predicate in the paper: the semantic role of every word
in what that predicate says (``O``, ``B-V``, ``B-ARG0``, ...). With e the embedding of a label, one
table for all m, and x the states of the subwords of a word, l of them:

    h_k(w) = BiGRU(e_k(1), ..., e_k(W))(w)             k = 1 .. m, one BiGRU for all
    t(w)   = W2 [h_1(w); ...; h_m(w)] + b2             d wide
    c_i    = W1 [x_i; ...; x_(i+n-1)] + b1             i = 1 .. l-n+1, zeros behind a short word
    v(w)   = max_i ReLU(c_i)                           D wide
    z(w)   = [v(w); t(w)]

Words are labelled by their z. Sentences and pairs are classified by g(W3 z + b3) of z = max_w
z(w) (or of that of [CLS], ``first``), in the pooler's place; g is the pooler's activation, BERT's
tanh.

Where paper and program (github.com/cooelf/SemBERT, ``pytorch_pretrained_bert/modeling.py`` and
``tag_model/modeling.py``) differ: the paper's BiGRU stands in the program unused, each label alone
is mapped there; here it is the paper's. The program normalises embeddings of labels (LayerNorm), as
is done here, and applies dropout to them and to v. At first it takes the z of [CLS], which without
a BiGRU knows no role; then a maximum, but over the values of each z, not over words, which no map
fits. It fills all words to the longest of the batch with zeros, over which the
maximum goes as well, so that an answer hangs on the batch; here windows are the paper's.

[CLS] and [SEP] count as words, labelled as no word is (``<special>``; the program has a label for
either). A pair is one sequence, as in the program.

Letters: N packed tokens, B rows of the batch, U words with the special tokens, D and d widths, m
layers, V windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from .bert import POOLER_ACTIVATIONS, BertOutput, BertShape, draw
from .dropout import Dropout
from .packing import BatchLayout, Known, counted, places
from .recurrent import Steps, read_rows

POOLINGS = MAX, FIRST = ("max", "first")


@dataclass(frozen=True)
class WordRuns:
    """The packed tokens of each word; a special token is its own word."""

    of: Tensor  # word of every token, (N,), counted over the batch
    # firsts, sizes: first token and number of tokens of every word, (U,)
    firsts: Tensor
    sizes: Tensor
    lengths: Tensor  # words of every row of the batch, (B,)
    known: Known  # see `BatchLayout`

    @classmethod
    def find(cls, words: Tensor, layout: BatchLayout) -> WordRuns:
        """Return the words of a batch.

        Args:
            words: number of each token's word in its row, -1 at special tokens, (B, S).
            layout: of the batch.
        """
        word, row = layout.pack(words), layout.sentences  # (N,)
        begins = word < 0  # (N,)
        begins[1:] |= (word[1:] != word[:-1]) | (row[1:] != row[:-1])
        begins[0] = True
        firsts = places(begins, layout.known.get("runs"))  # (U,)
        sizes = functional.pad(firsts, (0, 1), value=len(word)).diff()  # (U,)
        return cls(begins.cumsum(0) - 1, firsts, sizes, counted(begins, layout), layout.known)

    @property
    def rows(self) -> Tensor:
        """Row of the batch of every word, (U,)."""
        numbers = torch.arange(len(self.lengths), device=self.lengths.device)
        return numbers.repeat_interleave(self.lengths, output_size=len(self.firsts))


def maxima(values: Tensor, owners: Tensor, count: int) -> Tensor:
    """Return the maximum of the values (V, D) of each of ``count`` owners (V,), (count, D)."""
    found = values.new_zeros(count, values.shape[1])
    places = owners[:, None].expand_as(values)
    return found.scatter_reduce(0, places, values, "amax", include_self=False)


class WordConvolution(nn.Module):
    """One vector per word from the states of its subwords.

    Args:
        hidden: width D.
        kernel: subwords n of a window.
        dropout: on the vectors.
    """

    def __init__(self, hidden: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.kernel = kernel
        self.map = nn.Linear(kernel * hidden, hidden).apply(draw)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, runs: WordRuns) -> Tensor:
        """Pool states (N, D) of subwords to those of words, (U, D)."""
        ends = (runs.firsts + runs.sizes)[runs.of]  # (N,) after the word of each token
        tokens = torch.arange(len(states), device=states.device)  # (N,)
        is_first = tokens == runs.firsts[runs.of]
        begins = is_first | (tokens + self.kernel <= ends)  # (N,)
        sizes = runs.known.get("run_sizes")
        counts = None if sizes is None else np.maximum(sizes - self.kernel + 1, 1)
        starts = places(begins, counts)  # (V,)
        read = starts[:, None] + torch.arange(self.kernel, device=states.device)  # (V, n)
        beyond = read >= ends[starts, None]  # (V, n)
        taken = states.index_select(0, read.masked_fill(beyond, 0).flatten())  # (V n, D)
        windows = taken.masked_fill(beyond.flatten()[:, None], 0.0).view(len(starts), -1)
        found = maxima(self.map(windows), runs.of[starts], len(runs.firsts))  # (U, D)
        return self.dropout(torch.relu(found))


class LabelReader(nn.Module):
    """A vector from the labels of a word in m layers.

    Args:
        symbols: labels of the ids of each layer; equal labels of two layers share a row of the
            table.
        columns: columns of the layers in the factors.
        embedding, hidden, outputs: widths of labels, of each direction of the BiGRU, and d.
        dropout: on embeddings.
    """

    def __init__(
        self,
        symbols: Sequence[Sequence[str]],
        columns: Sequence[int],
        *,
        embedding: int = 10,
        hidden: int = 10,
        outputs: int = 10,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        known = {symbol: i for i, symbol in enumerate(dict.fromkeys(chain(*symbols)))}
        longest = max(map(len, symbols))
        ids = [[known[one] for one in row] + [0] * (longest - len(row)) for row in symbols]
        self.register_buffer("shared", torch.tensor(ids), persistent=False)  # (m, L)
        self.columns = tuple(columns)
        self.table = nn.Embedding(len(known), embedding, padding_idx=0).apply(draw)
        self.norm = nn.LayerNorm(embedding)
        self.dropout = Dropout(dropout)
        self.gru = nn.GRU(embedding, hidden, bidirectional=True)
        self.out = nn.Linear(2 * hidden * len(columns), outputs).apply(draw)

    def forward(self, factors: Tensor, runs: WordRuns) -> Tensor:
        """Read the ids (U, F) of words; return (U, d)."""
        labels = [self.shared[k][factors[:, at]] for k, at in enumerate(self.columns)]
        embedded = self.dropout(self.norm(self.table(torch.cat(labels))))  # (m U, e)
        known = runs.known.get("runs")
        known = None if known is None else np.tile(known, len(labels))
        steps = Steps.of(runs.lengths.repeat(len(labels)), known)  # each layer has its own rows
        read = read_rows(self.gru, embedded, steps)  # (m U, 2 h)
        return self.out(torch.cat(read.chunk(len(labels)), dim=1))


class SemanticLayers(nn.Module):
    """Joins label vectors to the states of an encoder.

    Args:
        shape: of the encoder.
        labels: reads labels; d is the width of its map.
        kernel: subwords of a window.
        pooling: of the classified vector, `MAX` or `FIRST`; None for labels of words.

    Attributes:
        outputs: output width D + d.
    """

    def __init__(
        self, shape: BertShape, labels: LabelReader, *, kernel: int = 3, pooling: str | None = MAX
    ) -> None:
        super().__init__()
        self.labels = labels
        self.words = WordConvolution(shape.hidden, kernel, shape.dropout)
        self.outputs = shape.hidden + labels.out.out_features
        self.pooling = pooling
        self.pooler = None
        if pooling is not None:
            self.pooler = nn.Linear(self.outputs, self.outputs).apply(draw)
        self.activation = POOLER_ACTIVATIONS[shape.pooler_activation]

    def forward(
        self,
        output: BertOutput,
        words: Tensor | None,
        factors: Tensor | None,
        word_rows: Tensor | None = None,
    ) -> Tensor:
        """Return a vector of each row of the batch, (B, D + d), or of each labelled word.

        Args:
            output: of the encoder.
            words: number of each token's word in its row, -1 at special tokens, (B, S).
            factors: feature ids (B, S, F).
            word_rows: packed rows of the labelled words, (W,), for a result (W, D + d).

        Raises:
            ValueError: the batch has no words, or no features.
        """
        if words is None or factors is None:
            raise ValueError("this model reads layers of words, but the batch has none")
        runs = WordRuns.find(words, output.layout)
        own = output.layout.pack(factors).index_select(0, runs.firsts)  # (U, F)
        pooled, said = self.words(output.rows, runs), self.labels(own, runs)
        joined = torch.cat([pooled, said.to(pooled.dtype)], dim=1)  # (U, D + d)
        if self.pooler is None:
            return joined.index_select(0, runs.of[word_rows])
        if self.pooling == FIRST:
            best = joined.index_select(0, runs.lengths.cumsum(0) - runs.lengths)
        else:
            best = maxima(joined, runs.rows, len(runs.lengths))  # (B, D + d)
        return self.activation(self.pooler(best))
