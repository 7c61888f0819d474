"""`Spread`: a covariance [2, 2] as three floats. Numpy takes a microsecond for each operation on so small a matrix."""

Place = tuple[float, float]
"""x, y [m]."""
Spread = tuple[float, float, float]
"""xx, xy, yy of a symmetric matrix [2, 2]."""


def inverse(spread: Spread) -> Spread:
    """Return the inverse; raises `ZeroDivisionError` for a matrix that has none."""
    xx, xy, yy = spread
    scale = 1 / (xx * yy - xy * xy)
    return yy * scale, -xy * scale, xx * scale


def squared(inverted: Spread, off: Place) -> float:
    """Return the squared Mahalanobis distance of a vector, by the inverse of its covariance."""
    x, y = off
    return inverted[0] * x * x + 2 * inverted[1] * x * y + inverted[2] * y * y


def widened(spread: Spread, deviation: float) -> Spread:
    """Return the covariance plus that of an independent error with this standard deviation in both axes."""
    return spread[0] + deviation * deviation, spread[1], spread[2] + deviation * deviation


def largest(spread: Spread) -> float:
    """Return the larger eigenvalue: the variance along the worst axis."""
    xx, xy, yy = spread
    half = (xx - yy) / 2
    return (xx + yy) / 2 + (half * half + xy * xy) ** 0.5
