"""One page about experiments: what is shown, as HTML and as Markdown."""
