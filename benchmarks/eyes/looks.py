"""Looks: from which ranges the cameras, the light and the noise of drawn pictures come, and what no training draws."""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from robomarl.core.camera.camera import CameraRanges, PinholeCamera
from robomarl.domains.soccer.lab.sight.pitch import as_mounted

Look = Literal["mounted", "trained", "unseen", "dark", "filmed"]
"""mounted: the ranges of the camera's file, but cameras are mounted as it says (MuJoCo's pictures are, too); trained:
these ranges, with mounts up to 2 degrees off; unseen and dark: outside the file's ranges, as mounted (`RANGES`);
filmed: `mounted`, and then what `Film` does."""
RANGES = {
    "unseen": CameraRanges(light=(0.4, 0.6), colour=(0.8, 0.88), blur=(0.8, 1.1), noise=(0.04, 0.06)),
    "dark": CameraRanges(light=(0.4, 0.5), colour=(0.78, 0.84), blur=(1.0, 1.2), noise=(0.05, 0.065)),
}
"""Darker, with less of all colours, more blurred, noisier. Training has drawn both since 2026-11-29 (`fit.wider`): of
kinds that it does not draw, `filmed` has five."""


def camera_with(camera: PinholeCamera, look: Look) -> PinholeCamera:
    """Return a camera whose pictures are drawn with this look."""
    if look == "trained":
        return camera
    return as_mounted(replace(camera, randomize=RANGES.get(look, camera.randomize)))


class Film(NamedTuple):
    """What cameras do and the renderer for training never draws, of B cameras: [B] each."""

    gamma: np.ndarray
    """Exponent of the brightness, 0.6 to 1.6."""
    saturation: np.ndarray
    """Share of the colour that is left, 0.55 to 1.35."""
    vignette: np.ndarray
    """Darkness at the sides of the picture, 0 to 0.5."""
    bands: np.ndarray
    """Depth of the bands that lamps make in rows, 0 to 0.2."""
    weave: np.ndarray
    """Contrast of the carpet's weave, 0 to 0.15."""


def draw_film(random: np.random.Generator, num: int) -> Film:
    """Draw the film of `num` cameras."""
    limits = ((0.6, 1.6), (0.55, 1.35), (0.0, 0.5), (0.0, 0.2), (0.0, 0.15))
    return Film(*(random.uniform(*limit, num) for limit in limits))


def filmed(strips: np.ndarray, film: Film, random: np.random.Generator) -> np.ndarray:
    """Return strips [B, R, C, 3] uint8 as these cameras would have them; bands and weave are new in each picture."""
    gamma, saturation, vignette, bands, weave = (part[:, None, None, None] for part in film)
    picture = strips / np.float32(255)
    grey = picture.mean(-1, keepdims=True)
    picture = np.clip(grey + saturation * (picture - grey), 0, 1) ** gamma
    rows, columns = strips.shape[1], strips.shape[2]
    across = np.linspace(-1, 1, columns)[None, None, :, None]
    phase = random.uniform(0, 2 * np.pi, (len(strips), 1, 1, 1))
    lamps = 1 + bands * np.sin(phase + np.arange(rows)[None, :, None, None] * 0.9)
    threads = 1 + weave * random.choice((-1.0, 1.0), (len(strips), rows, columns // 2, 1)).repeat(2, 2)
    picture = picture * (1 - vignette * across**2) * lamps * threads
    return (255 * np.clip(picture, 0, 1) + 0.5).astype(np.uint8)
