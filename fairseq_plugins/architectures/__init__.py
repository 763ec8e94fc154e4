"""From options to models of text, in plain torch: what `models` registers and bundles load."""
