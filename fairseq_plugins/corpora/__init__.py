"""What files hold: the official formats, datasets by name, parallel text. No models here."""
