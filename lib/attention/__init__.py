"""Attention and what it needs: scores, masks, positions, heads, caches, kernels."""
