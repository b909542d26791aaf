"""The models of the course in plain PyTorch, and text generation with them."""
