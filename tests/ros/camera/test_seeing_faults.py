"""What a player that sees does when its camera fails: blind within the stated time, and good again when it is back.

Messages go through the readers of the node into its inbox. A robot whose inbox says so brakes: it sends velocity 0, and
STOP after `silent_after_s` (docs/faults.md); `tests/ros/test_policy_alone.py` has that for every sense.
"""

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("onnx")

from robomarl.core.bundle.perception import open_perception
from robomarl.core.camera.strip import Picture8
from robomarl.core.config import to_dict
from robomarl.core.geometry import quat_from_yaw
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.fieldtask import FieldTask, Seat, field_task
from robomarl.ros.intake.sound import MessageError
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.inbox import OWN, Inbox, InboxLimits, Now
from tests.core.bundle.seeing import CAMERA, network, seeing_bundle
from tests.ros.camera.pictures import field_picture, image_message, info_message

PERIOD_S, LATE_S = 0.04, 0.04
PLACE = (-1.0, 0.2, 0.0)
"""Pose of the robot: x, y, heading."""


def sight_of(place: tuple[float, float, float], error_m: float = 0.02) -> np.ndarray:
    """The network's output at a pose with heading 0: nothing seen but the field itself."""
    vector = np.zeros(SightLayout().size)
    vector[-6:] = [-place[0], -place[1], 1.0, 0.0, error_m, 0.02]
    return vector


class Player:
    """A node's inbox, with the messages of its robot."""

    def __init__(self, task: FieldTask) -> None:
        self.task, self.time_s, self.frames = task, 100.0, 0
        self.inbox = Inbox(("blue_0", "blue_1"), 0, InboxLimits(0.12, 0.3, frozen_s=86400.0), task)
        self.image, self.info, self.kicker = task.sensors

    def tick(self, image: bytes | None, info: object | None) -> bool:
        """One period with these messages of the camera; True if the robot knows what it needs."""
        self.time_s += PERIOD_S
        self.inbox.now_s = self.time_s
        still = np.zeros(3)
        own = Estimate(np.array([*PLACE[:2], 0.0]), np.asarray(quat_from_yaw(np.float64(0.0))), still, still)
        self.inbox.put_own(own, self.time_s, self.time_s)
        self.inbox.put_sensed(self.kicker.topic.name, self.time_s, self.time_s, self.time_s)
        for sensor, message in ((self.image, image), (self.info, info)):
            if message is None:
                continue
            try:
                value, stamp_s = sensor.reader.function(message)
            except MessageError as error:
                self.inbox.refuse(sensor.topic.name, str(error))
                continue
            self.inbox.put_sensed(sensor.topic.name, value, stamp_s, self.time_s)
        return self.reading.own_ok

    @property
    def reading(self):
        return self.inbox.read(Now(self.time_s, self.time_s))

    def shot(self, picture: Picture8 | None = None, late_s: float = LATE_S) -> bytes:
        self.frames += 1
        shown = field_picture(CAMERA, self.frames % 5) if picture is None else picture
        return image_message(shown, self.time_s + PERIOD_S - late_s)

    def good(self) -> bool:
        return self.tick(self.shot(), info_message(CAMERA, self.time_s))

    def why(self) -> str:
        return "; ".join(map(str, self.reading.problems))


def task_of(folder, sight: np.ndarray, most_m: float = 0.1) -> FieldTask:
    perception = open_perception(seeing_bundle(folder, network(len(sight), sight), most_m))
    return field_task(to_dict(load_scenario("soccer_2v2")), Seat(0, 2, perception=perception))


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], FieldTask]:
    """Makes a player without memory; its bundle is sealed once."""
    perception = open_perception(seeing_bundle(tmp_path_factory.mktemp("faults") / "eyes", sealed_network()))
    content = to_dict(load_scenario("soccer_2v2"))
    return lambda: field_task(content, Seat(0, 2, perception=perception))


def sealed_network() -> bytes:
    sight = sight_of(PLACE)
    return network(len(sight), sight)


@pytest.fixture
def player(task: Callable[[], FieldTask]) -> Player:
    made = Player(task())
    for _ in range(25):
        made.good()
    assert made.good(), made.why()
    return made


def dark(player: Player) -> bytes:
    noise = np.random.default_rng(player.frames).integers(0, 6, (CAMERA.height, CAMERA.width, 3), np.uint8)
    return player.shot(noise)


def turned(seed: int) -> Picture8:
    return np.ascontiguousarray(field_picture(CAMERA, seed)[::-1, ::-1])


FROZEN = field_picture(CAMERA, 77)
FAULTS: list[tuple[str, Callable[[Player], bytes | None], str]] = [
    ("lens covered", dark, "next to no contrast"),
    ("frozen", lambda player: player.shot(FROZEN), "equal in every bit"),
    ("late", lambda player: player.shot(late_s=0.3), "0.30 s old"),
    ("upside down", lambda player: player.shot(turned(player.frames)), "upside down"),
    ("another resolution", lambda player: player.shot(FROZEN[::2, ::2].copy()), "has 80 x 60 pixels"),
    ("another encoding", lambda player: image_message(FROZEN, player.time_s, encoding="mono8"), "encoding 'mono8'"),
    ("silent", lambda player: None, "last delivered"),
]


@pytest.mark.parametrize(("name", "fault", "told"), FAULTS, ids=[name for name, *_ in FAULTS])
def test_a_camera_that_fails_makes_blind_within_the_maximum_age(player: Player, name: str, fault, told: str):
    """And a camera that is back makes the robot see again with the next picture."""
    most_s, began_s = player.image.max_age_s, player.time_s
    assert most_s is not None and most_s == pytest.approx(0.2)
    sees = True
    while sees and player.time_s < began_s + 1.0:
        sees = player.tick(fault(player), info_message(CAMERA, player.time_s))
    assert not sees
    extra_s = LATE_S if name == "frozen" else 0.0  # the first picture of a frozen camera is a good one
    assert player.time_s - began_s <= most_s + PERIOD_S + extra_s + 1e-6
    player.tick(fault(player), info_message(CAMERA, player.time_s))
    assert "camera/image_raw" in player.why() and told in player.why()
    player.good()
    assert player.good(), player.why()


def test_a_calibration_that_stays_away_or_is_anothers_makes_blind_within_a_second(player: Player):
    for info, told in ((None, "last delivered"), (info_message(CAMERA, 0.0, fx=60.0), "fx is 60, and the bundle's")):
        began_s, sees = player.time_s, True
        while sees and player.time_s < began_s + 3.0:
            sees = player.tick(player.shot(), info)
        assert player.time_s - began_s <= 1.0 + PERIOD_S + 1e-6
        assert "camera/camera_info" in player.why() and told in player.why()
        for _ in range(3):
            player.good()
        assert player.good(), player.why()


def test_a_player_without_a_calibration_is_never_ready(task: Callable[[], FieldTask]):
    player = Player(task())
    for _ in range(20):
        assert not player.tick(player.shot(), None)
    assert "camera/camera_info: nothing received yet" in player.why()


def test_a_player_that_does_not_know_its_place_says_so_and_does_not_move(tmp_path):
    """Its network is unsure of the pose: the stated error stays above the bound that the filter keeps."""
    player = Player(task_of(tmp_path / "unsure", sight_of(PLACE, error_m=0.9), most_m=0.05))
    for _ in range(10):
        assert not player.good()
    assert f"{OWN}: its own place is known to" in player.why() and "(limits 0.05 m, 0.2 rad)" in player.why()


def test_the_own_place_is_the_pictures_and_not_the_odometrys(tmp_path):
    """The odometry says 0.25 m less than what the pictures show; each picture moves the belief a little."""
    player = Player(task_of(tmp_path / "shifted", sight_of((PLACE[0] + 0.25, PLACE[1], 0.0))))
    for _ in range(25):
        player.good()
    own = player.inbox.own
    assert own is not None
    np.testing.assert_allclose(own.pos_m[:2], (PLACE[0] + 0.25, PLACE[1]), atol=0.1)
