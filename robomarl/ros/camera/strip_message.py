"""Messages of the strips that networks were given."""

from sensor_msgs.msg import Image

from robomarl.ros.camera.image_reader import CameraSight
from robomarl.ros.convert import header


def strip_from(sight: CameraSight, robot: str) -> Image:
    """Return a strip as `sensor_msgs/Image`, at the stamp of its picture."""
    rows, columns, _ = sight.strip.shape
    made = header(sight.stamp_s)
    made.frame_id = f"{robot}/camera"
    message = Image(header=made, height=rows, width=columns, encoding="rgb8", step=3 * columns)
    message.data.frombytes(sight.strip.tobytes())
    return message
