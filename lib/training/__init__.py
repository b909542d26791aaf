"""Training a GPT-2: windows of tokens, optimizers, the training loop, checkpoints."""
