"""Commands that make the book: notebooks, pages, PDF, release."""

import importlib.util
from pathlib import Path


def require_checkout(root: Path) -> None:
    """Refuse to build with the `lib` of another checkout, which an editable install may point to.

    Raises: SystemExit if Python finds `lib` outside `root`.
    """
    spec = importlib.util.find_spec("lib")
    origin = Path(spec.origin).resolve() if spec and spec.origin else None
    if origin is None or not origin.is_relative_to(root):
        raise SystemExit(
            f"This command needs the `lib` of its own checkout, {root / 'lib'}; Python finds "
            f"{origin or 'none'}. Set PYTHONPATH={root}, or run `pip install --no-deps -e {root}`."
        )
