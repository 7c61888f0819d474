"""Views and memories as trees of arrays: whether they are finite, one or another of two.

A tree is a leaf or a tuple of trees. A leaf is an array [..., *tail] of robots with leading axes [...], or for one
robot a list of numbers.
"""

from collections.abc import Callable

import numpy as np

from robomarl.core.filter.tree import Branch, Tree, leaves


def all_finite(tree: Tree, lead: tuple[int, ...]) -> np.ndarray:
    """[*lead] bool: every number of a robot is finite, in the single precision of a policy too."""
    good = np.ones(lead, bool)
    for _, leaf in leaves(tree):
        good &= np.isfinite(np.asarray(leaf, np.float32)).reshape(*lead, -1).all(-1)
    return good


def total(tree: Tree) -> float:
    """The sum of all numbers: not finite where one is not, and sooner known than which."""
    if isinstance(tree, tuple):
        return sum(map(total, tree))
    return sum(tree) if isinstance(tree, list) else float(tree.sum()) if getattr(tree, "ndim", 0) else float(tree)


def chosen(use: np.ndarray, this: Any, other: Any) -> Any:
    """Return a tree with the values of `this` for the robots where `use` [...] is True, and of `other` for the rest."""
    if isinstance(this, tuple):
        parts = [chosen(use, a, b) for a, b in zip(this, other, strict=True)]
        return type(this)(*parts) if hasattr(this, "_fields") else tuple(parts)
    if isinstance(this, list):
        return this if use else other
    whose = use.reshape(use.shape + (1,) * (np.ndim(this) - use.ndim))
    return np.where(whose, this, other).astype(np.asarray(this).dtype)


def leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, leaf) of a tree."""
    if not isinstance(tree, tuple):
        yield name, tree
        return
    names = getattr(tree, "_fields", None) or [f"[{at}]" for at in range(len(tree))]
    for field, part in zip(names, tree, strict=True):
        yield from leaves(part, f"{name}.{field}".strip(".").replace(".[", "["))
