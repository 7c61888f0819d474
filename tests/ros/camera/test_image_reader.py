"""A robot's pictures: read from the bytes of ROS, as rclpy would read them, or refused with a sentence."""

import io
import struct
import zlib
from functools import partial

import numpy as np
import pytest
from PIL import PngImagePlugin

pytest.importorskip("rclpy")
pytest.importorskip("onnx")

import onnx
from onnx import numpy_helper
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CameraInfo, Image, RegionOfInterest

from robomarl.core.bundle.perception import Perception, open_perception
from robomarl.domains.soccer.core.sight.upright import upside_down
from robomarl.ros.camera.image_reader import CameraInfoReader, CameraSight, ImageReader, StripReader, image_at
from robomarl.ros.camera.image_writer import ImageWriter
from robomarl.ros.camera.picture_keeper import PictureKeeper
from robomarl.ros.camera.strip_message import strip_from
from robomarl.ros.intake.sound import MessageError
from tests.core.bundle.seeing import CAMERA, network, seeing_bundle
from tests.ros.camera.pictures import field_picture, image_message, info_message, packed_bytes, packed_message

PICTURE = field_picture(CAMERA, 0)


@pytest.fixture(scope="module")
def perception(tmp_path_factory: pytest.TempPathFactory) -> Perception:
    found = open_perception(seeing_bundle(tmp_path_factory.mktemp("reader") / "eyes"))
    assert found is not None
    return found


@pytest.fixture
def reader(perception: Perception) -> ImageReader:
    return ImageReader(perception, partial(upside_down, layout=perception.image.strip))


@pytest.mark.parametrize("frame", ["camera", "r/camera", "blue_0/camera", "yellow_team/camera"])
@pytest.mark.parametrize("encoding", ["rgb8", "bgra8", "8UC3"])
def test_an_image_is_read_from_its_bytes_as_rclpy_reads_it(frame: str, encoding: str):
    data = image_message(PICTURE, 12.25, frame, encoding)
    whole, found = deserialize_message(data, Image), image_at(data)
    assert (found.frame, found.height, found.width) == (whole.header.frame_id, whole.height, whole.width)
    assert (found.encoding, found.step, bytes(found.data)) == (whole.encoding, whole.step, whole.data.tobytes())


def test_a_picture_becomes_its_strip_and_the_networks_numbers(perception: Perception, reader: ImageReader):
    seen, stamp_s = reader(image_message(PICTURE, 12.25))
    assert stamp_s == seen.stamp_s == 12.25
    np.testing.assert_array_equal(seen.strip, perception.to_strip(PICTURE))
    np.testing.assert_array_equal(seen.sight, perception(seen.strip))


@pytest.mark.parametrize(("kind", "levels"), [("png", 0), ("jpeg", 2)])
def test_a_compressed_picture_gives_the_same_strip(perception: Perception, kind: str, levels: int):
    packed = ImageReader(perception, lambda strip: "", compressed=True)
    seen, _ = packed(packed_message(PICTURE, 1.0, kind))
    difference = np.abs(seen.strip.astype(int) - perception.to_strip(PICTURE).astype(int))
    assert difference.mean() <= levels


def test_the_recorded_strip_reads_back_equal_in_every_bit(perception: Perception, reader: ImageReader):
    seen, _ = reader(image_message(PICTURE, 12.000000007))
    data = serialize_message(strip_from(seen, "blue_0"))
    again, stamp_s = StripReader(perception, lambda strip: "")(data)
    assert isinstance(again, CameraSight) and stamp_s == seen.stamp_s
    assert again.strip.tobytes() == seen.strip.tobytes() and again.sight.tobytes() == seen.sight.tobytes()


def covered(picture: np.ndarray) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 6, picture.shape, np.uint8)


def turned(picture: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(picture[::-1, ::-1])


FAULTS = [
    (lambda: image_message(covered(PICTURE), 2.0), "next to no contrast"),
    (lambda: image_message(turned(PICTURE), 2.0), "is upside down"),
    (lambda: image_message(PICTURE[::2, ::2].copy(), 2.0), "has 80 x 60 pixels, and the bundle's camera 160 x 120"),
    (lambda: image_message(PICTURE, 2.0, encoding="bgr8"), "has encoding 'bgr8', not 'rgb8'"),
    (lambda: image_message(PICTURE, 2.0, "map"), "header.frame_id is 'map'"),
    (lambda: image_message(PICTURE, 2.0, "robot3/othercamera"), "must be NAME/camera or camera"),
    (lambda: image_message(PICTURE, 2.0)[:-9], "its pixels are cut off"),
    (lambda: b"\x00\x01\x00\x00", "is no picture"),
]


@pytest.mark.parametrize(("fault", "told"), FAULTS, ids=[told for _, told in FAULTS])
def test_a_picture_that_shows_nothing_is_refused(reader: ImageReader, fault, told: str):
    with pytest.raises(MessageError, match=told):
        reader(fault())


def test_a_frozen_camera_is_refused_until_it_moves(reader: ImageReader):
    reader(image_message(PICTURE, 1.0))
    for stamp_s in (1.04, 1.08):
        with pytest.raises(MessageError, match="equal in every bit to the picture before it"):
            reader(image_message(PICTURE, stamp_s))
    reader(image_message(field_picture(CAMERA, 1), 1.12))


def test_a_board_before_the_robot_is_not_upside_down(reader: ImageReader):
    near = PICTURE.copy()
    near[CAMERA.height // 3 :] = np.random.default_rng(0).integers(80, 100, near[CAMERA.height // 3 :].shape)
    reader(image_message(near, 1.0))


@pytest.mark.filterwarnings("ignore:Image size")
@pytest.mark.parametrize(
    ("side", "told"), [(320, "has 320 x 320"), (12_000, "has 12000 x 12000"), (30_000, "unpacked")]
)
def test_a_large_compressed_picture_is_refused_before_it_is_unpacked(
    perception: Perception, side: int, told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("PIL.Image.Image.convert", lambda *_: pytest.fail("was unpacked"))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    stream = io.BytesIO(b"\x89PNG\r\n\x1a\n")
    stream.seek(0, io.SEEK_END)
    PngImagePlugin.putchunk(stream, b"IHDR", header)
    PngImagePlugin.putchunk(stream, b"IDAT", zlib.compress(bytes(9)))
    with pytest.raises(MessageError, match=told):
        ImageReader(perception, lambda strip: "", compressed=True)(packed_bytes(stream.getvalue(), 1.0))


@pytest.mark.parametrize(("weights", "told"), [((1e37, 1e37), "inf"), ((1e37, -1e37), "nan|inf")])
def test_a_network_whose_output_is_not_finite_is_refused(
    perception: Perception, weights: tuple[float, float], told: str
):
    """Each weight is finite, so the file is accepted, and sums over a bright strip are not."""
    model = onnx.load_from_string(network(8))
    weight = numpy_helper.to_array(model.graph.initializer[0]).copy()
    weight[3, 0], weight[3, 1] = weights
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weight, "weight"))
    eyes = Perception(perception.image, model.SerializeToString())
    with pytest.raises(MessageError, match=f"output 3 of perception.onnx is ({told})"):
        ImageReader(eyes, lambda strip: "")(image_message(PICTURE, 1.0))


@pytest.mark.parametrize(("shape", "encoding"), [((1, 96, 3), "rgb8"), ((32, 1, 3), "rgb8"), ((32, 96, 3), "bgr8")])
def test_a_strip_of_another_size_or_encoding_is_refused(perception: Perception, shape: tuple[int, ...], encoding: str):
    cells = np.random.default_rng(0).integers(0, 255, shape, np.uint8)
    with pytest.raises(MessageError, match=r"is no strip: has .* and the bundle's strips \(32, 96, 'rgb8'\)"):
        StripReader(perception, lambda strip: "")(image_message(cells, 1.0, encoding=encoding))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"binning_x": 2}, "binning_x is 2, and the bundle's camera has 1"),
        ({"binning_y": 4}, "binning_y is 4"),
        ({"roi": RegionOfInterest(width=80, height=120)}, "roi is \\(0, 0, 80, 120\\)"),
        ({"roi": RegionOfInterest(x_offset=8)}, "roi is \\(8, 0, 0, 0\\)"),
    ],
)
def test_a_camera_that_sends_a_part_or_bins_is_refused(perception: Perception, changed: dict, told: str):
    message = info_message(CAMERA, 1.0)
    for name, value in changed.items():
        setattr(message, name, value)
    with pytest.raises(MessageError, match=told):
        CameraInfoReader(perception)(message)
    message.binning_x, message.binning_y, message.roi = 1, 1, RegionOfInterest(width=160, height=120)
    assert CameraInfoReader(perception)(message) == (True, 1.0)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"width": 320}, "width is 320, and the bundle's camera has 160"),
        ({"height": 90}, "height is 90, and the bundle's camera has 120"),
        ({"fx": 44.0}, "fx is 44, and the bundle's camera has 40"),
        ({"fy": float("nan")}, "fy is nan, and the bundle's camera has 40"),
        ({"cx": 70.0}, "cx is 70, and the bundle's camera has 79.5"),
        ({"k1": 0.1}, "k1 is 0.1, and the bundle's camera has -0.02"),
    ],
)
def test_another_camera_is_refused_with_both_numbers(perception: Perception, changed: dict[str, float], told: str):
    with pytest.raises(MessageError, match=told):
        CameraInfoReader(perception)(info_message(CAMERA, 1.0, **changed))


def test_the_bundles_camera_and_one_within_training_are_accepted(perception: Perception):
    read = CameraInfoReader(perception)
    assert read(info_message(CAMERA, 1.5)) == (True, 1.5)
    assert read(info_message(CAMERA, 1.5, fx=40.5, cx=80.5))[0]


def test_a_camera_of_another_lens_model_is_refused(perception: Perception):
    message: CameraInfo = info_message(CAMERA, 1.0)
    message.distortion_model = "equidistant"
    with pytest.raises(MessageError, match="distortion_model is 'equidistant'"):
        CameraInfoReader(perception)(message)


@pytest.mark.parametrize("frame", ["camera", "r/camera", "blue_0/camera"])
def test_a_simulators_picture_is_the_message_that_a_driver_sends(frame: str):
    data = ImageWriter(CAMERA, frame)(PICTURE, 12.25)
    assert deserialize_message(data, Image) == deserialize_message(image_message(PICTURE, 12.25, frame), Image)


def test_a_simulators_camera_info_is_that_of_the_bundles_camera(perception: Perception):
    assert CameraInfoReader(perception)(ImageWriter(CAMERA, "camera").info(3.0)) == (True, 3.0)


def test_a_recording_keeps_some_pictures_a_second_within_its_budget():
    small = packed_message(PICTURE, 0.0)
    keeper = PictureKeeper(rate_hz=2.0, budget_bytes=3.5 * len(small))
    kept = [keeper.keeps("/blue_0", packed_message(PICTURE, k * 0.04)) for k in range(50)]
    assert [k for k, keeps in enumerate(kept) if keeps] == [0, 13, 26]  # 0, 0.52 and 1.04 s; then it is full
    assert (keeper.kept, keeper.left_out) == (3, 47)
    assert not PictureKeeper(rate_hz=0.0, budget_bytes=1e9).keeps("/blue_0", small)
