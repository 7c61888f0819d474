"""PyTorch, where it is installed: the extra `torch`."""

from typing import Any


def pytorch() -> Any:
    """The module; raises `ModuleNotFoundError` where the extra is not installed."""
    import torch  # pyright: ignore[reportMissingImports]

    return torch
