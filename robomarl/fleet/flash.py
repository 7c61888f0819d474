"""A bundle goes to all robots of a fleet, or to none: all stage and check it, then all switch.

Every function takes the robots by name and returns one `Report` for each. If a robot fails before the switch,
no robot has switched; if one fails to switch, the others are switched back.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from robomarl.config import UserError, to_dict
from robomarl.fleet.store import State
from robomarl.fleet.transport import Transport
from robomarl.hardware_configs.fleet import Fleet
from robomarl.policies.bundle import Bundle

Robots = Mapping[str, Transport]


@dataclass(frozen=True)
class Report:
    """What happened to one robot."""

    name: str
    ok: bool = True
    previous: str | None = None
    """Id that rollback would go to, afterwards."""
    current: str | None = None
    """Id that is current, afterwards."""
    seconds: float = 0.0
    reason: str = ""
    """Why it is not ok, or what was special."""
    bundles: tuple[str, ...] = field(default=(), compare=False)
    """Ids that are on the robot, or that prune removed."""


def check_fit(bundle: Bundle, fleet: Fleet) -> list[str]:
    """Compare a bundle with a fleet; returns remarks that do not stop it, one sentence each.

    Raises:
        UserError: it is for another vehicle or team size.
    """
    contract = bundle.contract
    if contract.vehicle.name != fleet.vehicle_config.name:
        raise UserError(
            f"Bundle {contract.name} is for vehicle {contract.vehicle.name}, the robots of fleet {fleet.name} are "
            f"{fleet.vehicle_config.name}; nothing was switched, name another bundle."
        )
    least, most = contract.team_size
    if not least <= len(fleet.robots) <= most:
        allowed = f"{least}" if least == most else f"{least} to {most}"
        raise UserError(
            f"Bundle {contract.name} is for teams of {allowed}, fleet {fleet.name} has {len(fleet.robots)} robots; "
            "nothing was switched, name another bundle."
        )
    changed = differing(contract.vehicle.content, to_dict(fleet.vehicle_config))
    return [f"{fleet.vehicle}: {key} is {ours!r} here and was {theirs!r} in training." for key, theirs, ours in changed]


def flash(bundle: Bundle, robots: Robots) -> list[Report]:
    """Put the bundle on every robot and make it current on all of them, or on none."""

    def stage(robot: Transport) -> None:
        robot.add(bundle)
        wrong = robot.check(bundle.id)
        if wrong:
            raise UserError(wrong)

    def target(before: State) -> State:
        return before if before.current == bundle.id else State(bundle.id, before.current)

    return _two_phases(robots, stage, target)


def rollback(robots: Robots) -> list[Report]:
    """Go back to the previous bundle on every robot, or on none; twice is where one was.

    Raises:
        UserError: the robots would then fly different bundles.
    """
    goals = {name: robot.state().previous for name, robot in robots.items()}
    if len(set(goals.values())) > 1:
        names = ", ".join(f"{name} to {_short(goal)}" for name, goal in goals.items())
        raise UserError(f"Rollback would mix bundles ({names}); nothing was switched, flash one bundle to all.")

    def stage(robot: Transport) -> None:
        before = robot.state().previous
        wrong = robot.check(before) if before else "has no previous bundle; flash one."
        if wrong:
            raise UserError(wrong)

    return _two_phases(robots, stage, lambda before: State(before.previous, before.current))


def status(robots: Robots) -> list[Report]:
    """What every robot has."""
    return [_each(name, robot, lambda r: (r.state(), "", r.ids())) for name, robot in robots.items()]


def verify(robots: Robots) -> list[Report]:
    """Check the current bundle on every robot."""

    def look(robot: Transport) -> tuple[State, str, list[str]]:
        state = robot.state()
        return state, robot.check(state.current) if state.current else "has no bundle; flash one.", robot.ids()

    return [_each(name, robot, look) for name, robot in robots.items()]


def prune(robots: Robots) -> list[Report]:
    """Remove what is neither current nor previous from every robot."""

    def look(robot: Transport) -> tuple[State, str, list[str]]:
        with robot.lock():
            gone = robot.prune()
        return robot.state(), "", gone

    return [_each(name, robot, look) for name, robot in robots.items()]


def differing(theirs: object, ours: object, key: str = "") -> list[tuple[str, object, object]]:
    """(dotted key, theirs, ours) of every number that two parsed vehicle files don't share; sources don't count."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = sorted((theirs.keys() | ours.keys()) - {"sources"})
        return [d for k in keys for d in differing(theirs.get(k), ours.get(k), f"{key}.{k}" if key else k)]
    return [] if theirs == ours else [(key, theirs, ours)]


def _two_phases(robots: Robots, stage: Callable[[Transport], None], target: Callable[[State], State]) -> list[Report]:
    """Lock all, stage all, switch all; after any failure every robot is as it was."""
    before: dict[str, State] = {}
    reports = {name: Report(name) for name in robots}
    with ExitStack() as locks:

        def prepare(name: str) -> None:
            locks.enter_context(robots[name].lock())
            before[name] = robots[name].state()
            stage(robots[name])

        failed = _phase(robots, reports, prepare)
        if not failed:
            switched: list[str] = []

            def change(name: str) -> None:
                if target(before[name]) != before[name]:
                    switched.append(name)
                    robots[name].switch(target(before[name]))

            failed = _phase(robots, reports, change, stop=True)
            if failed:
                _phase(switched, reports, lambda name: robots[name].switch(before[name]))
        return [_closing(reports[name], robots[name], before.get(name), failed) for name in robots]


def _phase(
    names: Robots | list[str], reports: dict[str, Report], act: Callable[[str], None], stop: bool = False
) -> str:
    """Act on every robot, noting time and failure; returns the first that failed, or nothing."""
    failed = ""
    for name in names:
        start = time.perf_counter()
        try:
            act(name)
        except UserError as error:
            failed = failed or name
            reports[name] = replace(reports[name], ok=False, reason=str(error))
        reports[name] = replace(reports[name], seconds=reports[name].seconds + time.perf_counter() - start)
        if failed and stop:
            break
    return failed


def _closing(report: Report, robot: Transport, before: State | None, failed: str) -> Report:
    """The report with the state that the robot is left in."""
    try:
        state = robot.state()
    except UserError as error:
        return replace(report, ok=False, reason=report.reason or str(error))
    reason = "was current already." if state == before else ""
    if failed:
        reason = report.reason or f"not switched, because {failed} failed."
    return replace(report, ok=not failed, current=state.current, previous=state.previous, reason=reason)


def _each(name: str, robot: Transport, look: Callable[[Transport], tuple[State, str, list[str]]]) -> Report:
    start = time.perf_counter()
    try:
        state, wrong, ids = look(robot)
    except UserError as error:
        return Report(name, False, seconds=time.perf_counter() - start, reason=str(error))
    seconds = time.perf_counter() - start
    return Report(name, not wrong, state.previous, state.current, seconds, wrong, tuple(ids))


def _short(bundle_id: str | None) -> str:
    return bundle_id[:12] if bundle_id else "nothing"
