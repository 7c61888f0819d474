"""`bench ros`: the nodes over DDS: four robots at 100 Hz, then six, then six bare rclpy nodes in their place."""

import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import Row

POLICY_HZ, PHYSICS_HZ, RADIO_HZ = 100, 200, 50
SECONDS, SETTLE_S = 10.0, 2.0
BARE = "benchmarks.nodes.bare_node"


class Measured(NamedTuple):
    """One fleet's flight."""

    sensor_us: np.ndarray
    """From the sending of an odometry message to that of the command, every active tick of every robot."""
    own_us: np.ndarray
    """A tick without policy and filter."""
    pilot_us: np.ndarray
    skipped_share: float
    lost_share: float
    memory_mb: tuple[float, float]
    """Of the largest policy node, at the beginning and at the end."""
    ready_s: float
    """From the first process to READY."""
    cpu_us: float
    """Processor time of a policy node for each of its ticks, kernel included: what a busy machine does not blur."""


def rows() -> list[Row]:
    """Four, six, and six bare ones in the same run."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = faster_bundle(Path(folder, "bundle"))
        found = []
        for count in (4, 6):
            fleet = write_fleet(Path(folder), count)
            measured = measure(fleet, str(bundle), SECONDS)
            found += rows_of(f"{count} robots, {POLICY_HZ} Hz, radio {RADIO_HZ} Hz", measured)
            ours = np.percentile(measured.sensor_us, 99)
        bare, bare_cpu_us = measure_bare(fleet, SECONDS)
    case = "6 bare rclpy nodes, the same messages"
    found += [Row(case, f"sensor to command p{q}", float(np.percentile(bare, q)) / 1e3, "ms") for q in (50, 99)]
    found.append(Row(case, "processor time of an echo, mean", bare_cpu_us, "us"))
    return [*found, Row("6 robots beside 6 bare nodes", "p99, factor", float(ours / np.percentile(bare, 99)), "")]


def rows_of(case: str, measured: Measured) -> list[Row]:
    """The figures of one fleet."""
    figures = [
        *((f"sensor to command p{q}", np.percentile(measured.sensor_us, q) / 1e3, "ms") for q in (50, 99)),
        *((f"tick without policy and filter p{q}", np.percentile(measured.own_us, q), "us") for q in (50, 99)),
        *((f"policy and filter p{q}", np.percentile(measured.pilot_us, q), "us") for q in (50, 99)),
        ("processor time of a whole tick, mean", measured.cpu_us, "us"),
        ("ticks dropped", 100 * measured.skipped_share, "%"),
        ("messages lost", 100 * measured.lost_share, "%"),
        ("memory of a policy node, begin", measured.memory_mb[0], "MB"),
        ("memory of a policy node, end", measured.memory_mb[1], "MB"),
        ("from start to READY", measured.ready_s, "s"),
    ]
    return [Row(case, metric, float(value), unit) for metric, value, unit in figures]


def measure(fleet: Any, bundle: str, seconds: float) -> Measured:
    """Fly a fleet for some time; what its ticks say."""
    from robomarl.ros.operator.plan_options import PlanOptions
    from robomarl.ros.operator.rehearsal import bring_up

    started_s = time.monotonic()
    with bring_up(fleet, PlanOptions(bundle=bundle, sim=True), None, lambda name, line: None) as team:
        team.configure()
        console, names = team.console, team.console.team
        goals = console.reset()
        console.send_goals(dict(zip(names, goals, strict=True)))
        console.wait_until_ready(names, 60.0)
        ready_s = time.monotonic() - started_s
        refused = console.start(names)
        assert not any(refused.values()), refused
        listen(console, SETTLE_S)
        pids = [p.popen.pid for name, p in team.processes.running.items() if name.endswith("policy_node")]
        before = max(map(memory_mb, pids))
        cpu_s = sum(map(processor_s, pids))
        ticks = listen(console, seconds)
        cpu_s = sum(map(processor_s, pids)) - cpu_s
        measured = summary(ticks, (before, max(map(memory_mb, pids))), ready_s)
        return measured._replace(cpu_us=1e6 * cpu_s / len(measured.own_us))


def listen(console: Any, seconds: float) -> dict[str, list[dict[str, float]]]:
    """Ticks of all robots for some time."""
    for name in console.team:
        console.take_ticks(name)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in console.team}
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        console.poll(0.1)
        for name, rows_ in found.items():
            rows_ += console.take_ticks(name)
    return found


def summary(ticks: dict[str, list[dict[str, float]]], memory: tuple[float, float], ready_s: float) -> Measured:
    """All robots together."""
    flown = {name: [row for row in rows_ if row["active"]] for name, rows_ in ticks.items()}
    every = [row for rows_ in flown.values() for row in rows_]
    skipped = sum(rows_[-1]["skipped"] - rows_[0]["skipped"] for rows_ in flown.values())
    sources = [name.removesuffix(".lost") for name in every[0] if name.endswith(".lost")]
    lost = received = 0.0
    for rows_ in flown.values():
        own = [s for s in sources if f"{s}.lost" in rows_[0]]
        lost += sum(rows_[-1][f"{s}.lost"] - rows_[0][f"{s}.lost"] for s in own)
        received += sum(rows_[-1][f"{s}.received"] - rows_[0][f"{s}.received"] for s in own)
    sensor = np.array([row["sensor_us"] for row in every])
    return Measured(
        sensor_us=sensor[np.isfinite(sensor)],
        own_us=np.array([row["latency_us"] - row["pilot_us"] for row in every]),
        pilot_us=np.array([row["pilot_us"] for row in every]),
        skipped_share=skipped / (len(every) + skipped),
        lost_share=lost / max(lost + received, 1.0),
        memory_mb=memory,
        ready_s=ready_s,
        cpu_us=float("nan"),
    )


def measure_bare(fleet: Any, seconds: float) -> tuple[np.ndarray, float]:
    """Bare rclpy nodes in the place of the policy nodes, with the same simulator.

    Returns:
        [T] microseconds from odometry to command; mean processor time of one echo [us].
    """
    from robomarl.ros.io.environment import environment
    from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
    from robomarl.ros.operator.fleet_plan import plan_fleet
    from robomarl.ros.operator.plan_options import PlanOptions

    lines: list[str] = []
    specs = [spec for spec in plan_fleet(fleet, PlanOptions(sim=True)) if spec.name != "monitor"]
    keep = ("team", "index")
    bare = [
        replace(s, module=BARE, parameters={k: s.parameters[k] for k in keep} | {"seconds": seconds})
        for s in specs
        if s.name == "policy_node"
    ]
    with claimed_domain(None) as domain, Processes(lambda name, line: lines.append(line)) as processes:
        processes.start([*bare, *(s for s in specs if s.name == "sim")], child_environment(environment(True, domain)))
        waiting = [processes.running[s.full_name] for s in bare]
        while any(process.exit_status is None for process in waiting):
            time.sleep(0.2)
        for process in waiting:
            process.drained()
    said = [json.loads(line) for line in lines if line.startswith('{"took_us"')]
    took = np.concatenate([np.array(each["took_us"]) for each in said])
    return took, float(np.mean([each["cpu_us"] for each in said]))


def faster_bundle(folder: Path) -> Path:
    """The shipped policy of swap_4, sealed again for `POLICY_HZ`: the same network, the filter at that period."""
    from robomarl.core.bundle import golden
    from robomarl.core.bundle.bundle import entry_of, load_bundle, seal
    from robomarl.core.bundle.runtime import read_golden
    from robomarl.lab.export.facts import source_of

    bundle = load_bundle("swap_4")
    contract = bundle.contract
    safety = replace(contract.safety, period_s=1 / POLICY_HZ)
    rates = {"policy_hz": float(POLICY_HZ), "physics_hz": float(PHYSICS_HZ)}
    scenario = source_of(contract.scenario.name, {**contract.scenario.content, "rates": rates})
    changed = {"rate_hz": float(POLICY_HZ), "safety": safety, "team_size": (2, 16), "scenario": scenario}
    contract = replace(contract, **changed)  # type: ignore[arg-type]
    flown = read_golden(bundle)
    flown = flown._replace(command=golden.filtered(contract, flown.views, flown.action))
    files = {**{name: data for name, data in bundle.files.items() if name in contract.files}}
    files["golden.npz"] = golden.to_bytes(flown)
    contract = replace(contract, files={name: entry_of(data) for name, data in files.items()})
    folder.mkdir(parents=True)
    for name, data in {**files, "bundle.json": seal(contract)}.items():
        (folder / name).write_bytes(data)
    return folder


def write_fleet(folder: Path, count: int) -> Any:
    """A fleet of so many robots, and its scenario at the rates of this benchmark."""
    import yaml

    from robomarl.core.hardware.fleet import load_fleet

    scenario = folder / f"swap_{count}.toml"
    rates = f"[rates]\npolicy_hz = {POLICY_HZ}.0\nphysics_hz = {PHYSICS_HZ}.0\n"
    scenario.write_text(f'extends = "swap_4"\ncount = {count}\n{rates}')
    robots = [{"name": f"robot_{i}", "index": i, "folder": str(folder / f"robot_{i}")} for i in range(count)]
    content = {"version": 1, "name": f"bench_{count}", "vehicle": "crazyflie_21", "scenario": str(scenario)}
    path = folder / f"bench_{count}.yaml"
    path.write_text(yaml.safe_dump({**content, "radio": {"rate_hz": float(RADIO_HZ)}, "robots": robots}))
    return load_fleet(str(path))


def processor_s(pid: int) -> float:
    """Processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1e3
    return 0.0
