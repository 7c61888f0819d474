"""Numbers as people read them, and the interval that belongs to a count."""

import math

NBSP = "\N{NO-BREAK SPACE}"
"""Space between a number and its unit, so that no line ends there."""


def si(value: float) -> str:
    """Three digits and a prefix: 25300 -> "25.3 k"; powers of ten below a thousandth."""
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= factor * 0.9995:
            return f"{value / factor:.3g}{NBSP}{prefix}"
    if 0 < size < 0.9995e-3:
        digits, _, power = f"{value:.1e}".partition("e")
        power = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{digits.removesuffix('.0')}·10{power}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def duration(seconds: float) -> str:
    """A time as "8.2 s", "11 min 20 s" or "2 h 05 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f}{NBSP}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{NBSP}s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s".replace(" ", NBSP)
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min".replace(" ", NBSP)


def percent(share: float) -> str:
    """Return a share as a percentage; "100 %" and "0 %" only if exact, never by rounding."""
    text = f"{100 * share:.1f}".removesuffix(".0")
    if text in ("100", "0") and share not in (0, 1):
        text = f"{100 * share:.3g}" if share < 0.5 else f"{100 * share:.5g}"
    return f"{text}{NBSP}%"


def share_of(count: int, total: int) -> str:
    """Return a count with its denominator: "48 of 50 (96 %)"; "none of 0" has no percentage."""
    return f"{count:,} of {total:,}" + (f" ({percent(count / total)})" if total else "")


def collision_words(count: float) -> str:
    """Return how many collisions there were, in words where there were few."""
    return {0: "no collision", 1: "one collision"}.get(int(count), f"{count:g} collisions")


def metres(value: float) -> str:
    """A length as "0.234 m", to the millimetre."""
    return f"{value:.3f}{NBSP}m".replace("-", "−") if math.isfinite(value) else "–"


def microseconds(value: float) -> str:
    """A time in microseconds as "86 µs" or "1.42 ms"."""
    return f"{value:.0f}{NBSP}µs" if value < 1000 else f"{value / 1000:.3g}{NBSP}ms"


def wilson(successes: int, episodes: int, z: float = 1.959964) -> tuple[float, float]:
    """Interval of a success rate (Wilson, 1927): 95 % unless another quantile is given.

    Returns:
        (low, high) as shares; (0, 1) without episodes.
    """
    if episodes <= 0:
        return 0.0, 1.0
    rate, square = successes / episodes, z * z / episodes
    centre = (rate + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(rate * (1 - rate) / episodes + square / (4 * episodes))
    return max(0.0, centre - half), min(1.0, centre + half)
