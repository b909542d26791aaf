"""Interpret heads: record, ablate, patch, score and probe them."""
