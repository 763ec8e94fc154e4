"""The page itself: gradio's parts for each tab. It asks nobody but its own server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gradio as gr

from .models import Shown
from .tabs import LONGEST, TABS, Tab

TITLE = "fairseq_plugins"
SCROLL = "() => document.getElementById('%s').scrollIntoView({block: 'nearest'})"
Presets = Mapping[str, Sequence[Sequence[str]]]


def build(models: Sequence[Shown], presets: Presets) -> gr.Blocks:
    """Make the page of some models; each tab is there that one of them is for."""
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True) as page:
        gr.Markdown(f"# {TITLE}\nWhat trained models read, say and look at.")
        for tab in TABS:
            if shown := [model for model in models if model.kind in tab.kinds]:
                with gr.Tab(tab.title, id=tab.name):
                    _fill(page, tab, shown, presets.get(tab.name, ()))
    return page


def _fill(
    page: gr.Blocks, tab: Tab, models: Sequence[Shown], presets: Sequence[Sequence[str]]
) -> None:
    """Put fields, examples and what is found into a tab; the first example is filled in."""
    gr.Markdown(tab.about)
    texts = presets[0] if presets else [""] * len(tab.texts)
    fields = [_field(tab, *one, text) for one, text in zip(tab.texts.items(), texts)]
    asked: list[Any] = list(fields)
    if tab.choice:
        label, choices = tab.choice
        if known := choices(models):
            asked.append(gr.Dropdown(known, value=known[0], label=label, interactive=True))
    with gr.Row():
        button = gr.Button("Show", variant="primary", scale=0, elem_id=f"{tab.name}-show")
    ways = [button.click, *(one.submit for one in fields)]
    ways += [one.input for one in asked[len(fields) :]]
    if presets:
        how: dict[str, Any] = {
            "label": "examples",
            "cache_examples": False,
            "api_visibility": "private",
        }
        held = gr.Examples([*map(list, presets)], fields, **how)
        ways.append(held.load_input_event.then)
    found = gr.HTML(elem_id=f"{tab.name}-found", elem_classes="fp-found", apply_default_css=False)
    show = partial(tab.show, models)
    for way in ways:
        shown = way(show, asked, found, api_visibility="private")
        shown.then(js=SCROLL % found.elem_id, api_visibility="private")
    if presets and tab is TABS[0]:  # the tab that the page opens with
        page.load(show, asked, found, api_visibility="private")


def _field(tab: Tab, label: str, lines: int, text: str) -> gr.Textbox:
    where = f"{tab.name}-{label.replace(' ', '-')}"
    size: dict[str, Any] = {"lines": lines, "max_length": LONGEST[lines]}
    return gr.Textbox(text, label=label, elem_id=where, **size)
