"""What a parse is: label inventories, trees, and words against subwords. Plain Python and NumPy."""
