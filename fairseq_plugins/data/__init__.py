"""fairseq datasets (collation) and the writer of their binary files."""
