"""The card of a model, ``README.md``: for people, who may complete it. Nobody else reads it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.manifest import Manifest
from ..data.manifests import AnyManifest
from ..data.text_manifest import TextManifest
from ..messages import shortened

EVALUATIONS = "evaluation.*.json"  # of a run: what it scored on its splits
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
        title: what the model is for.
        rows: what is known of it; empty values are left out.
        manifest: of what the model reads; decides what is called of it.
        needs: where that can be done.
    """
    said = {name: value for name, value in rows.items() if value not in ("", None)}
    cells = {name: _cell(str(text)) for name, text in {**said, "licence": LICENCE}.items()}
    table = "".join(f"| {name} | {text} |\n" for name, text in cells.items())
    how = '.translate(["A line of raw text."])'
    if isinstance(manifest, TextManifest):
        how = '.answer("Who?", "A text.").text' if manifest.by_paragraph else ".predict([...])"
    return _CARD.format(title=title, rows=table, how=how, needs=needs)


def about(manifest: AnyManifest, model: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a card says of a model, and of what it reads of its folder's manifest."""
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
