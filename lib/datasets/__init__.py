"""Small texts to learn from, made by rules, and small stored data."""
