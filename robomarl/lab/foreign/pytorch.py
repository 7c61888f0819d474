"""PyTorch, where it is installed: the extra `torch`."""

from types import ModuleType


def pytorch() -> ModuleType:
    """The module; raises `ModuleNotFoundError` where the extra is not installed."""
    import torch  # pyright: ignore[reportMissingImports]

    return torch
