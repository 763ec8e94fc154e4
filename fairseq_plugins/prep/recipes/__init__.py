"""What each kind of preparation does, step by step."""
