"""`Change`: one change of a team, from the first question to the last answer; all robots switch, or none.

A switch is confirmed when every robot is well on the new bundle. If one is not, all go back.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.config import UserError
from robomarl.fleet.pipe import BrokenLinkError, LostConnectionError
from robomarl.fleet.preflight import Need, problems
from robomarl.fleet.report import AT_ONCE, Report, Robots, Together
from robomarl.fleet.serve import SILENCE_S
from robomarl.fleet.store import InstalledBundles

Watch = Callable[[str, str], None]
"""Is told a robot's name and the step that it begins."""
STEPS = ("connect", "preflight", "stage", "verify", "switch", "health", "done")
"""Steps of a robot through a change; `failed` ends it early."""
SETTLE_S = SILENCE_S + 5.0
"""How long a robot may take to notice that we are gone."""
SLOWEST_SHARE = 0.5
"""Share of the period that half of a robot's decisions may take at most."""


@dataclass(frozen=True)
class TeamChange:
    """One change of a team, as `change` carries it out."""

    action: str
    """flash or rollback, for the journals."""
    bundle_id: str
    """Id of the bundle to be current."""
    need: Need
    bundle: Bundle | None = None
    """Bundle to be staged first; None if the robots have it."""
    period_s: float = 0.0
    """Period [s] of the bundle's decisions; 0 skips the check of the latency."""
    dry_run: bool = False
    """Stop after preflight."""
    allow_rollback: bool = False
    """True if robots that accept signed bundles only may accept one that is older than their earlier bundles."""
    canary: str = ""
    """Robot that is switched, and seen to be well, before anything is sent to the rest of the fleet."""
    absent_ok: bool = False
    """Robots that can't be connected to are left out, and catch up later."""


class Change:
    """One change of a team, from the first question to the last answer."""

    def __init__(self, plan: TeamChange, robots: Robots, watch: Watch) -> None:
        """Nothing is asked yet."""
        self.plan = plan
        self.robots = robots
        self.step = dict.fromkeys(robots, STEPS[0])
        self._watch = watch
        self.before: dict[str, InstalledBundles] = {}
        self.reports = {name: Report(name) for name in robots}

    def watch(self, name: str, step: str) -> None:
        """Tell that a robot begins a step, and keep it in mind: an error may name it."""
        self.step[name] = step if step in STEPS else self.step[name]
        self._watch(name, step)

    def run(self) -> list[Report]:
        """Prepare, switch and look after all; if one is not well, all go back. Robots are let go of at the end."""
        with ThreadPoolExecutor(len(self.robots)) as pool:
            team = Together(self.robots, pool, self.step.__getitem__)
            try:
                failed = next(filter(None, (self._begin(team, names) for names in self._groups())), "")
                failed = failed or ("" if self.before else next(iter(self.robots)))
                if not self.plan.dry_run:
                    if failed:
                        self._all(team, lambda name: self._undo(name, failed), self.before)
                    elif self._all(team, self._confirm, self.before):
                        self._all(team, self._catch_up, self.before)
                self._all(team, lambda name: self._finish(name, failed), self.robots)
            finally:
                list(pool.map(lambda robot: robot.close(), self.robots.values()))
        return [self.reports[name] for name in self.robots]

    def _groups(self) -> list[list[str]]:
        """Return the groups of robots in their order, the canary first."""
        others = [name for name in self.robots if name != self.plan.canary]
        return [[self.plan.canary], others] if self.plan.canary in self.robots and others else [list(self.robots)]

    def _begin(self, team: Together, names: list[str]) -> str:
        """Bring some robots as far as can be undone; the first that failed, or nothing."""
        if failed := self._all(team, self._prepare, names, AT_ONCE):
            return failed
        there = [name for name in names if name in self.before]
        if self.plan.dry_run:
            return ""
        return self._all(team, self._switch, there) or self._all(team, self._health, there, AT_ONCE)

    def _all(self, team: Together, act: Callable[[str], None], names: Iterable[str], at_once: int = 0) -> str:
        """Act on robots at once; the first that failed, or nothing."""
        return team.all(lambda name: self._timed(act, name), names, self.before, at_once)

    def _timed(self, act: Callable[[str], None], name: str) -> bool:
        start = time.perf_counter()
        try:
            act(name)
            good = True
        except Exception as error:  # whatever it was, the others must hear that this robot failed
            good = False
            self.watch(name, "failed")
            error = error.during(self.step[name]) if isinstance(error, LostConnectionError) else error
            said = str(error) if isinstance(error, UserError) else f"{name}: {error!r}"
            self._update(name, ok=False, reason=self.reports[name].reason or said)
        self._update(name, seconds=self.reports[name].seconds + time.perf_counter() - start)
        return good

    def _prepare(self, name: str) -> None:
        robot, plan = self.robots[name], self.plan
        self.watch(name, "connect")
        try:
            facts = robot.hello()
        except BrokenLinkError as error:
            if not plan.absent_ok:
                raise
            self._update(name, ok=False, absent=True, reason=f"is absent, to catch up later: {error}")
            return
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
            self.robots[name].switch(self.plan.action, InstalledBundles(self.plan.bundle_id, before.current))

    def _health(self, name: str) -> None:
        self.watch(name, "health")
        found = self.robots[name].health()
        self._update(name, healthy=found["healthy"])
        if not found["healthy"]:
            raise UserError(f"{name}: is not healthy: {found['reason']}")

    def _undo(self, name: str, failed: str) -> None:
        did = "is not healthy" if self.reports[failed].healthy is False else "could not switch"
        self.robots[name].undo(f"{failed} {did}")

    def _confirm(self, name: str) -> None:
        self.step[name] = "confirm"
        self.robots[name].confirm()
        self.watch(name, "done")

    def _catch_up(self, name: str) -> None:
        """Switch a robot again if its confirmation was lost and it may have gone back: the team stays, so it has to
        follow.
        """
        if self.reports[name].ok:
            return
        robot, lost = self.robots[name], self.reports[name].reason
        self.step[name] = "confirm, at the second try"
        state = self._settled(name)
        if robot.call("state")["pending"]:
            raise UserError(f"{name}: still holds the switch open after {SETTLE_S:g} s; end its process or restart it.")
        if state.current != self.plan.bundle_id:
            robot.lock()
            self._check(name)
            robot.switch(self.plan.action, InstalledBundles(self.plan.bundle_id, state.current))
            self._health(name)
            robot.confirm()
        self._update(name, ok=True, reason=f"switched at the second try: {lost}")

    def _settled(self, name: str) -> InstalledBundles:
        """Return a robot's state over a new connection, once the server of the old one has ended: until then it may
        change.
        """
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
            self._update(name, healthy=False if report.healthy is False else None)
            if not self.plan.dry_run:
                robot.note(self.plan.action, self.plan.bundle_id, reason)
        self._update(name, ok=not failed and report.ok, current=state.current, previous=state.previous, reason=reason)

    def _update(self, name: str, **changes: object) -> None:
        self.reports[name] = replace(self.reports[name], **changes)
