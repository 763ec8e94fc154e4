"""Arrays of a model that are looked at: attention and gates, with their figures."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

Figure = Any  # matplotlib's


class Shown:
    """An array with a figure; NumPy's functions take it.

    Args:
        weights: the numbers.
        draw: makes the figure.
    """

    def __init__(self, weights: np.ndarray, draw: Callable[[], Figure]) -> None:
        self.weights = weights
        self._draw = draw

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.weights, dtype=dtype, copy=copy)

    def save(self, stem: str | Path) -> list[Path]:
        """Write the figure as PNG and SVG; return the files, named STEM.png and STEM.svg."""
        from ..lab.figures.drawing import save

        return save(self._draw(), stem)

    def show(self) -> None:
        """Show the figure in the notebook, else in the browser."""
        if "ipykernel" in sys.modules:
            from IPython.display import display  # pyrefly: ignore[missing-import]

            display(self)
            return
        path = Path(tempfile.mkdtemp()) / "figure.html"
        path.write_text(f"<meta charset='utf-8'>{self._repr_html_()}", encoding="utf-8")
        webbrowser.open(path.as_uri())

    def _repr_html_(self) -> str:
        from ..lab.figures.drawing import svg_of

        drawn = b64encode(svg_of(self._draw())).decode("ascii")
        return f'<img alt="{escape(repr(self))}" src="data:image/svg+xml;base64,{drawn}">'


class Attention(Shown):
    """The attention of rows to columns.

    Attributes:
        weights: (T, S), not negative.
        rows, columns: T and S subwords or words.
        text: what the model made of the text: the translation or the answer; else empty.
    """

    def __init__(
        self,
        weights: np.ndarray,
        rows: Sequence[str],
        columns: Sequence[str],
        text: str = "",
        *,
        draw: Callable[[], Figure],
    ) -> None:
        super().__init__(weights, draw)
        self.rows, self.columns, self.text = [*rows], [*columns], text

    def __repr__(self) -> str:
        made = f": {self.text}" if self.text else ""
        return f"Attention of {len(self.rows)} rows to {len(self.columns)} columns{made}"


class Gates(Shown):
    """The mean share of local attention in each layer, 1 minus the global share.

    Attributes:
        layers: layer, from 0 -> mean gate over all tokens, in [0, 1].
    """

    def __init__(self, layers: Mapping[int, float], draw: Callable[[], Figure]) -> None:
        super().__init__(np.array([*layers.values()]), draw)
        self.layers = dict(layers)

    def __repr__(self) -> str:
        return f"Gates {', '.join(f'{layer}: {gate:.3f}' for layer, gate in self.layers.items())}"
