"""Look after the robots of a fleet: check, status, rollback, catch-up, verify, prune, log, journal, setup."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from robomarl.core.config import Range
from robomarl.core.types import Figures
from robomarl.front.cli.up import LAST_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robomarl.core.hardware.fleet import Fleet
    from robomarl.fleet.evidence.record import Deployed, FleetRecord
    from robomarl.fleet.report import Report, Robots
    from robomarl.ros.install.systemd_unit import Network

FILTERS = {"c": "filter in C", "numpy": "filter in Python"}
"""Implementation of a robot's safety filter, for people."""


@dataclass(frozen=True)
class Args:
    """Options of `robomarl fleet`."""

    action: Annotated[
        Literal["check", "status", "rollback", "catch-up", "verify", "prune", "log", "journal", "setup"],
        tyro.conf.Positional,
    ]
    """check: preflight of a team with running nodes; nothing moves. status: the bundle of each robot.
    rollback: all go back to the bundle before. catch-up: robots that were absent get the bundle that
    this machine flashed to the fleet. verify: each robot checks its bundle. prune: remove all but the
    current and the previous bundle. log: the last lines of the robots' journals. journal: copy the
    whole journals to this machine, and report if a line was changed. setup: put robomarl itself on the
    robots.
    """
    fleet: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FLEET")]
    """Name of a fleet in hardware_configs/fleets/, or a YAML file."""
    root: Path = Path()
    """Folder that relative folders of robots on this machine are below; by default the working directory."""
    dry_run: bool = False
    """rollback, setup: look at everything that can be looked at, and change nothing."""
    allow_rollback: bool = False
    """rollback, and status when it ends an interrupted one: also of robots that take signed bundles only,
    to a smaller counter than their largest so far.
    """
    wheels: Path | None = None
    """setup: folder of wheels to install from, for robots without a way to a package index."""
    domain_id: Annotated[int, Range(0, LAST_DOMAIN)] | None = None
    """setup, check: ROS domain of the robots' nodes; by default the one of each robot's environment."""
    secure: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """setup: SROS2. Every node gets an enclave that permits the node's own topics and services and nothing
    else; nodes don't start without. The robots' ROS needs a middleware with DDS security: distributions
    have one, the wheels have none.
    """
    seconds: Annotated[float, Range(0.5, 600.0)] = 3.0
    """check: time to listen to the nodes [s]."""
    namespace: str = ""
    """check: above the robots' own namespaces."""
    room: tuple[float, float, float, float, float, float] | None = None
    """check: lower and upper corner [m] of the room, which the arenas must not reach out of."""
    by_hand: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """check: the operator lifts, turns and moves the robots by hand, in turn, to see which way their frames point."""


def run(args: Args) -> Figures:
    """Do the action on every robot, and print the state of each."""
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.fleet import flash, look
    from robomarl.fleet.evidence.record import FleetRecord
    from robomarl.fleet.robot import connect_all
    from robomarl.front.cli.progress import robot_lines

    fleet = load_fleet(args.fleet)
    names = [robot.name for robot in fleet.own]
    if alone := {"check": check, "setup": set_up}.get(args.action):
        return alone(args, fleet)
    robots, record = connect_all(fleet, args.root), FleetRecord(fleet, args.root)
    if args.action == "rollback":
        check_rollback(fleet)
        with robot_lines(names, flash.STEPS) as watch:
            figures = report(found := flash.rollback(robots, watch, args.dry_run, args.allow_rollback))
        if figures["ok"] and not args.dry_run:
            record.remember(found[0].current or "")
        return figures
    if args.action == "catch-up":
        return catch_up(args, robots, record)
    if args.action == "log":
        return {**report(found := look.log(robots), None, fleet), **journals(found)}
    if args.action == "journal":
        return collected(look.journals(robots, record.folder / "journals"))
    if args.action == "status":
        return report(look.status(robots, args.allow_rollback), record.deployed(), fleet)
    return report({"verify": look.verify, "prune": look.prune}[args.action](robots), None, fleet)


def check(args: Args, fleet: "Fleet") -> Figures:
    """Listen to the team and judge; one line for each robot and check."""
    from robomarl.ros.environment_check.check import check_environment

    check_environment()
    from robomarl.ros.preflight.run import CheckOptions, preflight

    room = (args.room[:3], args.room[3:]) if args.room else None
    options = CheckOptions(args.seconds, args.namespace, args.domain_id, room)
    rows = preflight(fleet, options, input if args.by_hand else None)
    width, names = max(len(r.name) for r in fleet.own), max(len(row.check) for row in rows)
    for row in rows:
        word = "FAILED" if row.ok is False else "ok    " if row.ok else "unseen"
        print(f"{row.robot or 'team':<{width}}  {row.check:<{names}}  {word}  {row.why}")
    return {"ok": all(row.ok is not False for row in rows), "rows": [row._asdict() for row in rows]}


def set_up(args: Args, fleet: "Fleet") -> Figures:
    """Put robomarl on every robot that is not a folder of this machine."""
    from robomarl.front.cli.progress import robot_lines
    from robomarl.ros.install import setup

    network = network_of(args, fleet)
    with robot_lines([robot.name for robot in fleet.own], setup.STEPS) as watch:
        found = setup.set_up(fleet, args.wheels, watch, args.dry_run, network)
    for r in found:
        print(f"{r.name}  {'ok    ' if r.ok else 'FAILED'}  {r.reason}")
    return {"ok": all(r.ok for r in found), "robots": [asdict(r) for r in found]}


def network_of(args: Args, fleet: "Fleet") -> "Network":
    """Domain and enclaves that robots are set up with; the enclaves are made here, but for a dry run."""
    from robomarl.ros.enclaves.keystore import keystore_of
    from robomarl.ros.enclaves.rights import rights_of
    from robomarl.ros.install.systemd_unit import Network

    if not args.secure or args.dry_run:
        return Network(args.domain_id)
    keystore, rights = keystore_of(fleet.name), rights_of(fleet)
    keystore.write(rights, args.domain_id or 0)
    print(f"{keystore.folder}: {len(rights)} enclaves for domain {args.domain_id or 0}; its private folder stays here.")
    return Network(args.domain_id or 0, keystore)


def check_rollback(fleet: "Fleet") -> None:
    """Raise `UserError` for a fleet of unlike vehicles, which has several bundles."""
    from robomarl.core.config import UserError

    if fleet.is_unlike:
        raise UserError(
            f"Fleet {fleet.name}: rollback puts all robots on one bundle, and {', '.join(fleet.vehicles)} have one "
            "each; flash the bundle of before for each vehicle."
        )


def catch_up(args: Args, robots: "Robots", record: "FleetRecord") -> Figures:
    """Flash the fleet's bundle to the robots that can be reached and have another one."""
    from robomarl.core.config import UserError
    from robomarl.fleet import flash, look
    from robomarl.front.cli.progress import robot_lines

    if (deployed := record.deployed()) is None:
        raise UserError("Nothing was flashed to this fleet from this machine; run `robomarl flash BUNDLE FLEET`.")
    found = {r.name: r for r in look.status(robots)}
    behind = {name: robots[name] for name, r in found.items() if r.ok and r.current != deployed.id}
    if behind:
        options = flash.FlashOptions(args.dry_run, allow_rollback=args.allow_rollback)
        with robot_lines(list(behind), flash.STEPS) as watch:
            found |= {r.name: r for r in flash.flash(record.bundle(deployed.id), behind, watch, options)}
    return {"caught_up": [name for name in behind if found[name].ok], **report(list(found.values()), deployed)}


def report(reports: "Sequence[Report]", deployed: "Deployed | None" = None, fleet: "Fleet | None" = None) -> Figures:
    """Print one line for each `robomarl.fleet.report.Report`, and return the figures. A team with two
    bundles for one vehicle is not ok.

    Args:
        reports: reports of the robots.
        deployed: the bundle that they are to have, if this machine knows; a robot with another one is
            behind.
        fleet: the fleet, if its robots may be of unlike vehicles.
    """
    kinds = {r.name: fleet.vehicle_of(r) for r in fleet.own} if fleet else dict[str, str]()
    width = max(len(r.name) for r in reports)
    behind = [r.name for r in reports if deployed and (r.ok or r.current) and r.current != deployed.id]
    for r in reports:
        now, before = (i[:12] if i else "nothing" for i in (r.current, r.previous))
        word = "ABSENT" if r.absent else "ok    " if r.ok else "FAILED"
        line = f"{r.name:<{width}}  {word}  current {now}  previous {before}"
        late = f"behind, is to have {deployed.id[:12]}  " if deployed and r.name in behind else ""
        print(f"{line}  {late}{facts_of(r)}{r.reason}".rstrip())
    carried = {(kinds.get(r.name, ""), r.current) for r in reports if r.ok or r.current}
    mixed = len(carried) > len({kind for kind, _ in carried})
    if mixed:
        print("The robots have different bundles: they must not fly as a team; flash one bundle to all.")
    if behind:
        print("Robots that are behind get their bundle with `robomarl fleet catch-up`, or with the next flash.")
    ok = any(r.ok for r in reports) and all(r.ok or r.absent for r in reports) and not mixed
    return {"ok": ok, "mixed": mixed, "behind": behind, "robots": [asdict(r) for r in reports]}


def facts_of(r: "Report") -> str:
    """Return the facts that status adds to a robot's line: host, age of the current bundle, last check,
    holder, filter.
    """
    if "holder" not in r.facts:
        return ""
    age, checked = r.facts["age_s"], r.facts["verified"]
    words = [
        f"at {r.facts['host']}",
        f"for {duration(age)}" if age is not None else "never flashed",
        f"verified {checked[:16].replace('T', ' ')} UTC" if checked else "not verified",
        r.facts["holder"] or "idle",
        "switched, not confirmed yet" if r.facts["pending"] else "",
        node_of(r.facts["node"], r.current or ""),
        FILTERS.get(r.facts["filter"], ""),
    ]
    return "  ".join(filter(None, words)) + "  "


def node_of(node: Figures, current: str) -> str:
    """Describe a robot's policy node."""
    if not node:
        return "no node"
    other = node["bundle_id"] and node["bundle_id"] != current
    return f"node {node['state']}" + (f" with {node['bundle_id'][:12]}, configure it again" if other else "")


def duration(seconds: float) -> str:
    """Seconds as people say them: the largest unit that fits."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def journals(reports: "Sequence[Report]") -> Figures:
    """Print the robots' journals; the figures."""
    for r in reports:
        for e in r.facts.get("entries", ()):
            change = f"{(e['before'] or 'nothing')[:12]} -> {(e['after'] or 'nothing')[:12]}"
            key = f" ({e['key']})" if e["key"] else ""
            print(f"{r.name}  {e['time'][:19]}  {e['who']}{key}  {e['action']}  {change}  {e['result']}")
    return {"journals": {r.name: list(r.facts.get("entries", ())) for r in reports}}


def collected(reports: "Sequence[Report]") -> Figures:
    """Print the results of collecting the robots' journals, and return the figures."""
    for r in reports:
        said = f"{r.facts['lines']} lines, {r.facts['new']} new, in {r.facts['file']}" if r.facts else ""
        print(f"{r.name}  {'ok    ' if r.ok else 'FAILED'}  {said}  {r.reason}".rstrip())
    robots = [{"name": r.name, "ok": r.ok, "reason": r.reason, **r.facts} for r in reports]
    return {"ok": all(r.ok for r in reports), "robots": robots}
