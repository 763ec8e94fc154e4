"""The page itself: gradio's parts for each tab. It asks nobody but its own server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gradio as gr

from ..service.models import Served
from .tabs import LONGEST, TABS, Tab

TITLE = "fairseq_plugins"
SCROLL = "() => document.getElementById('%s').scrollIntoView({block: 'nearest'})"
LINES = {"question": 1, "context": 6}  # of fields; others have 2
Presets = Mapping[str, Sequence[Sequence[str]]]


def build(models: Sequence[Served], presets: Presets) -> gr.Blocks:
    """Make the page of some models; each tab is there that one of them is for."""
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True) as page:
        gr.Markdown(f"# {TITLE}\nWhat trained models read, say and look at.")
        for tab in TABS:
            if shown := [served for served in models if served.kind in tab.kinds]:
                with gr.Tab(tab.title, id=tab.name):
                    _fill(page, tab, shown, presets.get(tab.name, ()))
    return page


def _fill(
    page: gr.Blocks, tab: Tab, models: Sequence[Served], presets: Sequence[Sequence[str]]
) -> None:
    """Put fields, examples and what is found into a tab; the first example is filled in."""
    gr.Markdown(tab.about)
    texts = presets[0] if presets else [""] * len(tab.fields)
    fields = [_field(tab, label, text) for label, text in zip(tab.fields, texts)]
    with gr.Row():
        button = gr.Button("Show", variant="primary", scale=0, elem_id=f"{tab.name}-show")
    ways = [button.click, *(one.submit for one in fields)]
    private: dict[str, Any] = {"api_visibility": "private"}
    if presets:
        how: dict[str, Any] = {"label": "examples", "cache_examples": False, **private}
        held = gr.Examples([*map(list, presets)], fields, **how)
        ways.append(held.load_input_event.then)
    found = gr.HTML(elem_id=f"{tab.name}-found", elem_classes="fp-found", apply_default_css=False)
    show = partial(tab.show, models)
    for way in ways:
        way(show, fields, found, **private).then(js=SCROLL % found.elem_id, **private)
    if presets and tab is TABS[0]:  # the tab that the page opens with
        page.load(show, fields, found, **private)


def _field(tab: Tab, label: str, text: str) -> gr.Textbox:
    where, lines = f"{tab.name}-{label.replace(' ', '-')}", LINES.get(label, 2)
    return gr.Textbox(text, label=label, elem_id=where, lines=lines, max_length=LONGEST)
