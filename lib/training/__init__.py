"""Training a GPT-2: windows of text, optimizers, the loop, checkpoints."""
