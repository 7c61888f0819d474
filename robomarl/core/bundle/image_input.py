"""`ImageInput`: the picture that a bundle's robots see, as the contract says it.

A camera's picture becomes a strip (`robomarl.core.camera`), the bundle's perception network makes numbers of the strip
(`perception`), and the domain's tracker makes of these what the policy sees as `sensed`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip, StripTable, strip_table
from robomarl.core.config import Count, Positive


@dataclass(frozen=True)
class ImageInput:
    """A picture as an input of the policy."""

    camera: PinholeCamera
    """Camera of the vehicle in training: intrinsics, mount, exposure, rate, latency."""
    strip: GroundStrip
    """The picture that the network reads."""
    outputs: Count
    """Numbers that the network makes of a strip; the domain says which is which."""
    max_age_s: Positive
    """Maximum age of a picture: a robot whose newest one is older is blind."""
    max_pose_error_m: Positive
    """Largest error of the own place, as the robot's tracker states it, with which the robot moves."""
    topic: Literal["camera/image_raw"] = "camera/image_raw"
    """Topic in the robot's namespace, the only one that rights and recorder know; `camera_info` is beside it."""
    frame: str = "camera"
    """End of `header.frame_id`."""
    encoding: Literal["rgb8"] = "rgb8"

    def __post_init__(self) -> None:
        """Check the ages against each other; raises `ValueError`."""
        if self.max_age_s <= self.camera.latency_s:
            raise ValueError(
                f"max_age_s = {self.max_age_s:g} must be above the camera's latency_s = {self.camera.latency_s:g}."
            )

    @cached_property
    def table(self) -> StripTable:
        """The pixels of each cell of the strip."""
        return strip_table(self.camera, self.strip)
