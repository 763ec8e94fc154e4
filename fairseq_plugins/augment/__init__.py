"""New examples from old ones: perturbed pairs, injected errors, paraphrased questions."""
