"""Views and memories as trees of arrays: whether they are finite, one or another of two.

A tree is a leaf or a tuple of trees. A leaf is an array [..., *tail] of robots with leading axes [...], or for one
robot a list of numbers.
"""

from collections.abc import Callable

import numpy as np

from robomarl.core.tree import Branch, Tree, leaves


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
    if isinstance(tree, list):
        return sum(tree)
    return float(tree) if isinstance(tree, (int, float)) else float(tree.sum())


def chosen(use: np.ndarray, this: Branch, other: Branch) -> Branch:
    """Return a tree with the values of `this` for the robots where `use` [...] is True, and of `other` for the rest."""
    make: Callable[[list[Tree]], Branch] = getattr(this, "_make", type(this))
    return make([_chosen(use, a, b) for a, b in zip(this, other, strict=True)])


def _chosen(use: np.ndarray, this: Tree, other: Tree) -> Tree:
    if isinstance(this, tuple) and isinstance(other, tuple):
        return chosen(use, this, other)
    if isinstance(this, list):
        return this if use else other
    mine, its = np.asarray(this), np.asarray(other)
    return np.where(use.reshape(use.shape + (1,) * (mine.ndim - use.ndim)), mine, its).astype(mine.dtype)
