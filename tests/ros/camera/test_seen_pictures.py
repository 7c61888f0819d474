"""The page of a match shows what robots saw, with the network's belief at the place of the thing."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("rclpy")
pytest.importorskip("onnx")

from rclpy.serialization import serialize_message

from robomarl.core.bundle.perception import open_perception
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.front.seen import WIDTH, seen_pictures
from robomarl.ros import topics
from robomarl.ros.camera.image_reader import CameraSight
from robomarl.ros.camera.strip_message import strip_from
from robomarl.ros.io.node_base import message_class
from robomarl.ros.recording.bag_writer import BagWriter, definition_of
from tests.core.bundle.seeing import CAMERA, network, seeing_bundle
from tests.ros.camera.pictures import field_picture, packed_message

AZIMUTH_RAD, RANGE_M = 0.4, 0.3


def strip_bytes(seen: CameraSight) -> bytes:
    return serialize_message(strip_from(seen, "blue_0"))


def recording_with_a_ball(folder: Path, bundle: str, strip_of: Callable[[CameraSight], bytes] = strip_bytes) -> Path:
    """A bag of one robot: three pictures, two of which have their strips."""
    perception = open_perception(seeing_bundle(Path(bundle), ball_network()))
    assert perception is not None
    about = {"parameters/blue_0/policy_node": json.dumps({"bundle": bundle})}
    bag, numbers = BagWriter(folder, about, 1e9), {}
    for topic in (topics.COMPRESSED, topics.STRIP):
        numbers[topic] = bag.add_channel(topic.of("blue_0"), topic, definition_of(message_class(topic.type)))
    for k in range(3):
        stamp_s, picture = 10.0 + k, field_picture(CAMERA, k)
        bag.write(numbers[topics.COMPRESSED], int(stamp_s * 1e9), int(stamp_s * 1e9), packed_message(picture, stamp_s))
        if k != 1:
            strip = perception.to_strip(picture)
            data = strip_of(CameraSight(stamp_s, strip, perception(strip)))
            bag.write(numbers[topics.STRIP], int(stamp_s * 1e9) + 5, int(stamp_s * 1e9) + 5, data)
    bag.close()
    return folder


def ball_network() -> bytes:
    sight = np.zeros(SightLayout().size)
    sight[:5] = [0.97, AZIMUTH_RAD, RANGE_M, 0.02, 0.05]
    return network(len(sight), sight)


def test_a_picture_with_its_strip_has_a_ring_where_the_ball_is_believed(tmp_path: Path):
    found = seen_pictures(recording_with_a_ball(tmp_path / "bag", str(tmp_path / "eyes")), most=9)
    assert [one.caption for one in found] == [f"blue_0, {k:.1f} s after the first picture" for k in (0.0, 2.0)]
    image = np.asarray(Image.open(io.BytesIO(found[0].jpeg)).convert("RGB")).astype(int)
    orange = (image[..., 0] > 180) & (image[..., 2] < 110) & (image[..., 1] > 60)
    rows, columns = np.nonzero(orange)
    place = RANGE_M * np.array([np.cos(AZIMUTH_RAD), np.sin(AZIMUTH_RAD)])
    column, row = CAMERA.pixels(np.array([*place, -CAMERA.place_m[2]])) * WIDTH / CAMERA.width
    ring = np.abs(np.hypot(columns - column, rows - row) - 0.05 * CAMERA.fx / RANGE_M * WIDTH / CAMERA.width) < 6
    assert ring.sum() > 40


@pytest.mark.parametrize("kept", [6, 14, 40, -1])
def test_a_malformed_strip_costs_its_picture_only(tmp_path: Path, kept: int):
    """The last strip of the bag is cut within its stamp, its frame, its sizes, or its pixels."""

    def spoiled(seen: CameraSight) -> bytes:
        return strip_bytes(seen)[:kept] if seen.stamp_s > 11 else strip_bytes(seen)

    found = seen_pictures(recording_with_a_ball(tmp_path / "bag", str(tmp_path / "eyes"), spoiled), most=9)
    assert [one.caption for one in found] == ["blue_0, 0.0 s after the first picture"]


def test_a_recording_without_pictures_or_bundle_shows_none(tmp_path: Path):
    assert seen_pictures(tmp_path, most=9) == []
