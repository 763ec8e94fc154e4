"""Data preparation: from files of raw text to a prepared folder. No models here."""
