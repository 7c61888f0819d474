"""Trees of arrays in training, by their content: their form is up to flax and optax."""

from typing import Any

Params = Any
"""Parameters of networks as flax keeps them, nested dicts of arrays; and trees of their form: gradients, steps."""
Moments = Any
"""State of an optimizer of optax."""
Parts = dict[str, Params]
"""Parameters of `actor` and `critic`."""
PartMoments = dict[str, Moments]
"""State of the optimizer of each part."""
