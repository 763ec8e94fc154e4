"""Readers of the official files of understanding tasks, and of the user's own."""
