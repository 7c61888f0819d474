"""`ImageWriter`: pictures as the bytes of `sensor_msgs/Image`, and a camera as `sensor_msgs/CameraInfo`."""

import io
from importlib import import_module

from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import Header

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.ros.convert import header
from robomarl.ros.io import cdr

QUALITY = 85
"""Quality of JPEG: about 40 kB for 640 x 480."""


class ImageWriter:
    """Writes the pictures of one camera: everything but stamp and pixels is made once."""

    def __init__(self, camera: PinholeCamera, frame: str) -> None:
        """Prepare messages with this `header.frame_id`."""
        self._camera, self._frame = camera, frame
        size = {"height": camera.height, "width": camera.width, "step": 3 * camera.width}
        message = Image(header=Header(frame_id=frame), encoding="rgb8", **size)
        white = b"\xff" * (3 * camera.width * camera.height)
        message.data.frombytes(white)
        head, _, self._tail = serialize_message(message).partition(white)
        self._head = bytearray(head)

    def __call__(self, picture: Picture8, stamp_s: float) -> bytes:
        """Return the serialized message of a picture [H, W, 3]."""
        cdr.set_stamp(self._head, stamp_s)
        return b"".join((self._head, picture.tobytes(), self._tail))

    def jpeg(self, picture: Picture8, stamp_s: float) -> CompressedImage:
        """Return a picture [H, W, 3] as JPEG; needs Pillow."""
        made, stream = header(stamp_s), io.BytesIO()
        made.frame_id = self._frame
        import_module("PIL.Image").fromarray(picture).save(stream, "jpeg", quality=QUALITY)
        message = CompressedImage(header=made, format="rgb8; jpeg compressed bgr8")
        message.data.frombytes(stream.getvalue())
        return message

    def info(self, stamp_s: float) -> CameraInfo:
        """Return the camera as its driver publishes it beside each picture."""
        camera, made = self._camera, header(stamp_s)
        made.frame_id = self._frame
        message = CameraInfo(header=made, height=camera.height, width=camera.width, distortion_model="plumb_bob")
        fx, fy, cx, cy = camera.fx, camera.fy, camera.cx, camera.cy
        message.d = list(camera.distortion)
        message.k = [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0]
        message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        message.p = [fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
        return message
