"""`share_bound`: how large the share of bad episodes may be, after so many were flown."""

from scipy.stats import beta


def share_bound(bad: int, episodes: int) -> float:
    """Return the upper bound of the share of bad episodes (95 %, Clopper and Pearson)."""
    return 1.0 if bad == episodes else float(beta.ppf(0.95, bad + 1, episodes - bad))
