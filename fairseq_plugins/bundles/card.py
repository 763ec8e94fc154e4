"""The card of a bundle, ``README.md``: for people, who may complete it. Nobody else reads it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..messages import shortened

EVALUATIONS = "evaluation.*.json"  # of a run: what it scored on its splits
LONGEST = 300  # characters of a value
LICENCE = "to be said by whoever passes it on"

_CARD = """# {title}

| | |
|---|---|
{rows}
Nothing here is executed. With `pip install fairseq-plugins[serve]`, without fairseq:

```python
from fairseq_plugins import load

load("this/folder"){how}
```
"""


def card(title: str, rows: Mapping[str, Any], how: str) -> str:
    """Return the text of a card.

    Args:
        title: what the model is for.
        rows: what is known of it; empty values are left out.
        how: what is called of the loaded model.
    """
    said = {name: value for name, value in rows.items() if value not in ("", None)}
    cells = {name: _cell(str(text)) for name, text in {**said, "licence": LICENCE}.items()}
    table = "".join(f"| {name} | {text} |\n" for name, text in cells.items())
    return _CARD.format(title=title, rows=table, how=how)


def figures(run: Path) -> dict[str, str]:
    """Return what was measured of a run's checkpoint: metric and split -> value."""
    found = {}
    for path in sorted(run.glob(EVALUATIONS)):
        split = path.name.split(".")[1]
        try:
            metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"].items()
            found |= {f"{name} ({split})": f"{value:.4g}" for name, value in metrics}
        except (ValueError, LookupError, AttributeError, TypeError):
            continue  # somebody else's file
    return found


def _cell(text: str) -> str:
    return shortened(" ".join(text.replace("|", "/").split()), LONGEST)
