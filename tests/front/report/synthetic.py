"""Runs and flights that look like real ones, made in milliseconds."""

import csv
import json
from pathlib import Path

import numpy as np

from robomarl.core.log import FlightLog, save_flight
from robomarl.front.report.report import DemoReport, DemoStage, RecordedFlight, TeamMeasurements

TERMS = ("progress", "near", "arrived", "settle", "close", "smooth", "yaw", "contact")


HOVER = {"hover_accel_std_m_s2": 0.12, "hover_tilt_rad": 0.0157, "hover_error_m": 0.021}


def make_flight(count: int = 4, seconds: float = 8.0, seed: int = 0) -> FlightLog:
    """A team on a ring that swaps sides: PD towards the goal is nominal, repulsion plays the filter."""
    rng = np.random.default_rng(seed)
    dt, steps = 0.02, round(seconds / 0.02)
    angle = 2 * np.pi * np.arange(count) / count + 0.3
    pos = np.stack([np.cos(angle), np.sin(angle), np.full(count, 1.2)], -1) + rng.uniform(-0.1, 0.1, (count, 3))
    goal, vel = pos * (-1, -1, 1), np.zeros((count, 3))
    rows = []
    for _ in range(steps):
        away = goal - pos
        speed = away / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 0.6)
        nominal = np.clip(3 * (speed - vel) + rng.normal(0, 0.1, pos.shape), -3, 3)
        gap = pos[:, None] - pos[None] + 1e-9
        far = np.linalg.norm(gap, axis=-1) + 10 * np.eye(count)
        turned = gap[..., (1, 0, 2)] * (-1, 1, 0) + 0.8 * gap
        push = (turned / far[..., None] * 9 * np.maximum(0.6 - far, 0)[..., None]).sum(1)
        command = np.clip(nominal + push, -3, 3)
        rows.append((pos, vel, nominal, command, np.linalg.norm(push, axis=-1) > 0.05))
        vel = vel + dt * command
        pos = pos + dt * vel
    places, speeds, nominal, command, active = (np.stack(column) for column in zip(*rows, strict=True))
    yaw = np.zeros((steps, count, 1))
    return FlightLog(
        time_s=dt * np.arange(steps),
        pos_m=places,
        quat_wxyz=np.tile([1.0, 0, 0, 0], (steps, count, 1)),
        vel_m_s=speeds,
        goal_m=np.tile(goal, (steps, 1, 1)),
        nominal=np.concatenate([nominal, yaw], -1),
        command=np.concatenate([command, yaw], -1),
        active=active,
        radius_m=0.07,
        separation_m=0.2,
    )


def metric_rows(updates: int = 450, seed: int = 0) -> list[dict[str, float | str]]:
    """Rows of a run that learns; every 50 updates an evaluation, blank cells elsewhere."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(1, updates + 1):
        part = i / updates
        skill = 1 / (1 + np.exp(-14 * (part - 0.35)))
        row = {"update": i, "steps": 131072 * i, "seconds": 4.1 + 2.6 * i + 20 * part**2}
        row["return"] = -14 + 58 * skill + rng.normal(0, 1.6)
        row["success"] = float(np.clip(0.985 * skill + rng.normal(0, 0.02), 0, 1))
        row["contact"] = float(np.clip(0.7 * (1 - skill) ** 1.5 + 0.008 + rng.normal(0, 0.008), 0, 1))
        for k, name in enumerate(TERMS):
            sign = 1 if k < 3 else -1
            row[f"reward/{name}"] = (
                sign * (0.02 + (0.05 + 0.01 * k) * (skill if k < 3 else 1 - skill)) * rng.normal(1, 0.05)
            )
        row["loss/policy"] = -0.012 * (1 - part) + rng.normal(0, 0.002)
        row["loss/value"] = 0.5 * np.exp(-4 * part) + rng.normal(0.05, 0.008)
        row["loss/entropy"] = 2.8 - 4.5 * part + rng.normal(0, 0.05)
        row["loss/kl"] = abs(0.012 + rng.normal(0, 0.003))
        row |= {"explained_variance": 1 - 0.9 * np.exp(-9 * part), "learning_rate": 1e-3 * (1 - 0.8 * part)}
        row["noise_floor"] = 0.25 - 0.2 * part
        checked = i % 50 == 0
        row["eval_success"] = float(np.clip(0.96 * skill + rng.normal(0, 0.01), 0, 1)) if checked else ""
        row["eval_collisions"] = float(rng.poisson(12 * (1 - skill))) if checked else ""
        rows.append(row)
    return rows


def write_metrics(folder: Path, rows: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "metrics.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def make_run(folder: Path, updates: int = 450, flights: int = 3, count: int = 4) -> Path:
    """A whole run folder."""
    write_metrics(folder, metric_rows(updates))
    config = {"scenario": "swap_4", "algorithm": "mappo", "total_steps": 60_000_000, "num_envs": 1024,
              "learning_rate": 0.001, "target_kl": 0.012, "network": {"actor_hidden": [64, 64]}}  # fmt: skip
    scenario = {"name": "swap_4", "count": count, "success": {"position_m": 0.15}, "vehicle": "crazyflie_21"}
    about = {"seed": 3, "commit": "bb1e878", "versions": {"robomarl": "0.1.0", "jax": "0.9.2", "numpy": "2.4.6"}}
    contents = {"config": config, "scenario": scenario, "run": about, "evaluation": HOVER}
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "flights").mkdir()
    for i in range(flights):
        save_flight(folder / "flights" / f"episode_{i:02d}.npz", make_flight(count, seed=i))
    return folder


def make_demo(run_dir: Path | None, count: int = 4, flights: int = 5) -> DemoReport:
    """A demo in which everything was measured."""
    rng = np.random.default_rng(1)
    expected = np.full((count, count), 2000.0)
    robots = tuple(f"cf{i + 1}" for i in range(count))
    stages = (
        DemoStage("train", 744.0, "swap_4, 60 M agent-steps"),
        DemoStage("export", 6.1),
        DemoStage("verify", 3.4, "golden values equal"),
        DemoStage("flash", 2.2, "4 of 4 robots"),
        DemoStage("fly in ROS 2", 61.0, "5 flights"),
        DemoStage("report", 4.0),
    )
    return DemoReport(
        subtitle="swap_4: four Crazyflies change sides",
        stages=stages,
        outcomes=(
            TeamMeasurements("fast", 1000, 987, 4, 0.141),
            TeamMeasurements("mujoco", 200, 193, 0, 0.207, 41.0, 96.0),
            TeamMeasurements("ROS 2", flights, flights, 0, 0.214, 412.0, 1460.0),
        ),
        hover=HOVER,
        run_dir=run_dir,
        flights=tuple(
            RecordedFlight(f"flight {i + 1}", make_flight(count, seed=i), {"overruns": i % 2}) for i in range(flights)
        ),
        robots=robots,
        tolerance_m=0.15,
        ticks_us={name: rng.lognormal(6 + 0.1 * i, 0.35, 2000) for i, name in enumerate(robots)},
        period_us=20_000.0,
        expected=expected,
        received=expected - rng.poisson(40, expected.shape),
        facts={"bundle": "sha256 4f1c09", "commit": "bb1e878", "machine": {"cores": 2, "cpu": "x86-64"}},
    )
