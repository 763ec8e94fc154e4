"""One command, ``fairseq-plugins``: a subcommand a file."""
