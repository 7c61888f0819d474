"""Commands on single robots: no robot waits for another, and none is switched except to complete
another's change.

No robot is told to stay before all are well on a new bundle. So if an operator's process died after
it had told one robot, the change was decided: a robot that was not told yet went back by itself,
and is brought to the team's bundle.
"""

import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.fleet.change import Change, TeamChange
from robomarl.fleet.evidence.collect import collect
from robomarl.fleet.pointer import ID
from robomarl.fleet.preflight import Need
from robomarl.fleet.report import Report, Robots, each
from robomarl.fleet.robot import Robot
from robomarl.fleet.serve import Facts

NODE = ("state", "bundle_id", "problem", "robomarl")
"""Fields of a policy node that status reports."""


def status(robots: Robots, allow_rollback: bool = False) -> list[Report]:
    """Return each robot's bundles, their age, last check and lock holder, and the backend of its filter.

    Args:
        robots: by name.
        allow_rollback: a change begun by an operator that died may be completed with an older bundle.
    """
    found = each(robots, _state)
    if not (goals := _unfinished(found)):
        return found
    said = _finish(robots, goals, allow_rollback)
    return [replace(r, reason=said.get(r.name, r.reason)) for r in each(robots, _state)]


def _state(robot: Robot) -> Facts:
    answer = robot.call("state")
    facts = {key: answer[key] for key in ("age_s", "verified", "holder", "pending")} | {"host": robot.place}
    undone = str(answer.get("undone", ""))  # robots with an older robomarl do not say
    facts["undone"] = undone if ID.fullmatch(undone) else ""
    node = robot.call("node")
    facts["node"] = {key: str(node.get(key, "")) for key in NODE} if node else {}
    facts["filter"] = answer.get("filter", "")
    return {"bundles": answer["ids"], "facts": facts}


def verify(robots: Robots) -> list[Report]:
    """Let each robot check its current bundle."""

    def look(robot: Robot) -> Facts:
        robot.hello()
        if (current := robot.state().current) is None:
            raise UserError("has no bundle; flash one.")
        verdict = robot.check(current, timed=True)
        robot.note("verify", current, "ok" if verdict["ok"] else " ".join(verdict["problems"]))
        if not verdict["ok"]:
            raise UserError(" ".join(verdict["problems"]))
        return {"latency_p50_us": verdict["step_p50_us"], "latency_p99_us": verdict["step_p99_us"]}

    return each(robots, look)


def prune(robots: Robots) -> list[Report]:
    """Remove every bundle that is neither current nor previous from every robot."""

    def look(robot: Robot) -> Facts:
        robot.hello()
        robot.lock()
        return {"bundles": robot.call("prune")["gone"]}

    return each(robots, look)


def log(robots: Robots, count: int = 20) -> list[Report]:
    """The last lines of every robot's journal."""
    return each(robots, lambda robot: {"facts": robot.call("log", count=count)})


def journals(robots: Robots, folder: Path) -> list[Report]:
    """Bring every robot's journal here, and follow its chain; see `robomarl.fleet.evidence.collect`."""

    def look(robot: Robot) -> Facts:
        answer = robot.call("collect")
        old, now = (base64.b64decode(answer[key]) for key in ("old", "now"))
        facts, problem = collect(folder / f"{robot.name}.jsonl", old, now)
        return {"ok": not problem, "reason": problem, "facts": facts}

    return each(robots, look)


def _unfinished(reports: Sequence[Report]) -> dict[str, str]:
    """Return robots that went back from a bundle with which another stays: id of that bundle by name; from
    `look.status`.
    """
    there = [r for r in reports if r.ok]
    stays = {r.current for r in there if not r.facts["pending"]}
    goals: dict[str, str] = {r.name: r.facts["undone"] for r in there if not r.facts["pending"]}
    return {name: goal for name, goal in goals.items() if goal in stays}


def _finish(robots: Robots, goals: dict[str, str], allow_rollback: bool = False) -> dict[str, str]:
    """Switch robots to the bundle of the rest of the team; each checks it again, and has to be well on it.

    Args:
        robots: all, by name.
        goals: from `_unfinished`.
        allow_rollback: see `TeamChange`.

    Returns:
        Text to report for each robot.
    """
    said = {}
    for goal in sorted(set(goals.values())):
        behind = {name: robots[name] for name in goals if goals[name] == goal}
        plan = TeamChange("finish", goal, Need("", 0, float("inf")), allow_rollback=allow_rollback)
        for report in Change(plan, behind, lambda name, step: None).run():
            done = "switched now, its operator had gone before it was told to stay."
            said[report.name] = done if report.ok else f"is to have {goal[:12]} like the others: {report.reason}"
    return said
