"""Messages of a robot's camera, as a driver publishes them, and the bundle that expects them."""

import io

import numpy as np
from PIL import Image as Pillow
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.ros.convert import header


def image_message(picture: Picture8, stamp_s: float, frame: str = "blue_0/camera", encoding: str = "rgb8") -> bytes:
    made = header(stamp_s)
    made.frame_id = frame
    rows, columns = picture.shape[:2]
    message = Image(header=made, height=rows, width=columns, encoding=encoding, step=3 * columns)
    message.data.frombytes(picture.tobytes())
    return serialize_message(message)


def packed_message(picture: Picture8, stamp_s: float, kind: str = "png") -> bytes:
    stream = io.BytesIO()
    Pillow.fromarray(picture).save(stream, kind)
    return packed_bytes(stream.getvalue(), stamp_s, kind)


def packed_bytes(content: bytes, stamp_s: float, kind: str = "png") -> bytes:
    made = header(stamp_s)
    made.frame_id = "blue_0/camera"
    message = CompressedImage(header=made, format=f"rgb8; {kind} compressed")
    message.data.frombytes(content)
    return serialize_message(message)


def info_message(camera: PinholeCamera, stamp_s: float, **changed: float) -> CameraInfo:
    numbers = {name: changed.get(name, getattr(camera, name)) for name in ("fx", "fy", "cx", "cy")}
    size = {name: int(changed.get(name) or getattr(camera, name)) for name in ("width", "height")}
    message = CameraInfo(header=header(stamp_s), distortion_model="plumb_bob", **size)
    message.header.frame_id = "blue_0/camera"
    k1 = changed.get("k1", camera.distortion[0])
    message.d = [k1, *camera.distortion[1:]]
    message.k = [numbers["fx"], 0.0, numbers["cx"], 0.0, numbers["fy"], numbers["cy"], 0.0, 0.0, 1.0]
    return message


def field_picture(camera: PinholeCamera, seed: int) -> Picture8:
    """A green carpet up to the horizon, grey above, with noise: no two are equal."""
    random = np.random.default_rng(seed)
    rows = np.arange(camera.height)[:, None].repeat(camera.width, 1).astype(float)
    columns = np.arange(camera.width)[None].repeat(camera.height, 0).astype(float)
    up = camera.rays(np.stack([columns, rows], -1))[..., 2] > 0
    image = random.integers(0, 12, (camera.height, camera.width, 3), np.uint8)
    image += np.where(up[..., None], np.array([120, 115, 125], np.uint8), np.array([30, 95, 40], np.uint8))
    return image
