"""What heads do: recorded, ablated, patched, scored, probed."""
