"""Official file formats, datasets by name, and parallel text. No models here."""
