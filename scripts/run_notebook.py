"""Run the cells of notebooks and keep their output, as Jupyter does, in this folder.

    python scripts/run_notebook.py docs/notebooks/classify.ipynb

What a cell prints and the value of its last line are kept; the bars on standard error are not.
"""

from __future__ import annotations

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def run_notebook(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the output of its cells."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = run_cell("".join(cell["source"]), names, count)
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def run_cell(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell; return its output."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    with redirect_stdout(printed):
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"<cell {number}>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs += [{"output_type": "stream", "name": "stdout", "text": lines(text)}]
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if html := getattr(value, "_repr_html_", None):
            data["text/html"] = lines(html())
        result = {"output_type": "execute_result", "execution_count": number}
        outputs += [{**result, "metadata": {}, "data": data}]
    return outputs


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        done = run_notebook(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
