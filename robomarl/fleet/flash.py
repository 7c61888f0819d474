"""A bundle goes to all robots of a fleet, or to none: all stage and check it, then all switch.

Every function takes the robots by name, works on all of them at once and returns one `Report` for each. If a robot
fails before the switch, no robot has switched; if one fails to switch, the others go back.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from robomarl.config import UserError, to_dict
from robomarl.fleet.preflight import Need, problems
from robomarl.fleet.report import Report, Robots, each
from robomarl.fleet.serve import SILENCE_S
from robomarl.fleet.store import State
from robomarl.hardware_configs.fleet import Fleet
from robomarl.policies.bundle import Bundle

Watch = Callable[[str, str], None]
"""Is told a robot's name and the step that it begins."""
STEPS = ("connect", "preflight", "stage", "verify", "switch", "done")
"""What a robot goes through; `failed` ends it early."""
PING_S = 3.0
"""How often robots that wait for others are told that we are still there."""
SETTLE_S = SILENCE_S + 5.0
"""How long a robot may take to notice that we are gone."""
SLOWEST_SHARE = 0.5
"""Share of the period that half of a robot's decisions may take at most."""


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
    if not least <= fleet.team_size <= most:
        allowed = f"{least}" if least == most else f"{least} to {most}"
        raise UserError(
            f"Bundle {contract.name} is for teams of {allowed}, fleet {fleet.name} has {fleet.team_size} robots; "
            "nothing was switched, name another bundle."
        )
    changed = differing(contract.vehicle.content, to_dict(fleet.vehicle_config))
    return [f"{fleet.vehicle}: {key} is {ours!r} here and was {theirs!r} in training." for key, theirs, ours in changed]


def differing(theirs: object, ours: object, key: str = "") -> list[tuple[str, object, object]]:
    """(dotted key, theirs, ours) of every number that two parsed vehicle files don't share; sources don't count."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = sorted((theirs.keys() | ours.keys()) - {"sources"})
        return [d for k in keys for d in differing(theirs.get(k), ours.get(k), f"{key}.{k}" if key else k)]
    return [] if theirs == ours else [(key, theirs, ours)]


@dataclass(frozen=True)
class Plan:
    """One change of a team, as `change` carries it out."""

    action: str
    """flash or rollback, for the journals."""
    bundle_id: str
    """What is to be current."""
    need: Need
    bundle: Bundle | None = None
    """To be staged first; none if the robots have it."""
    period_s: float = 0.0
    """Of the bundle's decisions; 0 does not look at the latency."""
    dry_run: bool = False
    """Stop after preflight."""
    allow_rollback: bool = False
    """Robots that take signed bundles only may take one that is older than what they have had."""


def flash(
    bundle: Bundle,
    robots: Robots,
    watch: Watch = lambda name, step: None,
    dry_run: bool = False,
    max_clock_error_s: float = 1.0,
    allow_rollback: bool = False,
) -> list[Report]:
    """Put the bundle on every robot and make it current on all of them, or on none.

    Args:
        bundle: what is to be current.
        robots: by name.
        watch: is told of every step.
        dry_run: look at all that can be looked at, and change nothing.
        max_clock_error_s: see `Fleet`.
        allow_rollback: see `Plan`.
    """
    contract = bundle.contract
    size = sum(map(len, bundle.files.values()))
    need = Need(contract.vehicle.name, size, max_clock_error_s)
    plan = Plan("flash", bundle.id, need, bundle, 1 / contract.rate_hz, dry_run, allow_rollback)
    return Change(plan, robots, watch).run()


def rollback(
    robots: Robots, watch: Watch = lambda name, step: None, dry_run: bool = False, allow_rollback: bool = False
) -> list[Report]:
    """Go back to the previous bundle on every robot, or on none; twice is where one was.

    Raises:
        UserError: the robots would then fly different bundles.
    """
    reports = each(robots, lambda robot: {})
    if any(not report.ok for report in reports):
        return [replace(r, ok=False, reason=r.reason or "not switched, another robot is away.") for r in reports]
    goals = {report.name: report.previous for report in reports}
    if len(set(goals.values())) > 1:
        names = ", ".join(f"{name} to {short(goal)}" for name, goal in goals.items())
        raise UserError(f"Rollback would mix bundles ({names}); nothing was switched, flash one bundle to all.")
    if reports[0].previous is None:
        return [replace(report, ok=False, reason="has no previous bundle; flash one.") for report in reports]
    plan = Plan("rollback", reports[0].previous, Need("", 0, float("inf")), None, 0.0, dry_run, allow_rollback)
    return Change(plan, robots, watch).run()


class Change:
    """One change of a team, from the first question to the last answer."""

    def __init__(self, plan: Plan, robots: Robots, watch: Watch) -> None:
        """Nothing is asked yet."""
        self.plan = plan
        self.robots = robots
        self.watch = watch
        self.before: dict[str, State] = {}
        self.reports = {name: Report(name) for name in robots}

    def run(self) -> list[Report]:
        """Prepare all; if all are ready, switch all; if one can't, all go back. Robots are let go of at the end."""
        with ThreadPoolExecutor(len(self.robots)) as pool:
            try:
                failed = self._all(pool, self._prepare)
                if not failed and not self.plan.dry_run:
                    failed = self._all(pool, self._switch)
                    if failed:
                        self._all(pool, lambda name: self._undo(name, failed))
                    elif self._all(pool, self._confirm):
                        self._all(pool, self._catch_up)
                self._all(pool, lambda name: self._finish(name, failed))
            finally:
                list(pool.map(lambda robot: robot.close(), self.robots.values()))
        return [self.reports[name] for name in self.robots]

    def _all(self, pool: ThreadPoolExecutor, act: Callable[[str], None]) -> str:
        """Act on all robots at once; the first that failed, or nothing. Those that are done are kept company."""
        jobs = {pool.submit(self._timed, act, name): name for name in self.robots}
        waiting = set(jobs)
        while waiting:
            done, waiting = wait(waiting, PING_S)
            for name in (jobs[job] for job in jobs if job not in waiting and waiting):
                with suppress(UserError):
                    self.robots[name].call("ping") if name in self.before else None
        return next((jobs[job] for job in jobs if not job.result()), "")

    def _timed(self, act: Callable[[str], None], name: str) -> bool:
        start = time.perf_counter()
        try:
            act(name)
            good = True
        except Exception as error:  # whatever it was, the others must hear that this robot failed
            good = False
            self.watch(name, "failed")
            said = str(error) if isinstance(error, UserError) else f"{name}: {error!r}"
            self._update(name, ok=False, reason=self.reports[name].reason or said)
        self._update(name, seconds=self.reports[name].seconds + time.perf_counter() - start)
        return good

    def _prepare(self, name: str) -> None:
        robot, plan = self.robots[name], self.plan
        self.watch(name, "connect")
        facts = robot.hello()
        self.watch(name, "preflight")
        # A robot that does not say what it is, is what the fleet file says.
        said = {**facts, "vehicle": facts["vehicle"] or robot.vehicle}
        need = plan.need if plan.need.vehicle else replace(plan.need, vehicle=said["vehicle"])
        if wrong := problems(said, need):
            raise UserError(f"{name}: {' '.join(wrong)}")
        if plan.bundle is not None:
            robot.admits(plan.bundle, plan.allow_rollback)
        if not plan.dry_run:
            robot.lock()
        self.before[name] = robot.state()
        if plan.dry_run:
            return
        if plan.bundle is not None:
            self.watch(name, "stage")
            robot.add(plan.bundle)
        self.watch(name, "verify")
        self._check(name)

    def _check(self, name: str) -> None:
        plan = self.plan
        verdict = self.robots[name].check(plan.bundle_id, plan.period_s > 0, plan.allow_rollback)
        if not verdict["ok"]:
            raise UserError(f"{name}: {' '.join(verdict['problems'])}")
        p50, p99 = verdict["step_p50_us"], verdict["step_p99_us"]
        self._update(name, latency_p50_us=p50, latency_p99_us=p99)
        if self.plan.period_s and p50 > SLOWEST_SHARE * self.plan.period_s * 1e6:
            raise UserError(
                f"{name}: half of its decisions take over {p50 / 1e3:.1f} ms, the period is "
                f"{self.plan.period_s * 1e3:.0f} ms; this robot is too slow for the bundle."
            )

    def _switch(self, name: str) -> None:
        self.watch(name, "switch")
        before = self.before[name]
        if before.current != self.plan.bundle_id:
            self.robots[name].switch(self.plan.action, State(self.plan.bundle_id, before.current))

    def _undo(self, name: str, failed: str) -> None:
        self.robots[name].undo(f"{failed} could not switch")

    def _confirm(self, name: str) -> None:
        self.robots[name].confirm()
        self.watch(name, "done")

    def _catch_up(self, name: str) -> None:
        """A robot whose confirmation was lost, and that may have gone back: the others stay, so it has to follow."""
        if self.reports[name].ok:
            return
        robot, lost = self.robots[name], self.reports[name].reason
        state = self._settled(name)
        if state.current != self.plan.bundle_id:
            robot.lock()
            self._check(name)
            robot.switch(self.plan.action, State(self.plan.bundle_id, state.current))
            robot.confirm()
        self._update(name, ok=True, reason=f"switched at the second try: {lost}")

    def _settled(self, name: str) -> State:
        """What a robot has over a new connection, once whoever served the old one is gone: until then it may change."""
        robot = self.robots[name]
        robot.close()
        robot.hello()
        end = time.monotonic() + SETTLE_S
        while robot.call("state")["pending"] and time.monotonic() < end:
            time.sleep(0.2)
        return robot.state()

    def _finish(self, name: str, failed: str) -> None:
        """The state that the robot is left in; asked over a new connection if the old one broke."""
        if name not in self.before:
            self._update(name, ok=False)
            return
        robot, report = self.robots[name], self.reports[name]
        state = robot.state() if report.ok else self._settled(name)
        reason = report.reason
        if not failed and not reason and not self.plan.dry_run and state == self.before[name]:
            reason = "was current already."
        if failed:
            reason = reason or f"not switched, because {failed} failed."
            if not self.plan.dry_run:
                robot.note(self.plan.action, self.plan.bundle_id, reason)
        self._update(name, ok=not failed and report.ok, current=state.current, previous=state.previous, reason=reason)

    def _update(self, name: str, **changes: Any) -> None:
        self.reports[name] = replace(self.reports[name], **changes)


def short(bundle_id: str | None) -> str:
    """An id as people read it."""
    return bundle_id[:12] if bundle_id else "nothing"
