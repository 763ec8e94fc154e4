"""What an experiment file asks for: grids, their cells, what each trains with."""
