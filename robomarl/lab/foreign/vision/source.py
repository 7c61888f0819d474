"""`VisionSource`: a network that reads pictures, and its own framework."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.typing import NDArray

from robomarl.lab.foreign.vision.form import PictureForm

Reference = Callable[[np.ndarray], NDArray[np.float32]]
"""Picture of `PictureForm.shape` -> [S] numbers of all outputs in order, by the file's own framework."""


@dataclass(frozen=True)
class VisionSource:
    """A network that reads pictures."""

    framework: str
    """Framework that computes `reference`."""
    model: onnx.ModelProto
    picture: str
    """Input that takes the picture."""
    outputs: tuple[str, ...]
    """Outputs in the order of the numbers that the domain reads."""
    form: PictureForm
    reference: Reference
