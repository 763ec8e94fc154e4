"""Registered tasks: read options and folders, build datasets, adapt inference."""

from .syntax_translation import SyntaxTranslationTask

__all__ = ["SyntaxTranslationTask"]
