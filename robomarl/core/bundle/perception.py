"""`Perception`: the sealed network of a bundle that reads pictures, checked on the bundle's golden pictures.

The network is a file of the bundle like the policy. `images.npz` holds its golden values: pictures of the camera, their
strips, which are equal in every bit on any machine, and the network's outputs.
"""

import io

import numpy as np
from numpy.typing import NDArray

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import IMAGES_FILE, PERCEPTION_FILE, Bundle
from robomarl.core.bundle.image_input import ImageInput
from robomarl.core.bundle.runtime import GraphSession, open_session
from robomarl.core.camera.strip import Picture8, to_strip
from robomarl.core.config import UserError

SIGHT_TOLERANCE = 1e-3
"""Largest difference of a number of the network, which are of the order of 1: convolutions are summed in any order."""
MIN_PICTURES = 2
"""Least number of golden pictures."""


class Perception:
    """The network of a bundle that sees, on one thread."""

    def __init__(self, image: ImageInput, graph: bytes) -> None:
        """Open the graph.

        Raises:
            UserError: it is broken, or has other inputs and outputs than the contract says.
        """
        self.image = image
        self._session: GraphSession = open_session(graph, PERCEPTION_FILE)
        check_perception(self._session, image)
        self._strip = np.zeros((1, *image.strip.shape), np.uint8)
        self._sight = np.zeros((1, image.outputs), np.float32)
        self._binding = self._session.io_binding()
        (source,), (target,) = self._session.get_inputs(), self._session.get_outputs()
        self._binding.bind_input(source.name, "cpu", 0, np.uint8, self._strip.shape, self._strip.ctypes.data)
        self._binding.bind_output(target.name, "cpu", 0, np.float32, self._sight.shape, self._sight.ctypes.data)

    def to_strip(self, picture: Picture8) -> Picture8:
        """Return the strip [R, C, 3] of a picture [H, W, 3]."""
        return to_strip(picture, self.image.table)

    def __call__(self, strip: Picture8) -> NDArray[np.float32]:
        """Return the outputs [S] for a strip [R, C, 3]."""
        self._strip[0] = strip
        self._session.run_with_iobinding(self._binding)
        return self._sight[0].copy()


def check_perception(session: GraphSession, image: ImageInput) -> None:
    """Compare the graph's input and output with the contract.

    Raises:
        UserError: a name, type or size differs.
    """
    found = [(n.name, n.type, tuple(n.shape[1:])) for n in (*session.get_inputs(), *session.get_outputs())]
    wanted = [("strip", "tensor(uint8)", image.strip.shape), ("sight", "tensor(float)", (image.outputs,))]
    if found != wanted:
        raise UserError(f"{PERCEPTION_FILE}: has {found}, but bundle.json says {wanted}; export the bundle anew.")


def open_perception(bundle: Bundle, check_golden: bool = True) -> Perception | None:
    """The network of a bundle, checked on its golden pictures; None for a bundle that reads no pictures.

    Raises:
        UserError: the network is broken, or acts differently here.
    """
    if (image := bundle.contract.image) is None:
        return None
    perception = Perception(image, bundle.files[PERCEPTION_FILE])
    for deviation in check_images(perception, bundle.files) if check_golden else ():
        if not deviation.ok:
            raise UserError(f"{bundle.folder}: {deviation}; this machine does not see as it was trained, don't fly it.")
    return perception


def check_images(perception: Perception, files: dict[str, bytes]) -> list[golden.Deviation]:
    """Return the worst cell of the strips and the worst number of the network on the golden pictures.

    Raises:
        UserError: the file is missing or broken, or of other sizes than the contract says.
    """
    pictures, strips, sights = read_images(perception.image, files)
    ours = np.stack([perception.to_strip(picture) for picture in pictures])
    seen = np.stack([perception(strip) for strip in strips])
    cells = ours.reshape(len(ours), 1, 1, -1).astype(np.float64), strips.reshape(len(ours), 1, 1, -1)
    rows, columns, channels = perception.image.strip.shape
    names = [f"cell {r}, {c}, {'rgb'[d]}" for r in range(rows) for c in range(columns) for d in range(channels)]
    numbers = [f"output {i}" for i in range(sights.shape[-1])]
    return [
        golden.worst("strip", cells[0], cells[1], names, 0.0),
        golden.worst("sight", seen[:, None, None], sights[:, None, None], numbers, SIGHT_TOLERANCE),
    ]


def read_images(image: ImageInput, files: dict[str, bytes]) -> tuple[Picture8, Picture8, NDArray[np.float32]]:
    """Return pictures [K, H, W, 3], strips [K, R, C, 3] and outputs [K, S] of a bundle's golden values.

    Raises:
        UserError: the file is missing or broken, or of other sizes than the contract says.
    """
    arrays = golden.arrays_of(files.get(IMAGES_FILE, b""), IMAGES_FILE)
    camera, count = image.camera, len(arrays.get("image", ()))
    wanted = {
        "image": ((count, camera.height, camera.width, 3), np.uint8),
        "strip": ((count, *image.strip.shape), np.uint8),
        "sight": ((count, image.outputs), np.float32),
    }
    found = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    if found != wanted or count < MIN_PICTURES:
        raise UserError(f"{IMAGES_FILE}: holds other arrays than bundle.json says ({found}); export the bundle anew.")
    return arrays["image"], arrays["strip"], arrays["sight"]


def images_to_bytes(image: Picture8, strip: Picture8, sight: NDArray[np.float32]) -> bytes:
    """Return the content of `images.npz`; arguments as `read_images` returns them."""
    stream = io.BytesIO()
    np.savez_compressed(stream, image=image, strip=strip, sight=sight)
    return stream.getvalue()
