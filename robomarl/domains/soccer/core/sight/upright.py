"""`upside_down`: whether a strip shows the field where the sky should be. Soccer is played on a green carpet."""

import numpy as np

from robomarl.core.camera.strip import GroundStrip, Picture8

GREEN = 1.12
"""Least ratio of green to the larger of red and blue of a cell of carpet."""
DARK = 12
"""Cells with less green than this are of no colour."""
NEAR_ROWS = 9
"""Lowest rows of the strip: carpet within 0.3 m, or a thing that stands there."""
ABOVE, BELOW = 0.5, 0.1
"""A strip is upside down if more than this share of the cells above the horizon is carpet, and less than this share of
the lowest rows."""


def upside_down(strip: Picture8, layout: GroundStrip) -> str:
    """Return why a strip [R, C, 3] is none of a camera that stands upright; "" if it may be one."""
    above = _carpet(strip[: layout.above_rows])
    below = _carpet(strip[-NEAR_ROWS:]) if above > ABOVE else 1.0
    if above > ABOVE and below < BELOW:
        return (
            f"is upside down: {above:.0%} of what it shows above the horizon is carpet, and {below:.0%} of the ground; "
            "mount the camera as the bundle's, or mend `pitch_rad`"
        )
    return ""


def _carpet(cells: Picture8) -> float:
    """Share of cells [R, C, 3] that are carpet."""
    red, green, blue = (cells[..., k].astype(np.float32) for k in range(3))
    return np.count_nonzero((green > GREEN * np.maximum(red, blue)) & (green > DARK)) / green.size
