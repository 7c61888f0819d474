"""Fleet as the monitor sees it: one line for each robot, its diagnostics, and E-stops from before its
start.

No ROS here.
"""

from collections.abc import Iterable

from robomarl.ros.robot.health import ERROR, OK, WARN, DiagnosticEntry
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement


class FleetTable:
    """Latest announcement of every robot."""

    def __init__(self, team: tuple[str, ...], silent_after_s: float) -> None:
        """Start without an announcement.

        Args:
            team: names of all robots, in the order of their indices.
            silent_after_s: time [s] without an announcement after which a robot is shown as silent.
        """
        self.team, self._silent_after_s = team, silent_after_s
        self._heard: dict[str, tuple[Announcement, float]] = {}

    def hear(self, said: Announcement, steady_s: float) -> None:
        """A robot announced itself."""
        self._heard[said.robot] = said, steady_s

    def states(self, steady_s: float) -> dict[str, State | None]:
        """State of every robot; None: silent."""
        return {name: said.state if (said := self._fresh(name, steady_s)) else None for name in self.team}

    def is_stopped(self) -> bool:
        """Return True if a robot reports ESTOP: the E-stop was pressed before this monitor began."""
        return any(said.state is State.ESTOP for said, _ in self._heard.values())

    def forget_stops(self, names: Iterable[str]) -> None:
        """Forget that these robots reported ESTOP until now; other states and other robots stay."""
        for name in names:
            if name in self._heard and self._heard[name][0].state is State.ESTOP:
                del self._heard[name]

    def bundles(self, steady_s: float) -> set[str]:
        """Bundles that are carried."""
        return {bundle for _, bundle in self._carried(steady_s)}

    def _carried(self, steady_s: float) -> set[tuple[str, str]]:
        """Vehicle and bundle of each robot: robots of one vehicle have one bundle."""
        return {(said.vehicle, said.bundle_id) for name in self.team if (said := self._fresh(name, steady_s))}

    def statuses(self, name: str, pressed: bool, steady_s: float) -> list[DiagnosticEntry]:
        """Entries for `/diagnostics`: the team's, then one for each robot."""
        states, bundles = self.states(steady_s), self.bundles(steady_s)
        silent = [robot for robot, state in states.items() if state is None]
        team, level = [], OK
        if silent:
            team, level = [*team, f"silent: {', '.join(silent)}"], ERROR
        carried = self._carried(steady_s)
        if len(carried) > len({vehicle for vehicle, _ in carried}):
            ids = ", ".join(sorted(bundle[:12] for bundle in bundles))
            team, level = [*team, f"mixed bundles: {ids}"], ERROR
        if pressed:
            team, level = [*team, "the E-stop is pressed"], ERROR
        values = {"emergency_stop": str(pressed), "bundles": ", ".join(sorted(bundles))}
        found = [DiagnosticEntry(f"{name}: team", level, "; ".join(team) or "all robots are there", values)]
        for robot in states:
            said = self._fresh(robot, steady_s)
            bad = said is None or said.state is State.ESTOP or said.state is State.STOP and not said.ordered
            text = "silent" if said is None else said.state.name + (f": {said.why}" if said.why else "")
            found.append(DiagnosticEntry(f"{name}: {robot}", WARN if bad else OK, text, self._values(robot)))
        return found

    def text(self, steady_s: float) -> str:
        """The table: name, index, state, bundle, vehicle."""
        rows = [("robot", "index", "state", "bundle", "vehicle", "heard")]
        for index, name in enumerate(self.team):
            said, heard_s = self._heard.get(name, (None, 0.0))
            if said is None:
                rows.append((name, str(index), "never heard", "", "", ""))
                continue
            ago_s = steady_s - heard_s
            state = said.state.name if ago_s <= self._silent_after_s else f"silent ({said.state.name})"
            rows.append((name, str(said.index), state, said.bundle_id[:12], said.vehicle, f"{ago_s:.1f} s ago"))
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)

    def _fresh(self, name: str, steady_s: float) -> Announcement | None:
        said, heard_s = self._heard.get(name, (None, 0.0))
        return said if steady_s - heard_s <= self._silent_after_s else None

    def _values(self, name: str) -> dict[str, str]:
        said, _ = self._heard.get(name, (None, 0.0))
        return {} if said is None else {"bundle_id": said.bundle_id, "index": str(said.index), "vehicle": said.vehicle}
