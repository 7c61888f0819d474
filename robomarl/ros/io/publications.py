"""`Reporter`: messages that one robot sends at a tick: its command, state and plan, announcement and tick report."""

import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from robomarl.ros import status_messages, topics
from robomarl.ros.io.away_frame import command_turn, turned_broadcast
from robomarl.ros.io.fast_messages import BroadcastWriter, CommandWriter, RowsWriter
from robomarl.ros.io.subscriptions import Subscriptions
from robomarl.ros.recording.tick_record import Timing, tick_names, tick_values
from robomarl.ros.robot.assembly import AssembledRobot
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.radio import radio_every
from robomarl.ros.robot.certified.words import TeamWords
from robomarl.ros.robot.decision import Decision
from robomarl.ros.robot.health import Health
from robomarl.ros.robot.inbox import Broadcast, Now, Problem
from robomarl.ros.robot.state_machine import State

ROWS_S = 0.1
"""Time [s] of ticks that are reported in one message."""
ANNOUNCE_S = 0.5


class Reporter:
    """Writes messages; every kind at its own rate."""

    def __init__(
        self, node: str, robot: AssembledRobot, radio: Subscriptions, besides: Callable[[], list[Problem]]
    ) -> None:
        """Announce the robot.

        Args:
            node: its full name.
            robot: pilot, inputs and settings of the robot.
            radio: publishes the messages.
            besides: returns problems besides those of the inputs; asked once a second.
        """
        self._besides = besides
        self._robot, self._radio, self._fallback = robot, radio, robot.fallback
        loaded, name = robot.loaded, robot.settings.name
        action = loaded.pilot.policy.action
        actions, sent = ([field.name for field in fields] for fields in (action.fields, action.sent))
        sensors = [sensor.topic.name for sensor in loaded.task.sensors]
        names = tick_names(actions, robot.inputs.inbox.mates, loaded.seen, sensors)
        self._unseen = np.full(len(loaded.seen), np.nan)
        self._rows: list[np.ndarray] = []
        self._write_rows = RowsWriter(",".join(names), len(names))
        self._per_message = max(round(ROWS_S * loaded.rate_hz), 1)
        self._mates = robot.inputs.inbox.mates if isinstance(loaded.pilot.safety, CertifiedRobot) else ()
        self._task, self._broadcast = loaded.task, BroadcastWriter(name, self._mates)
        self._sent = len(sent)
        self._to_map = command_turn(sent) if self._task.away else np.ones(len(sent))
        self._write_commands = loaded.task.writer and loaded.task.writer(name, 1 / loaded.rate_hz)
        self._command = None if self._write_commands else CommandWriter(name, sent)
        self._every = radio_every(loaded.rate_hz, robot.settings.radio_hz)
        self._health = Health(node, loaded.name, loaded.id, loaded.rate_hz, loaded.assumes)
        self._state, self._announced_s, self._ticks = State.STANDBY, -math.inf, 0

    def send(self, decision: Decision, stamp_s: float) -> float:
        """Command, then state and plan.

        Returns:
            Time from the sending of the newest odometry to that of the command [s]; NaN if there was none of both.
        """
        sensor_s = math.nan
        if decision.command is not None:
            self._send_command(decision, decision.command, stamp_s)
            sensor_s = time.time() - self._radio.sent_s
        self._ticks += 1
        inbox = self._robot.inputs.inbox
        if self._ticks % self._every or (own := inbox.own) is None:
            return sensor_s
        after_s = self._fallback.plan_after_s
        ahead_s = (after_s, after_s + self._fallback.rest_s(decision.plan.vel_m_s))
        seen = decision.reading.view
        told = self._task.told(seen.sensed, float(seen.own.age_s))
        rows = self._robot.autopilot.words
        words = None if rows is None else TeamWords(self._mates, rows)
        said = Broadcast(own.pos_m, own.vel_m_s, decision.plan, told, words)
        said = turned_broadcast(said) if self._task.away else said
        self._radio.send(topics.STATE_AND_PLAN, self._broadcast(said, inbox.own_stamp_s, ahead_s))
        return sensor_s

    def _send_command(self, decision: Decision, command: np.ndarray, stamp_s: float) -> None:
        if self._command is not None:
            self._radio.send(topics.COMMAND, self._command(command * self._to_map, stamp_s))
            return
        inbox = self._robot.inputs.inbox
        blind = not decision.reading.own_ok or inbox.own is None
        assert self._write_commands is not None, "one of the two writes"
        messages = self._write_commands(command, None if blind else inbox.own, stamp_s if blind else inbox.own_stamp_s)
        for topic, message in zip(self._task.commands, messages, strict=True):
            self._radio.send(topic, message)

    def note(self, decision: Decision, timing: Timing, now: Now) -> Iterator[tuple[bool, str]]:
        """Report the tick; yield (True if it is bad, line) for the log."""
        autopilot, counts = self._robot.autopilot, self._radio.counts()
        seen = self._unseen if autopilot.observed is None else autopilot.observed
        self._rows.append(tick_values(decision, timing, autopilot.state, counts, seen.tolist(), self._sent))
        yield from self._health.note(decision, autopilot, timing)
        changed, self._state = autopilot.state != self._state, autopilot.state
        if changed or now.steady_s - self._announced_s >= ANNOUNCE_S:
            self._announced_s = now.steady_s
            self._announce()
        if changed or len(self._rows) >= self._per_message:
            self._radio.send(topics.TICK, self._write_rows(self._rows))
            self._rows = []
        if self._health.is_due():
            waits = autopilot.state in (State.STANDBY, State.READY)
            wrong = [*(autopilot.problems(now) if waits else ()), *self._besides()]
            status = self._health.summary(counts, wrong, self._radio.refusals)
            self._radio.send(topics.DIAGNOSTICS, status_messages.diagnostics_from([status], timing.stamp_s))

    def tell_stopped(self, why: str, stamp_s: float) -> None:
        """Announcement and diagnostics of a robot that does not tick any more."""
        self._announce()
        self._radio.send(topics.DIAGNOSTICS, status_messages.diagnostics_from([self._health.stopped(why)], stamp_s))

    def _announce(self) -> None:
        pilot = self._robot.autopilot
        own = self._robot.inputs.agreement.own
        said = own._replace(state=pilot.state, why=pilot.why, ordered=pilot.ordered, gave_up=pilot.gave_up)
        self._radio.send(topics.ANNOUNCE, status_messages.announcement_from(said))
