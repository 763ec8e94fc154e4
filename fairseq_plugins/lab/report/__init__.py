"""One page about experiments, as HTML and as Markdown."""
