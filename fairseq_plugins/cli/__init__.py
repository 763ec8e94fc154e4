"""The command ``fairseq-plugins``: one file for each subcommand."""
