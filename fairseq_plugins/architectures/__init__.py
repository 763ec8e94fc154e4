"""Models of text from options, in plain torch; `models` registers them, bundles load them."""
