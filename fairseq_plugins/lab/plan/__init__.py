"""Content of an experiment file: grids, their cells, the data and options of each cell."""
