"""Registered criterions. Translation uses fairseq's own."""
