"""The card of a bundle, ``README.md``: for people, who may complete it."""

from collections.abc import Mapping
from typing import Any

from ..data.manifest import Manifest
from .folder import annotator_of

HOW = {
    "text_classification": '.predict(["A sentence."])  # of pairs: [("One.", "Another.")]',
    "sequence_labeling": '.predict(["A sentence."])',
    "extractive_qa": '.answer("Who?", "A text that may say who.").text',
    "syntax_translation": '.translate(["A sentence."])',
}


USE = """## Use

```python
from fairseq_plugins import load

load("{name}"){how}
```

## Licence

To be filled in by whoever publishes this model.
"""


def card(
    name: str,
    manifest: Manifest,
    *,
    task: str,
    model: Mapping[str, Any],
    figures: Mapping[str, Any],
    versions: Mapping[str, str],
    form: str,
) -> str:
    """Return the text of a card.

    Args:
        name: of the bundle.
        manifest: of the prepared folder.
        task: that the model is for.
        model: what is to be said of it, by title.
        figures: measured by the run that trained it, by title; none are made up.
        versions: tool -> version.
        form: of the weights.
    """
    data = {"dataset": manifest.dataset, "languages": manifest.source_lang and manifest.pair}
    data["labels"] = ", ".join(manifest.labels[:20]) + (" ..." if manifest.labels[20:] else "")
    data["annotated by"] = " ".join(annotator_of(manifest).values())
    parts = {
        "Model": {"task": task, "weights": form, **model},
        "Data": data,
        "Figures of the training run": figures,
        "Versions": versions,
    }
    lines = [f"# {name}", ""]
    for title, rows in parts.items():
        lines += [f"## {title}", "", *_listed(rows), ""]
    return "\n".join([*lines, USE.format(name=name, how=HOW[task])])


def _listed(rows: Mapping[str, Any]) -> list[str]:
    """Return what is known as the lines of a list."""
    said = [f"- {key}: {value}" for key, value in rows.items() if value not in ("", None)]
    return said or ["None are recorded."]
