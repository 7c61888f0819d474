"""Columns of the load in a flight's log, from the true world: for evaluation and for the judge behind ROS."""

import numpy as np

from robomarl.core.vectors import to_world
from robomarl.domains.flight.lab.payload.state import Load, attitude, origin, spread
from robomarl.domains.flight.lab.world import FlightWorld


def load_columns(world: FlightWorld, period_s: float) -> dict[str, np.ndarray]:
    """[E, ...] each, by the names of `FlightLog`; nothing where nothing is carried."""
    load = world.load
    if not isinstance(load, Load):
        return {}
    rigid, cargo = load.rigid, load.cargo
    pos, place = np.stack(rigid.pos, -1), origin(rigid, cargo.com_m)
    cut = (np.asarray(world.step) * period_s)[:, None] >= cargo.cut_s
    arm = to_world(spread(rigid.quat), cargo.point_m)
    return {
        "load_pose": np.concatenate([pos, attitude(rigid)], -1),
        "load_place_m": place,
        "load_goal": np.concatenate([world.goal_m[:, 0], load.goal_quat[:, 0]], -1),
        "tension_n": load.tension_n,
        "tied_m": place[:, None] + np.stack(arm, -1),
        "cable_m": np.where(cut, np.inf, cargo.length_m),
    }


def one_of(columns: dict[str, np.ndarray], env: int) -> dict[str, np.ndarray]:
    """Return the columns of the team `env`, copied."""
    return {name: np.array(value[env]) for name, value in columns.items()}


def stacked(rows: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Row after row, [T, ...] each."""
    return {name: np.stack([row[name] for row in rows]) for name in (rows[0] if rows else ())}
