"""Trees of arrays (pytrees of JAX), by their content: their form is up to the domain, to flax or to optax."""

from typing import Any

Tree = Any
"""Nested tuples, dicts and dataclasses of arrays, in a form that the code at hand need not know."""
Params = Any
"""Parameters of networks as flax keeps them, nested dicts of arrays; and trees of their form: gradients, steps."""
Parts = dict[str, Params]
"""Parameters of `actor` and `critic`."""
Moments = Any
"""State of an optimizer of optax."""
PartMoments = dict[str, Moments]
"""State of the optimizer of each part."""
