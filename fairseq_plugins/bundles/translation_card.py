"""The card of a translation bundle, for people: data, figures of the run, versions, how to load."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..data.manifest import Manifest
from ..messages import shortened

FIGURES = "evaluation.{}.json"  # in the folder of a run, what `translate` found of a split
LONGEST = 200  # characters of a value


def card(
    checkpoint: Path, manifest: Manifest, contents: Mapping[str, Any], versions: Mapping[str, str]
) -> str:
    """Return the card of a bundle.

    Args:
        checkpoint: whose figures stand beside it.
        manifest: of the prepared folder.
        contents: of the bundle's index.
        versions: of tools.
    """
    layout = contents["layout"]
    sides = "; ".join(
        f"{name} {layout[name]['layers']} layers, {layout[name]['width']} wide, "
        f"{layout[name]['size']:,} subwords"
        for name in ("source", "target")
    )
    lines = ", ".join(f"{said['lines']:,} {split}" for split, said in manifest.splits.items())
    rows = {
        "languages": f"{manifest.source_lang} to {manifest.target_lang}",
        "data": f"{lines} (sentence pairs); say which",
        "features": ", ".join(contents["features"]) or "none: words alone",
        "annotator": manifest.annotator_id or "none",
        "model": sides,
        "weights": "int8" if contents["int8"] else "float32",
        **{f"{metric} ({split})": text for split, metric, text in _figures(checkpoint, manifest)},
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "licence": "to be said by whoever passes it on",
    }
    table = "".join(f"| {name} | {_cell(text)} |\n" for name, text in rows.items())
    return f"# Translation, {rows['languages']}\n\n| | |\n|---|---|\n{table}\n{_HOW}"


_HOW = """Nothing here is executed. With `pip install fairseq_plugins[serve]`, without fairseq:

```python
from fairseq_plugins.bundles.translation import Translator

Translator.open("this/folder").translate(["A line of raw text."])
```

```bash
fairseq-plugins translate this/folder --source text.txt
```
"""


def _figures(checkpoint: Path, manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Yield split, metric and value of what was measured beside a checkpoint."""
    for split in manifest.splits:
        path = checkpoint.parent / FIGURES.format(split)
        if not path.is_file():
            continue
        try:
            metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"].items()
            yield from ((split, name, f"{value:.2f}") for name, value in metrics)
        except (ValueError, LookupError, AttributeError, TypeError):
            continue  # somebody else's file


def _cell(text: str) -> str:
    return shortened(" ".join(text.replace("|", "/").split()), LONGEST)
