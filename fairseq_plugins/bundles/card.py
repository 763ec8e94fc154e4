"""The card of a model, ``README.md``: for people, who may complete it. No program reads it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.manifest import Manifest
from ..data.manifests import AnyManifest
from ..data.text_manifest import TextManifest
from ..messages import shortened

EVALUATIONS = "evaluation.*.json"  # of a run: scores on its splits
LONGEST = 300  # characters of a value
LICENCE = "to be said by whoever passes it on"

_CARD = """# {title}

| | |
|---|---|
{rows}
Nothing here is executed. {needs}:

```python
from fairseq_plugins import load

load("this/folder"){how}
```
"""
WITHOUT_FAIRSEQ = "With the extra `serve` of fairseq_plugins, without fairseq"


def card(
    title: str, rows: Mapping[str, Any], manifest: Manifest, needs: str = WITHOUT_FAIRSEQ
) -> str:
    """Return the text of a card.

    Args:
        title: purpose of the model.
        rows: known facts; empty values are left out.
        manifest: of the model's input; decides the example call.
        needs: requirements of the example call.
    """
    said = {name: value for name, value in rows.items() if value not in ("", None)}
    cells = {name: _cell(str(text)) for name, text in {**said, "licence": LICENCE}.items()}
    table = "".join(f"| {name} | {text} |\n" for name, text in cells.items())
    how = '.translate(["A line of raw text."])'
    if isinstance(manifest, TextManifest):
        how = '.answer("Who?", "A text.").text' if manifest.by_paragraph else ".predict([...])"
    return _CARD.format(title=title, rows=table, how=how, needs=needs)


def about(manifest: AnyManifest, model: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card's facts about a model, and about its folder's manifest."""
    if isinstance(manifest, TextManifest):
        rows = {"task": manifest.task, "dataset": manifest.dataset}
        rows["labels"] = ", ".join(manifest.labels)
    else:
        counts = ((split, manifest.count(split)) for split in manifest.splits)
        rows = {"languages": f"{manifest.source_lang} to {manifest.target_lang}"}
        rows["sentence pairs"] = ", ".join(f"{count:,} {split}" for split, count in counts)
    return {
        **rows,
        "architecture": options["_name"],
        "family": options.get("family"),
        "features": ", ".join(model.needs.features),
        "words": manifest.cutting,
        "annotator": manifest.annotator_id,
        "parameters": f"{sum(p.numel() for p in model.parameters()):,}",
    }


def figures(run: Path) -> dict[str, str]:
    """Return metric and split -> value of a run's checkpoint."""
    found = {}
    for path in sorted(run.glob(EVALUATIONS)):
        split = path.name.split(".")[1]
        try:
            metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"].items()
            found |= {f"{name} ({split})": f"{value:.4g}" for name, value in metrics}
        except (ValueError, LookupError, AttributeError, TypeError):
            continue  # a foreign file
    return found


def _cell(text: str) -> str:
    return shortened(" ".join(text.replace("|", "/").split()), LONGEST)
