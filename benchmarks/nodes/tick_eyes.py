"""`bench tick --case eyes`: a picture of 640 x 480 as its bytes to a player's filtered command, on one core."""

import time

import numpy as np

from benchmarks import Row, percentiles
from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.perception import open_perception, read_images
from robomarl.core.bundle.pilot import pilot_of
from robomarl.core.bundle.runtime import open_policy
from robomarl.core.geometry import quat_from_yaw
from robomarl.domains.soccer.ros.playing import MATE
from robomarl.ros.camera.image_writer import ImageWriter
from robomarl.ros.fieldtask import Seat, field_task
from robomarl.ros.io.messages import Broadcast, Detections, Estimate
from robomarl.ros.robot.inbox import Inbox, InboxLimits, Now, Plan

BUNDLE = "soccer_2v2_eyes"
TICKS, WARM_UP = 1500, 100
PERIOD_S = 0.04


def rows() -> list[Row]:
    """Times of the whole, and of its parts."""
    player = Player()
    samples: dict[str, list[float]] = {case: [] for case in PARTS}
    for i in range(TICKS):
        for case, took_s in player.tick(i).items():
            if i >= WARM_UP:
                samples[case].append(took_s)
    return [row for case, taken in samples.items() for row in percentiles(taken, case)]


PARTS = ("picture to command", "picture to strip and network", "tracker, view, policy and filter")


class Player:
    """One player's node without its topics."""

    def __init__(self) -> None:
        """Open the bundle; its golden pictures, with other noise each time, are what the camera sees."""
        bundle = load_bundle(BUNDLE)
        perception, policy = open_perception(bundle), open_policy(bundle)
        assert perception is not None, "the bundle sees"
        task = field_task(policy.contract.scenario.content, Seat(0, 2, perception=perception))
        self.camera, self.kicker = task.sensors[0], task.sensors[2]
        self.inbox = Inbox(("a", "b"), 0, InboxLimits(0.12, 0.3, frozen_s=86400.0), task)
        self.pilot = pilot_of(policy, policy.contract.safety)
        self.carry = self.pilot.init(self.inbox.read(Now(0.0, 0.0)).view)
        self.images, _, _ = read_images(perception.image, bundle.files)
        self.write, self.random = ImageWriter(perception.image.camera, "a/camera"), np.random.default_rng(0)

    def tick(self, i: int) -> dict[str, float]:
        """Time one decision on a new picture [s], by part."""
        now_s = 100.0 + i * PERIOD_S
        noise = self.random.integers(0, 8, self.images[0].shape, np.uint8)
        data = self.write(self.images[i % len(self.images)] ^ noise, now_s - 0.04)
        still, at = np.zeros(3), np.array([-1.0, 0.2, 0.0])
        own = Estimate(at, np.asarray(quat_from_yaw(np.float64(0.0))), still, still)
        there = at - np.array([1.0, 0.0, 0.0])
        seen = Detections((f"{MATE}0",), at[None] + 0.05, still[None], 0.02)  # in seven decisions of eight
        mate = Broadcast(there, still, Plan(there, still, there), seen if i % 8 else None)
        self.inbox.now_s = now_s
        self.inbox.put_mate("b", mate, now_s, now_s)
        self.inbox.put_sensed(self.kicker.topic.name, now_s, now_s, now_s)
        began_s = time.perf_counter()
        self.inbox.put_own(own, now_s, now_s)
        sight, stamp_s = self.camera.reader.function(data)
        read_s = time.perf_counter()
        self.inbox.put_sensed(self.camera.topic.name, sight, stamp_s, now_s)
        self.carry, _ = self.pilot.step(self.carry, self.inbox.read(Now(now_s, now_s)).view)
        ended_s = time.perf_counter()
        return dict(zip(PARTS, (ended_s - began_s, read_s - began_s, ended_s - read_s), strict=True))
