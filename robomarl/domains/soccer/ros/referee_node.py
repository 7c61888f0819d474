"""`referee_node`: starts and ends a match, counts its goals, and publishes its state.

- `world/ball` is the place of the ball: from a camera above the field, or the simulator. Robots
  are not listened to.
- services `~/start`, `~/stop`, `~/goal`, `~/reset` (std_srvs/Trigger). `start` resets robots that
  stand in STOP, arms and activates all through the monitor; it does not release an E-stop. `stop`
  stops all. `goal` gives a goal by hand, to the team that has the ball in its attacking half.
  `reset` is for a new match.
- `~/match`: phase, score, time.

After a goal a simulator puts all players back and play goes on; on a real field all robots stop,
people put them back, and `start` goes on.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.referee import Phase, Referee, RefereeCall, Rules
from robomarl.domains.soccer.ros.referee_messages import match_from
from robomarl.domains.soccer.ros.settings import RefereeSettings
from robomarl.domains.soccer.ros.topics import BALL, MATCH, REFEREE
from robomarl.ros import convert, status_messages, topics
from robomarl.ros.io.async_wait import wait_until
from robomarl.ros.io.node_base import Mailbox, publisher, run_node
from robomarl.ros.parameters import declare, read
from robomarl.ros.robot.state_machine import Order, State

PERIOD_S = 0.02
PUT_S = 0.5
"""Vision loses robots that are put elsewhere, and finds them again."""
READY_S = 10.0
"""Time [s] in which robots that were stopped have to become READY again."""
REPEAT_S = 1.0
DISCOVERED_S = 10.0
"""Time [s] after which a requested service may still be discovered: each node discovers for itself."""


class RefereeNode(Node):
    """One referee for both teams."""

    def __init__(self) -> None:
        """Wait; no robot moves."""
        super().__init__(REFEREE)
        self.failed = False
        declare(self, RefereeSettings)
        self._settings = settings = read(self, RefereeSettings)
        half_m, lasts_s = settings.length_m / 2, settings.match_s
        self._referee = Referee(
            Rules(half_m, settings.ball_radius_m, settings.stuck_m, settings.stuck_s, lasts_s, settings.sim)
        )
        self._states: dict[str, State] = {}
        self._ball_m, self._sim_s, self._told, self._told_s = np.zeros(2), 0.0, None, 0.0
        self._wants_start = settings.autostart
        self._listen_to(settings.base, settings.team)
        self._match = publisher(self, MATCH, MATCH.of(REFEREE, settings.base))
        self._ask_at(settings.base, settings.team)
        self.create_timer(PERIOD_S, self._tick)
        self.get_logger().info(f"a match lasts {settings.match_s:g} s; waits for start.")

    def _listen_to(self, base: str, team: tuple[str, ...]) -> None:
        said, ball, status = topics.ANNOUNCE, BALL, topics.SIM_STATUS
        read = status_messages.announcement_reader
        self._announced = {n: Mailbox(self, said, said.of(n, base), read(n)) for n in team}
        self._balls = Mailbox(self, ball, ball.of(topics.WORLD, base), messages.ball_to)
        self._status = Mailbox(self, status, status.of("sim", base), convert.numbers_to) if self._settings.sim else None

    def _ask_at(self, base: str, team: tuple[str, ...]) -> None:
        # A service waits for answers, which come through the same group.
        self._group = group = ReentrantCallbackGroup()

        def client(name: str, kind: type = Trigger) -> Client:
            return self.create_client(kind, f"{base}/{name}", callback_group=group)

        self._all = {order: client(f"all/{order}") for order in (Order.ARM, Order.ACTIVATE, Order.STOP)}
        self._reset_of = {name: client(f"{name}/{Order.RESET}") for name in team}
        self._put_back = client("sim/kick_off", SetBool) if self._settings.sim else None
        self._sim_reset = client("sim/reset") if self._settings.sim else None
        for name, act in (("start", self._start), ("stop", self._stop), ("goal", self._goal), ("reset", self._reset)):
            self.create_service(Trigger, f"~/{name}", self._served(name, act), callback_group=group)

    def _served(self, name: str, act: Callable) -> Callable:
        async def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            response.message = await act()
            response.success = not response.message
            self.get_logger().info(f"{name}: {response.message or 'done'}.")
            if response.success:
                response.message = "{} : {}".format(*self._referee.said.goals)
            self._tell()
            return response

        return serve

    def _tick(self) -> None:
        self._hear()
        seen = self._balls.latest()
        self._ball_m = self._ball_m if seen is None else seen[0]
        if verdict := self._referee.see(None if seen is None else seen[0], self._now_s()):
            self._carry_out(verdict)
        if self._changed() or time.monotonic() - self._told_s > REPEAT_S:
            self._tell()

    def _hear(self) -> None:
        for name, mailbox in self._announced.items():
            for said, _ in mailbox.take():
                self._states[name] = said.state
        if State.ESTOP in self._states.values():
            self._referee.stop()
        if self._wants_start and self._are(State.READY):
            self._wants_start = False
            self.executor.create_task(self._start)  # type: ignore[union-attr]

    def _changed(self) -> bool:
        """Something but the time is other than was told."""
        return self._told is None or self._told._replace(time_s=0.0) != self._referee.said._replace(time_s=0.0)

    def _tell(self) -> None:
        self._told, self._told_s = self._referee.said, time.monotonic()
        self._match.publish(match_from(self._told))

    def _now_s(self) -> float:
        """The steady clock, or in a rehearsal the simulated time: a simulator may fall behind."""
        if self._status is None:
            return time.monotonic()
        if (status := self._status.latest()) is not None:
            self._sim_s = status["time_s"]
        return self._sim_s

    def _carry_out(self, verdict: RefereeCall) -> None:
        self.get_logger().info(f"{self._referee.said.time_s:.1f} s: {verdict.why}.")
        if verdict.kick_off and self._put_back is not None:
            self._put_back.call_async(SetBool.Request(data=verdict.kick_off > 0))
        if verdict.stops:
            self._all[Order.STOP].call_async(Trigger.Request())

    async def _start(self) -> str:
        if self._referee.said.phase in (Phase.PLAYING, Phase.OVER):
            return self._referee.start()
        if pressed := [n for n, state in self._states.items() if state is State.ESTOP]:
            return f"{pressed[0]}: is in ESTOP; an operator has to reset it first"
        for name in [n for n, state in self._states.items() if state is State.STOP]:
            if refused := await self._asked(self._reset_of[name]):
                return f"{name}: {refused}"
        if self._put_back is not None and self._referee.said.time_s == 0:
            await self._put_back.call_async(SetBool.Request(data=True))
            await wait_until(self, lambda: False, PUT_S, self._group)
        if not await wait_until(self, lambda: self._are(State.READY), READY_S, self._group):
            missing = [n for n in self._settings.team if self._states.get(n) is not State.READY]
            return "; ".join(f"{n}: is in {self._named(n)}, not in READY" for n in missing)
        if refused := await self._asked(self._all[Order.ARM]):
            return refused
        return await self._asked(self._all[Order.ACTIVATE]) or self._referee.start()

    async def _stop(self) -> str:
        self._referee.stop()
        return await self._asked(self._all[Order.STOP])

    async def _goal(self) -> str:
        verdict, refused = self._referee.award(self._ball_m)
        if verdict:
            self._carry_out(verdict)
        return refused

    async def _reset(self) -> str:
        refused = self._referee.reset()
        if not refused and self._sim_reset is not None:
            refused = await self._asked(self._sim_reset)
        return refused

    async def _asked(self, client: Client) -> str:
        """Call a service; returns why it refused."""
        if not await wait_until(self, client.service_is_ready, DISCOVERED_S, self._group):
            return f"{client.srv_name} is not there"
        answer = await client.call_async(Trigger.Request())
        if answer is None:
            return f"{client.srv_name} did not answer"
        return "" if answer.success else answer.message or "refused"

    def _are(self, state: State) -> bool:
        return all(self._states.get(name) is state for name in self._settings.team)

    def _named(self, name: str) -> str:
        state = self._states.get(name)
        return "silence" if state is None else state.name


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl referee_node`."""
    return run_node(RefereeNode, args)


if __name__ == "__main__":
    sys.exit(main())
