"""Looks: from which ranges the cameras, the light and the noise of drawn pictures come."""

from dataclasses import replace
from typing import Literal

from robomarl.core.camera.camera import CameraRanges, PinholeCamera
from robomarl.domains.soccer.lab.sight.pitch import as_mounted

Look = Literal["mounted", "trained", "unseen"]
"""mounted: as in training, but cameras are mounted as their file says (MuJoCo's pictures are, too); trained: as in
training, with mounts up to 2 degrees off; unseen: outside the ranges of training (`UNSEEN`), as mounted."""
UNSEEN = CameraRanges(light=(0.4, 0.6), colour=(0.8, 0.88), blur=(0.8, 1.1), noise=(0.04, 0.06))
"""Ranges that training never draws: darker, with a cast of colour, more blurred, noisier."""


def camera_with(camera: PinholeCamera, look: Look) -> PinholeCamera:
    """Return a camera whose pictures are drawn with this look."""
    if look == "trained":
        return camera
    return as_mounted(replace(camera, randomize=UNSEEN) if look == "unseen" else camera)
