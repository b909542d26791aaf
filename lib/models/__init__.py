"""The models of the course in plain PyTorch, and the text they generate."""
