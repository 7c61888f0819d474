"""`Camera`: the place from which films are seen, and the pixels at which things are."""

from typing import NamedTuple

import numpy as np

FOVY_DEG = 32.0
"""Height of the picture as an angle."""
EDGES = (-0.95, 0.95, -0.94, 0.84)
"""Left, right, bottom and top of the part of a picture that is used, in halves of it: the caption is above."""


class Camera(NamedTuple):
    """A pinhole camera that looks at a place, as MuJoCo has it."""

    look_m: np.ndarray
    """[3] place in the middle of the picture."""
    distance_m: float
    azimuth_deg: float
    elevation_deg: float
    size: tuple[int, int]
    """Width and height of the picture [pixels]."""

    @property
    def axes(self) -> np.ndarray:
        """[3, 3] directions to the right, upwards and forwards, world frame."""
        azimuth, elevation = np.radians([self.azimuth_deg, self.elevation_deg])
        forward = np.array(
            [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
        )
        right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        return np.stack([right, np.cross(right, forward), forward])

    def pixels(self, places_m: np.ndarray) -> np.ndarray:
        """Return [K, 2] pixels of places [K, 3]."""
        right, up, depth = self.axes @ (places_m - self.look_m).T
        far = np.maximum(depth + self.distance_m, 1e-3) * np.tan(np.radians(FOVY_DEG) / 2)
        half = self.size[1] / 2
        return np.stack([self.size[0] / 2 + half * right / far, half - half * up / far], -1)


def fitted(places_m: np.ndarray, size: tuple[int, int], azimuth_deg: float, elevation_deg: float) -> Camera:
    """Return the nearest camera that has all places [K, 3] in its picture."""
    camera = Camera(np.zeros(3), 0.0, azimuth_deg, elevation_deg, size)
    tall = np.tan(np.radians(FOVY_DEG) / 2)
    slopes = np.array(EDGES).reshape(2, 2) * [[tall * size[0] / size[1]], [tall]]
    right, up, forward = places_m @ camera.axes.T[:, 0], places_m @ camera.axes.T[:, 1], places_m @ camera.axes.T[:, 2]
    # A place is left of the right edge if x - slope z is below that of the camera, and so on.
    most = np.array([np.max(along - slope * forward) for along, slope in zip((right, up), slopes[:, 1], strict=True)])
    least = np.array([np.min(along - slope * forward) for along, slope in zip((right, up), slopes[:, 0], strict=True)])
    eye_z = float(np.min((least - most) / (slopes[:, 1] - slopes[:, 0])))
    eye_xy = (most + slopes[:, 1] * eye_z + least + slopes[:, 0] * eye_z) / 2
    distance = float(np.median(forward)) - eye_z
    look = np.array([*eye_xy, eye_z + distance]) @ camera.axes
    return camera._replace(look_m=look, distance_m=distance)
