"""Models with one fault each, and the experiments that find it."""
