"""Cables as straight rods in the colour of their tension, for viewers and films."""

from typing import NamedTuple

import numpy as np

from robomarl.lab.scene.scene import RGB, SceneMoment

COLOURS = np.array([(90, 150, 255), (50, 160, 70), (250, 185, 25), (230, 30, 25)], float)
"""Slack, at half of the working tension, at the working tension, at twice of it and above: linear in between."""
AT = (0.0, 0.5, 1.0, 2.0)
"""Tension over the working tension at which a cable has each of the colours."""
SHADES = 16
"""Steps of the tension between 0 and the working tension that have a colour of their own."""


class Cable(NamedTuple):
    """One cable as a straight rod."""

    place_m: np.ndarray
    """[3] its end at the robot."""
    along_m: np.ndarray
    """[3] from there to its end at the load."""
    rgb: RGB

    @property
    def length_m(self) -> float:
        """Distance between the two ends."""
        return max(float(np.linalg.norm(self.along_m)), 1e-6)

    @property
    def turn(self) -> np.ndarray:
        """[4] rotation, wxyz, from the z axis to the direction of the cable."""
        x, y, z = (self.along_m / self.length_m).tolist()
        half = np.array([1 + z, -y, x, 0.0])  # 1 + cosine, and z axis x direction: the rotation, times a factor
        return half / np.linalg.norm(half) if 1 + z > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])


def laid(moment: SceneMoment, working_n: float) -> list[Cable | None]:
    """Return every cable of a moment; None for one that is cut."""
    ends = zip(moment.pos_m, moment.tied_m, moment.tension_n, strict=False)
    return [
        Cable(place, tied - place, _colour(tension / working_n)) if np.isfinite(tied).all() else None
        for place, tied, tension in ends
    ]


def _colour(share: float) -> RGB:
    """Return the colour of a tension that is `share` of the working tension."""
    shade = round(share * SHADES) / SHADES
    red, green, blue = (round(float(np.interp(shade, AT, channel))) for channel in COLOURS.T)
    return red, green, blue
