"""A recording has strips in place of pictures: decided again on them, a player knows the same, to the last bit."""

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("onnx")

from rclpy.serialization import serialize_message

from robomarl.core.bundle.perception import open_perception
from robomarl.core.config import to_dict
from robomarl.core.geometry import quat_from_yaw
from robomarl.core.tree import leaves
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.fieldtask import FieldTask, Seat, field_task
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.inbox import Inbox, InboxLimits, Now
from tests.core.bundle.seeing import CAMERA, network, seeing_bundle
from tests.ros.camera.pictures import field_picture, image_message


def odometry(k: int) -> Estimate:
    """A robot on a curve."""
    yaw, speed = 0.05 * k, np.array([0.5, 0.1 * np.sin(k), 0.0])
    return Estimate(np.array([-1.0 + 0.02 * k, 0.1, 0.0]), quat_from_yaw(np.float64(yaw)), speed, np.array([0, 0, 1.0]))


def test_strips_give_the_same_view_as_the_pictures_they_were_made_of(tmp_path):
    perception = open_perception(seeing_bundle(tmp_path / "eyes", network(SightLayout().size)))
    content = to_dict(load_scenario("soccer_2v2"))

    def made() -> tuple[Inbox, FieldTask]:
        task = field_task(content, Seat(0, 2, perception=perception))
        return Inbox(("blue_0", "blue_1"), 0, InboxLimits(0.12, 0.3, frozen_s=86400.0), task), task

    (live, task), (again, replayed) = made(), made()
    camera, recorded = task.sensors[0], replayed.sensors[0].recorded
    assert camera.kept is not None and recorded.topic.name == "camera/strip"
    changed = 0.0
    for k in range(40):
        now_s = 100.0 + 0.04 * k
        for inbox in (live, again):
            inbox.now_s = now_s
            inbox.put_own(odometry(k), now_s, now_s)
        seen, stamp_s = camera.reader.function(image_message(field_picture(CAMERA, k), now_s - 0.04))
        live.put_sensed(camera.topic.name, seen, stamp_s, now_s)
        strip = serialize_message(camera.kept.writer(seen, "blue_0"))
        value, told_s = recorded.reader.function(strip)
        again.put_sensed(camera.topic.name, value, told_s, now_s)
        views = [inbox.read(Now(now_s, now_s)).view for inbox in (live, again)]
        for (name, ours), (_, theirs) in zip(*(leaves(view, "view") for view in views), strict=True):
            assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes(), name
        changed = max(changed, float(np.abs(views[0].own.pos_m - odometry(k).pos_m).max()))
    assert changed > 1e-3  # pictures moved the own place
