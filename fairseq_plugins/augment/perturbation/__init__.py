"""The ten transformations of the DABERT paper's Table 3, after TextFlint's definitions."""
