"""Writes `vectors/decisions.npz`: `python -m tests.core.filter.make_vectors`, when the filter is to decide otherwise.

What it writes is the decision of `decision.filter_batch` in numpy, one robot at a time; every other backend is held to
it.
"""

from pathlib import Path

import numpy as np

from robomarl.core.filter.filter import SafetyFilter
from tests.core.filter.views import PARAMS, leaves, pick, random_carry, random_views

FILE = Path(__file__).parent / "vectors" / "decisions.npz"
NUM, MATES = 200, 3


def rounded(tree):
    """The numbers that single precision holds, in double: single and double see the same problem."""
    if isinstance(tree, tuple):
        return type(tree)(*map(rounded, tree))
    return tree.astype(np.float32).astype(float) if tree.dtype == float else tree


def inputs() -> tuple:
    """Memories, views and nominal commands [NUM]."""
    random = np.random.default_rng(20261121)
    views = rounded(random_views(random, NUM, MATES))
    carry = rounded(random_carry(PARAMS, random, NUM))
    nominal = rounded(random.normal(size=(NUM, 4)) * 3)
    # The last ones are faults: a number that is none, a stamp from the future, one that is too old.
    views.own.vel_m_s[-1, 1], views.heard.age_s[-2, 0], views.heard.age_s[-3, 0] = np.nan, -0.9, 0.9
    views.heard.mask[-3:] = True
    return carry, views, nominal


def main() -> None:
    """Write the file."""
    carry, views, nominal = inputs()
    safety = SafetyFilter(PARAMS, backend="numpy")
    done = [safety(pick(carry, i), pick(views, i), nominal[i])[1] for i in range(NUM)]
    arrays = {f"view.{name}": leaf for name, leaf in leaves(views)} | {f"carry.{n}": leaf for n, leaf in leaves(carry)}
    arrays |= {name: np.array([getattr(result, name) for result in done]) for name in ("command", "reason", "slack")}
    np.savez_compressed(FILE, nominal=nominal, gap_m=[result.margin_m for result in done], **arrays)


if __name__ == "__main__":
    main()
