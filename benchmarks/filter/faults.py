"""Campaign: faults put into what the filter reads; always the named fallback at once, on every backend."""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from benchmarks import Row
from benchmarks.filter import fault_backends

COUNT = 1_000_000
CHUNK = 2500
MATES = 3
VEHICLE, PERIOD_S, SIDE_M = "crazyflie_21", 0.02, 3.0


class Case(NamedTuple):
    """What the filter is given, by name, [P, ...] each, and which fallback has to follow."""

    arrays: dict[str, np.ndarray]
    reason: int


def draw(fault: str, random: np.random.Generator, num: int) -> Case:
    """Robots in the middle of a flight, with one fault each in a random place.

    Args:
        fault: of `FAULTS`.
        random: where it is drawn from.
        num: P.
    """
    shapes = {"pos": (3,), "vel": (3,), "age": (), "mate_pos": (MATES, 3), "mate_vel": (MATES, 3), "nominal": (4,)}
    arrays = {name: random.normal(size=(num, *shape)) for name, shape in shapes.items()}
    arrays["mate_age"] = random.uniform(0, 0.1, (num, MATES))
    arrays["age"] = random.uniform(0, 0.02, num)
    arrays["mask"] = np.ones((num, MATES), bool)
    # Far enough from each other that nobody is heard twice by chance.
    arrays["mate_pos"] += 4.0 * np.arange(1, MATES + 1)[:, None]
    return Case(arrays, FAULTS[fault](arrays, random))


def _broken(value: float) -> Callable[[dict[str, np.ndarray], np.random.Generator], int]:
    """One number of each robot becomes this."""
    names = ("pos", "vel", "age", "mate_pos", "mate_vel", "mate_age", "nominal")

    def spoil(arrays: dict[str, np.ndarray], random: np.random.Generator) -> int:
        which = random.integers(len(names), size=len(arrays["pos"]))
        for i, name in enumerate(names):
            rows = np.flatnonzero(which == i)
            flat = arrays[name].reshape(len(which), -1)
            flat[rows, random.integers(flat.shape[1], size=len(rows))] = value
        return _reasons().NON_FINITE

    return spoil


def _aged(sign: float) -> Callable[[dict[str, np.ndarray], np.random.Generator], int]:
    """One stamp of each robot is too old, or lies in the future."""

    def spoil(arrays: dict[str, np.ndarray], random: np.random.Generator) -> int:
        num = len(arrays["age"])
        own = random.random(num) < 0.3
        arrays["age"][own] = sign * random.uniform(0.5, 100, own.sum())
        mates = np.flatnonzero(~own)
        arrays["mate_age"][mates, random.integers(MATES, size=len(mates))] = sign * random.uniform(0.6, 100, len(mates))
        return _reasons().STALE

    return spoil


def _pinned(arrays: dict[str, np.ndarray], random: np.random.Generator) -> int:
    """Two mates come from both sides and are too near: no command holds both rows."""
    num = len(arrays["pos"])
    angle, distance = random.uniform(0, 2 * np.pi, num), random.uniform(0.1, 0.3, num)
    side = np.stack([np.cos(angle), np.sin(angle), np.zeros(num)], -1)
    arrays["pos"], arrays["vel"] = random.uniform(-1, 1, (num, 3)) + [0, 0, 1.5], np.zeros((num, 3))
    for mate, sign in ((0, 1.0), (1, -1.0)):
        arrays["mate_pos"][:, mate] = arrays["pos"] + sign * distance[:, None] * side
        # So slow that none of them is past the robot before the decision takes effect.
        arrays["mate_vel"][:, mate] = -sign * random.uniform(0.0, 0.3, (num, 1)) * side
    return _reasons().INFEASIBLE


def _cornered(arrays: dict[str, np.ndarray], random: np.random.Generator) -> int:
    """A command far outside a corner of the input box: a solver that may not go on after its first row gives up."""
    num = len(arrays["pos"])
    arrays["pos"], arrays["vel"] = random.uniform(-1, 1, (num, 3)) + [0, 0, 1.5], np.zeros((num, 3))
    arrays["nominal"][:, :2] = random.choice([-1.0, 1.0], (num, 2)) * random.uniform(5, 50, (num, 2))
    # Mates are far: a row of one may be the only one that is in the way, which needs no solver.
    away = random.normal(size=arrays["mate_pos"].shape)
    arrays["mate_pos"] = arrays["pos"][:, None] + 30.0 * away / np.linalg.norm(away, axis=-1, keepdims=True)
    arrays["mate_vel"], arrays["mate_age"] = np.zeros_like(arrays["mate_vel"]), np.full_like(arrays["mate_age"], 0.02)
    return _reasons().SOLVER


def _missing(arrays: dict[str, np.ndarray], random: np.random.Generator) -> int:
    num = len(arrays["mask"])
    arrays["mask"][np.arange(num), random.integers(MATES, size=num)] = False
    return _reasons().MISSING


def _twice(arrays: dict[str, np.ndarray], random: np.random.Generator) -> int:
    """One mate's message stands in the place of another's, now and then a later one of it."""
    num = len(arrays["mask"])
    robots, one = np.arange(num), random.integers(MATES, size=num)
    other = (one + random.integers(1, MATES, size=num)) % MATES
    later = np.where(random.random(num) < 0.5, random.uniform(0, 0.04, num), 0.0)
    vel, age = arrays["mate_vel"][robots, one], arrays["mate_age"][robots, one] + later
    arrays["mate_pos"][robots, other] = arrays["mate_pos"][robots, one] - vel * later[:, None]
    arrays["mate_vel"][robots, other], arrays["mate_age"][robots, other] = vel, age
    return _reasons().MISSING


FAULTS: dict[str, Callable[[dict[str, np.ndarray], np.random.Generator], int]] = {
    "NaN": _broken(np.nan),
    "infinity": _broken(np.inf),
    "minus infinity": _broken(-np.inf),
    "stale": _aged(1.0),
    "future": _aged(-1.0),
    "missing": _missing,
    "heard twice": _twice,
    "infeasible": _pinned,
    "solver gives up": _cornered,
}
LIMITED = ("numpy", "JAX")
"""Backends whose solver can be given an iteration limit from outside."""
EVERY = {"ONNX": 8}
"""Backends that get every so manieth chunk only: it has many small operators."""


def _reasons() -> Any:
    from robomarl.core.filter.filter import Reason

    return Reason


def rows() -> list[Row]:
    """The whole campaign, on every backend that can run here."""
    return campaign(COUNT, fault_backends.names())


def campaign(count: int, backends: list[str], seed: int = 0) -> list[Row]:
    """At least so many faults in all; of each kind and backend, how many were tried and how many not answered."""
    from tqdm import tqdm

    random, done, turn = np.random.default_rng(seed), 0, 0
    tried, wrong = Counter(), Counter()
    size = min(CHUNK, -(-count // len(FAULTS)))
    filters = {backend: fault_backends.make(backend) for backend in backends}
    with fault_backends.given_up():
        hasty = {backend: fault_backends.make(backend) for backend in backends if backend in LIMITED}
    with tqdm(total=count, desc="faults", unit="case", disable=None) as bar:
        while done < count:
            for fault in FAULTS:
                case, gives_up = draw(fault, random, size), fault == "solver gives up"
                for backend, safety in (hasty if gives_up else filters).items():
                    if turn % EVERY.get(backend, 1):
                        continue
                    with fault_backends.given_up() if gives_up else nullcontext():
                        wrong[fault, backend] += int((~answered(safety, case)).sum())
                    tried[fault, backend] += size
                done += size
                bar.update(size)
            turn += 1
    return [
        Row(f"faults, {fault}, {b}", f"not answered, of {n}", wrong[fault, b], "") for (fault, b), n in tried.items()
    ]


def make_filter(backend: str) -> Any:
    """The filter of a robot of a team of four."""
    from robomarl.core.filter.filter import Arena, SafetyFilter, from_vehicle
    from robomarl.core.hardware.vehicle import load_vehicle

    arena = Arena((-SIDE_M, -SIDE_M, 0.1), (SIDE_M, SIDE_M, SIDE_M))
    params = from_vehicle(load_vehicle(VEHICLE), PERIOD_S, arena, MATES)
    return SafetyFilter(params, backend=backend)  # type: ignore[arg-type]


def answered(safety: Any, case: Case) -> np.ndarray:
    """[P] whether the named fallback came at once, with a command that is finite and within the limits."""
    a, num = case.arrays, len(case.arrays["pos"])
    _, result = safety(safety.init((num,)), view_of(a), a["nominal"])
    accel, limits = np.asarray(result.command)[:, :3], safety.params.limits
    # In the backend's own precision: 2.9 is a little more in single.
    low, high = (np.array(limit, accel.dtype) for limit in (limits.accel_min_m_s2, limits.accel_max_m_s2))
    inside = (accel >= low) & (accel <= high)
    named = (np.asarray(result.reason) == case.reason) & ~np.asarray(result.solved)
    return named & np.isfinite(result.command).all(-1) & inside.all(-1) & (result.command[:, 3] == 0)


def view_of(arrays: dict[str, np.ndarray]) -> Any:
    """The view [P] that holds these arrays."""
    from robomarl.core.view import Plan, blank_view

    view = blank_view(MATES, batch=(len(arrays["pos"]),))
    plan = Plan(arrays["mate_pos"], arrays["mate_vel"], arrays["mate_pos"])
    heard = view.heard._replace(
        mask=arrays["mask"],
        pos_m=arrays["mate_pos"],
        vel_m_s=arrays["mate_vel"],
        age_s=arrays["mate_age"],
        plan=plan,
    )
    own = view.own._replace(pos_m=arrays["pos"], vel_m_s=arrays["vel"], age_s=arrays["age"])
    return view._replace(own=own, heard=heard)
