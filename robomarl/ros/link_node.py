"""`link_node`: bad radio and bad sensors between simulated robots, to rehearse the conditions of a
field test.

Takes the robots' odometry and state-and-plan messages and delivers them to `ROBOT/link/SENDER/...`,
to which policy nodes with `via_link` subscribe. Its parameters may be changed while it runs; see
`LinkSettings`.
"""

import math
import struct
import sys
import time
from dataclasses import fields

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from robomarl.ros import status_messages, topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io import cdr
from robomarl.ros.io.link_model import JUMP_M, SHIFT_S, Link, LinkQuality, is_cut, sensor_faults
from robomarl.ros.io.node_base import now_s, publisher, run_node
from robomarl.ros.parameters import declare, read
from robomarl.ros.robot.health import WARN, DiagnosticEntry
from robomarl.ros.settings import LinkSettings
from robomarl.ros.timing.failed import told
from robomarl.ros.timing.rate_timer import Beat, Ticker
from robomarl.ros.topics import linked

POLL_S = 0.002
"""How often messages are looked for: they come that much later than on the emulated way."""


class LinkNode(Node):
    """Relays, not always."""

    def __init__(self) -> None:
        """Begin to relay."""
        super().__init__("link")
        changeable = {field.name for field in fields(LinkSettings)} - {"team", "base", "seed"}
        declare(self, LinkSettings, changeable)
        self.failed = False
        self._use(read(self, LinkSettings))
        team, base = self._settings.team, self._settings.base
        own, said = topics.ODOMETRY, topics.STATE_AND_PLAN
        self._sensors = {name: Mailbox(self, own, own.of(name, base)) for name in team}
        self._sensed = {name: publisher(self, own, linked(own, name, name, base)) for name in team}
        self._said = {name: Mailbox(self, said, said.of(name, base)) for name in team}
        pairs = [(a, b) for a in team for b in team if a != b]
        self._links = {pair: Link(self._settings.seed + 1 + k) for k, pair in enumerate(pairs)}
        self._heard = {(a, b): publisher(self, said, linked(said, b, a, base)) for a, b in pairs}
        self._kept: dict[str, bytes] = {}
        self.add_on_set_parameters_callback(self._check)
        self.add_post_set_parameters_callback(lambda changed: self._use(read(self, LinkSettings)))
        self._said_how = publisher(self, topics.DIAGNOSTICS, topics.DIAGNOSTICS.name)
        self.create_timer(1.0, self._report)
        self._ticker = Ticker(POLL_S, self._tick, self._died)

    def destroy_node(self) -> None:
        """Stop relaying first."""
        self._ticker.stop()
        super().destroy_node()

    def _use(self, settings: LinkSettings) -> None:
        self._settings = settings
        self._quality = LinkQuality(settings.loss, settings.burst, settings.delay_s, settings.jitter_s)
        self._faults = sensor_faults(settings.sensor)

    def _check(self, changed: list[Parameter]) -> SetParametersResult:
        try:
            for parameter in changed:
                if parameter.name == "sensor":
                    sensor_faults(tuple(parameter.value))
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _tick(self, beat: Beat) -> None:
        now_s = time.monotonic()
        for name, mailbox in self._sensors.items():
            changed = (self._faulty(name, data) for data, _ in mailbox.take())
            for data in filter(None, changed):
                self._sensed[name].publish(data)
        for name, mailbox in self._said.items():
            for data, _ in mailbox.take():
                self._spread(name, data, now_s)
        for pair, link in self._links.items():
            for data in link.due(now_s):
                self._heard[pair].publish(data)

    def _spread(self, name: str, data: bytes, now_s: float) -> None:
        """A robot's message leaves for all others."""
        for (sender, receiver), link in self._links.items():
            if sender == name:
                link.send(data, now_s, self._quality, is_cut(sender, receiver, self._settings.cut))

    def _report(self) -> None:
        links = self._links.values()
        values = {"sent": str(sum(link.sent for link in links)), "lost": str(sum(link.lost for link in links))}
        values |= {f"sensor {name}": fault for name, fault in self._faults.items()}
        status = DiagnosticEntry(
            self.get_fully_qualified_name(), WARN, "rehearsal: bad radio and sensors on purpose", values
        )
        self._said_how.publish(status_messages.diagnostics_from([status], now_s(self)))

    def _faulty(self, name: str, data: bytes) -> bytes | None:
        """Return an odometry message with its sensor's fault, None if it is dropped; other bytes are returned
        unchanged.
        """
        fault = self._faults.get(name)
        if fault is None:
            self._kept[name] = data
            return data
        if fault == "silent":
            return None
        if fault == "same":
            return self._kept.get(name, data)
        changed = bytearray(self._kept.get(name, data) if fault == "frozen" else data)
        shift_s = {"future": SHIFT_S, "late": -SHIFT_S}.get(fault, 0.0)
        try:
            cdr.set_stamp(changed, cdr.stamp_s(data) + shift_s)
            pose = cdr.odometry_at(data)[0]
            if fault == "nan":
                cdr.set_vector(changed, pose, [math.nan] * 3)
            elif fault == "jump":
                x_m, *others_m = struct.unpack_from("<3d", data, pose)
                cdr.set_vector(changed, pose, [x_m + JUMP_M, *others_m])
        except (cdr.LayoutError, struct.error):
            return data
        return bytes(changed)

    def _died(self, error: BaseException) -> None:
        if not self.context.ok():
            return  # we were told to stop, and a message was on its way out
        self.get_logger().fatal(f"relaying failed: {told(error)}")
        self.failed = True
        self.context.try_shutdown()


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl link_node`."""
    return run_node(LinkNode, args, urgent=True)  # odometry goes through it: late here is late for the control loops


if __name__ == "__main__":
    sys.exit(main())
