"""Models with one fault each, and the experiments that diagnose it."""
