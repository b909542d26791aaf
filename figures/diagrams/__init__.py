"""Schematics: the decoder, and the drawings of single chapters."""
