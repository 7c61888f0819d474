"""`preflight`: listens to a fleet for a while, has robots moved by hand if a person helps, and judges."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.ros.preflight import by_hand
from robomarl.ros.preflight.listen import Listener, listening
from robomarl.ros.preflight.price import price_row
from robomarl.ros.preflight.seen import Box, CheckRow, needs_of
from robomarl.ros.preflight.team_checks import all_rows, radios

Ask = Callable[[str], str]
"""Function that shows a text, waits for the operator's answer and returns it. `input` is one."""


@dataclass(frozen=True)
class CheckOptions:
    """How a fleet is looked at."""

    seconds: float = 3.0
    """Time to listen [s]."""
    namespace: str = ""
    """Above the robots' own."""
    domain_id: int | None = None
    """ROS domain; None: the environment's."""
    room_m: Box | None = None
    """Corners of the room."""


def preflight(fleet: Fleet, options: CheckOptions, ask: Ask | None = None) -> list[CheckRow]:
    """Return every check of every robot; no robot is commanded to move.

    Args:
        fleet: the robots.
        options: options of the checks.
        ask: asks a person to move each robot by hand, and returns when that is done; None: no such
            checks.

    Raises:
        UserError: the room has a lower corner that is not below the upper one on every axis.
    """
    if options.room_m and any(low >= high for low, high in zip(*options.room_m, strict=True)):
        raise UserError(f"--room: {options.room_m[0]} must be below {options.room_m[1]} on every axis.")
    team = tuple(robot.name for robot in fleet.own)
    base = "/" + options.namespace.strip("/") if options.namespace.strip("/") else ""
    with listening(team, base, options.domain_id) as listener:
        listener.run(options.seconds)
        listener.ask_arenas()
        rows = [*all_rows(listener.seen, needs_of(fleet, options.room_m)), radios(fleet), price_row(fleet)]
        if ask is not None:
            flies = next(iter(needs_of(fleet).values())).flies
            rows += [row for name in team for row in moved_by_hand(listener, name, ask, flies)]
    return rows


def moved_by_hand(listener: Listener, robot: str, ask: Ask, flies: bool) -> list[CheckRow]:
    """Run the tasks of one robot; `ask` returns when a person has done one."""
    rows = []
    for name, (told, _) in by_hand.TASKS.items():
        if name == "up" and not flies:
            continue
        samples = listener.seen.robots[robot].odometry
        listener.run(0.2)
        begin = len(samples)
        waits = threading.Thread(target=ask, args=(f"{robot}: {told}, then press Enter ",), daemon=True)
        waits.start()
        listener.listen_while(waits.is_alive)
        rows.append(by_hand.row_of(robot, name, samples[begin:]))
    return rows
