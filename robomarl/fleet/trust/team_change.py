"""`TrustChange`: a change of a team's trust, in two phases; all robots change, or none.

All robots are asked first, and none has changed until all are there and able. If one then fails,
the changed ones go back. An operator's process that dies among the last answers leaves some robots
changed and some unchanged. The command, repeated, goes on where it ended, because a robot that has
the change already reports so.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

from robomarl.core.config import UserError
from robomarl.fleet.pipe import BrokenLinkError
from robomarl.fleet.report import Report, Robots, Together
from robomarl.fleet.serve import Facts


class TrustChange:
    """One change of a team, from the first question to the last answer."""

    def __init__(self, robots: Robots, action: str, about: Facts, absent_ok: bool = False) -> None:
        """Nothing is asked yet.

        Args:
            robots: by name.
            action: trust, revoke, threshold or unsigned; see `robomarl.fleet.trust.asked`.
            about: its arguments.
            absent_ok: robots that can't be connected to are left out, and stay as they are.
        """
        self._robots, self._action, self._about, self._absent_ok = robots, action, about, absent_ok
        self._reports = {name: Report(name) for name in robots}
        self._held: list[str] = []

    def run(self) -> list[Report]:
        """Ask all, change all, confirm all; robots are let go of at the end.

        Returns:
            Result of each robot; `facts`: its trust now, and if it was `changed`.
        """
        with ThreadPoolExecutor(len(self._robots)) as pool:
            team = Together(self._robots, pool)
            try:
                failed = self._all(team, self._prepare, self._robots) or self._nothing_to_do()
                if not failed and (failed := self._all(team, self._commit, self._held)):
                    self._all(team, lambda name: self._undo(name, failed), self._held)
                elif not failed and self._all(team, self._confirm, self._held):
                    self._all(team, self._again, self._held)
                self._tell(failed)
            finally:
                list(pool.map(lambda robot: robot.close(), self._robots.values()))
        return list(self._reports.values())

    def _all(self, team: Together, act: Callable[[str], None], names: Iterable[str]) -> str:
        return team.all(lambda name: self._tried(act, name), names, self._held)

    def _tried(self, act: Callable[[str], None], name: str) -> bool:
        try:
            act(name)
        except Exception as error:  # whatever it was, the others must hear that this robot failed
            said = str(error) if isinstance(error, UserError) else f"{name}: {error!r}"
            self._update(name, ok=False, reason=self._reports[name].reason or said)
            return False
        return True

    def _update(self, name: str, **changes: object) -> None:
        self._reports[name] = replace(self._reports[name], **changes)

    def _prepare(self, name: str) -> None:
        robot = self._robots[name]
        try:
            robot.hello()
        except BrokenLinkError as error:
            if not self._absent_ok:
                raise
            self._update(name, ok=False, absent=True, reason=f"is absent, run the command again later: {error}")
            return
        robot.lock()
        self._held.append(name)
        self._update(name, facts=robot.call("prepare_trust", action=self._action, about=self._about))

    def _nothing_to_do(self) -> str:
        """Reject a change that every robot has already, or for which no robot is there; return the first robot or
        nothing.
        """
        if not self._held:
            return next(iter(self._robots))
        asks = self._action == "revoke" or self._about.get("instead_of")
        if asks and all(self._reports[name].facts["already"] for name in self._held):
            gone, names = (
                self._about.get("instead_of") or self._about["name"],
                self._reports[self._held[0]].facts["names"],
            )
            said = (
                f"no robot trusts a key {gone!r} (they trust {', '.join(names) or 'nobody'}); run `robomarl key list`."
            )
            for name in self._held:
                self._update(name, ok=False, reason=f"{name}: {said}")
            return self._held[0]
        return ""

    def _commit(self, name: str) -> None:
        already = self._reports[name].facts["already"]
        self._update(name, facts={**self._robots[name].call("commit_trust"), "already": already})

    def _undo(self, name: str, failed: str) -> None:
        self._robots[name].call("undo_trust", reason=f"{failed} could not change")

    def _confirm(self, name: str) -> None:
        self._robots[name].call("confirm_trust")

    def _again(self, name: str) -> None:
        """Ask a robot once more if its confirmation was lost and it may have gone back; the rest of the team stays."""
        if self._reports[name].ok:
            return
        robot, lost = self._robots[name], self._reports[name].reason
        robot.close()
        robot.hello()
        robot.lock()
        robot.call("prepare_trust", action=self._action, about=self._about)
        facts = robot.call("commit_trust")
        robot.call("confirm_trust")
        self._update(name, ok=True, facts=facts, reason=f"changed at the second try: {lost}")

    def _tell(self, failed: str) -> None:
        """Report the final state of each robot; if one failed, the rest are reported as not changed."""
        for name, report in list(self._reports.items()):
            changed = not failed and report.ok and not report.facts.get("already", False)
            reason = report.reason or (f"not changed, because {failed} failed." if failed else "")
            facts = report.facts
            if failed:
                with suppress(UserError):
                    facts = self._robots[name].call("trusted")
            elif not report.ok and not report.absent:
                reason += " It may trust the same as before; run the command again."
            self._update(name, ok=not failed and report.ok, reason=reason, facts={**facts, "changed": changed})
