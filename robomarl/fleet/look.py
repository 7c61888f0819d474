"""Look after robots one by one: no robot waits for another, and none is switched."""

import base64
from pathlib import Path
from typing import Any

from robomarl.config import UserError
from robomarl.fleet.evidence.collect import collect
from robomarl.fleet.report import Report, Robots, each
from robomarl.fleet.robot import Robot

NODE = ("state", "bundle_id", "problem", "robomarl")
"""What status tells of a policy node."""


def status(robots: Robots) -> list[Report]:
    """What every robot has, since when, when it was last checked, who holds it, and what its filter runs in."""

    def look(robot: Robot) -> dict[str, Any]:
        answer = robot.call("state")
        facts = {key: answer[key] for key in ("age_s", "verified", "holder", "pending")} | {"host": robot.place}
        node = robot.call("node")
        facts["node"] = {key: str(node.get(key, "")) for key in NODE} if node else {}
        facts["filter"] = answer.get("filter", "")  # robots with an older robomarl do not say
        return {"bundles": answer["ids"], "facts": facts}

    return each(robots, look)


def verify(robots: Robots) -> list[Report]:
    """Each robot checks what is current, itself."""

    def look(robot: Robot) -> dict[str, Any]:
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
    """Remove what is neither current nor previous from every robot."""

    def look(robot: Robot) -> dict[str, Any]:
        robot.hello()
        robot.lock()
        return {"bundles": robot.call("prune")["gone"]}

    return each(robots, look)


def log(robots: Robots, count: int = 20) -> list[Report]:
    """The last lines of every robot's journal."""
    return each(robots, lambda robot: {"facts": robot.call("log", count=count)})


def journals(robots: Robots, folder: Path) -> list[Report]:
    """Bring every robot's journal here, and follow its chain; see `robomarl.fleet.evidence.collect`."""

    def look(robot: Robot) -> dict[str, Any]:
        answer = robot.call("collect")
        old, now = (base64.b64decode(answer[key]) for key in ("old", "now"))
        facts, problem = collect(folder / f"{robot.name}.jsonl", old, now)
        return {"ok": not problem, "reason": problem, "facts": facts}

    return each(robots, look)
