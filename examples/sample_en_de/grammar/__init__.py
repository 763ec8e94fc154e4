"""A small English-German grammar: one abstract sentence, spelt out in both languages."""
