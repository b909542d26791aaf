"""What the course defines, in plain NumPy and plain PyTorch."""

LAYERS = (
    "shapes",
    "seeds",
    "functional",
    "by_hand",
    "datasets",
    "text",
    "attention",
    "models",
    "training",
    "pretrained",
    "interpretability",
    "debugging",
    "fast",
)
"""The modules and packages of lib: each imports only those before it."""
