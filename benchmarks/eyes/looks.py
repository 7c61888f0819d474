"""Looks: from which ranges the cameras, the light and the noise of drawn pictures come."""

from dataclasses import replace
from typing import Literal

from robomarl.core.camera.camera import CameraRanges, PinholeCamera
from robomarl.domains.soccer.lab.sight.pitch import as_mounted

Look = Literal["mounted", "trained", "unseen", "dark"]
"""mounted: the ranges of the camera's file, but cameras are mounted as it says (MuJoCo's pictures are, too); trained:
these ranges, with mounts up to 2 degrees off; unseen and dark: outside the file's ranges, as mounted (`RANGES`)."""
RANGES = {
    "unseen": CameraRanges(light=(0.4, 0.6), colour=(0.8, 0.88), blur=(0.8, 1.1), noise=(0.04, 0.06)),
    "dark": CameraRanges(light=(0.4, 0.5), colour=(0.78, 0.84), blur=(1.0, 1.2), noise=(0.05, 0.065)),
}
"""Darker, with less of all colours, more blurred, noisier. Training draws more than the file's ranges (`fit.wider`): a
part of `unseen`, and nothing of `dark`."""


def camera_with(camera: PinholeCamera, look: Look) -> PinholeCamera:
    """Return a camera whose pictures are drawn with this look."""
    if look == "trained":
        return camera
    return as_mounted(replace(camera, randomize=RANGES.get(look, camera.randomize)))
