"""Moodle and Canvas: the names of what they hand over, and the files that they take back."""
