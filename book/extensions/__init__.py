"""Sphinx extensions of this book."""
