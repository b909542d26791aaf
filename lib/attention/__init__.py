"""Attention and its parts: scores, masks, positions, heads, KV cache, fused and tiled kernels."""
