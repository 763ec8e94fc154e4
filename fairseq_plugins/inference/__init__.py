"""From a checkpoint and raw text to translations, scores and attention."""
