"""A local page on which trained models can be looked at: what they read, say and attend to."""
