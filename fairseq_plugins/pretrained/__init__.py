"""Encoders' weights and tokenisers in Hugging Face's and fairseq's formats."""
