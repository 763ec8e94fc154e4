"""Running of experiments: local or in jobs, resumed, with later steps."""
