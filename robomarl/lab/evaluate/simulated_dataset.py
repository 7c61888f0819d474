"""`write_flights`: a data set of the quality of a field test, from the simulator instead of a recording.

One bundle flies, without exploration noise, behind its filter, with the delays and the lost messages of the scenario.
The rows are those of `robomarl dataset`, of the robots' own estimates.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from robomarl.core.bundle.pilot import Pilot
from robomarl.core.bundle.runtime import Policy
from robomarl.core.config import UserError
from robomarl.core.domain.scenario import needed
from robomarl.core.filter.memory import Reason
from robomarl.core.types import FilterResult
from robomarl.core.view import LocalView
from robomarl.lab.dataset import schema_of, table_of, whole_file
from robomarl.lab.evaluate.episodes import Step, batch_size
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.evaluate.score import TeamScore
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of

PAUSE_S = 2.0
"""Least pause [s] between two flights, by their timestamps."""


class FlightPlan(NamedTuple):
    """Settings of the flights of a data set."""

    bundle: str
    """Bundle, by name or folder."""
    scenario: str = ""
    """Scenario, by name or path; by default the bundle's own."""
    perturb: tuple[str, ...] = ()
    """Perturbations, as in `robomarl eval`."""
    episodes: int = 150
    seed: int = 0
    sim: str = "mujoco"


def write_flights(plan: FlightPlan, file: Path, progress: Callable[[float], None] = lambda share: None) -> int:
    """Fly and write the data set; return the number of rows.

    Args:
        plan: settings of the flights.
        file: file to write; replaced when the data set is complete.
        progress: called with the fraction that is done.

    Raises:
        UserError: no bundle of that name, a scenario that it does not fit, or one without episodes of
            one policy.
    """
    policy, scenario = resolve_policy(plan.bundle, plan.scenario or None)
    if not isinstance(policy, Policy):
        raise UserError(f"--fly {plan.bundle}: is no bundle; export the run first: robomarl export.")
    scenario, contract, rows = perturbed(scenario, plan.perturb), policy.contract, 0
    robots = [f"robot_{i}" for i in range(scenario.count)]
    about = {
        "bundle": contract.name, "bundle_id": policy.bundle.id, "vehicle": contract.vehicle.name, "fleet": "",
        "scenario": scenario.name, "robots": robots, "rate_hz": contract.rate_hz, "actions_each": contract.actions_each,
        "simulated": {**plan._asdict(), "perturb": list(plan.perturb)},
    }  # fmt: skip
    schema = schema_of(contract.observation.elements, contract.action.fields, about)
    with whole_file(file) as part, pq.ParquetWriter(part, schema, compression="zstd") as writer:
        for columns in fly(policy, scenario, plan, progress):
            writer.write_table(table_of(columns, schema))
            rows += len(columns["tick"])
    return rows


Columns = dict[str, np.ndarray]
"""Columns of the file by name."""


def fly(policy: Policy, scenario: Scenario, plan: FlightPlan, progress: Callable[[float], None]) -> Iterator[Columns]:
    """Yield the columns of one batch of flights after another, sorted by flight, then robot, then time."""
    make_score = needed(simulation_of(scenario).evaluation.score, scenario, "episodes of one policy, only matches")
    size, flown = batch_size(plan.episodes), 0
    sim = simulation_of(scenario).batch(scenario, plan.sim, size, plan.seed)
    pilot, counts = make_pilot(policy, scenario, "full"), make_score(scenario, 0.0)
    while flown < plan.episodes:

        def told(share: float, done: int = flown) -> None:
            progress(min(1.0, (done + share * size) / plan.episodes))

        rows, flying = _batch(sim, pilot, counts, told)
        number = flown + np.arange(size)
        yield _columns(rows, flying & (number < plan.episodes), number, scenario)
        flown += size


def _batch(
    sim: BatchSim, pilot: Pilot, score: TeamScore, progress: Callable[[float], None]
) -> tuple[Columns, np.ndarray]:
    """Return the columns [T, E, N, ...] of a batch, and [T, E] True while a flight is on, including the row after
    its end.
    """
    sim.reset()
    views, counts = sim.views(), score.start(sim.num_envs)
    carry, rows, on = pilot.init(views), [], []
    was = np.ones(sim.num_envs, bool)
    for step in range(sim.scenario.max_steps):
        views, before, running = sim.views(), sim.world, np.asarray(score.running(counts))
        on.append(running | was)
        was = running
        memory, seen = pilot.policy.observation.observe(carry.memory, views)
        carry, result = pilot.step(carry, views)
        rows.append(_row(views, np.asarray(seen), result))
        contact = getattr(sim, "contact", np.zeros(sim.num_envs, bool))
        counts = score.count(counts, Step(before, sim.step(result.command, pilot.plan(carry)), result, contact))
        progress((step + 1) / sim.scenario.max_steps)
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}, np.stack(on)


def _row(views: LocalView, seen: np.ndarray, result: FilterResult) -> dict[str, np.ndarray]:
    own = views.own
    return {
        "observation": seen, "nominal": np.asarray(result.nominal), "command": np.asarray(result.command),
        "filtered": np.asarray(result.active), "reason": np.asarray(result.reason), "pos_m": np.asarray(own.pos_m),
        "quat_wxyz": np.asarray(own.quat_wxyz), "vel_m_s": np.asarray(own.vel_m_s),
        "omega_rad_s": np.asarray(own.omega_rad_s), "goal_m": np.asarray(views.goal.pos_m),
    }  # fmt: skip


def _columns(rows: Columns, on: np.ndarray, number: np.ndarray, scenario: Scenario) -> Columns:
    """Return the rows of [T, E, N, ...] for which `on` [T, E] is True, as columns [S, ...]."""
    steps, size, robots = rows["filtered"].shape
    order = (1, 2, 0)
    chosen = np.broadcast_to(on[..., None], (steps, size, robots)).transpose(order).reshape(-1)
    tick, flight, index = (
        np.broadcast_to(a, (steps, size, robots)).transpose(order).reshape(-1)[chosen]
        for a in (np.arange(steps)[:, None, None], number[:, None], np.arange(robots))
    )

    def flat(values: np.ndarray) -> np.ndarray:
        moved = np.moveaxis(values, 0, 2)
        return moved.reshape(-1, *values.shape[3:])[chosen]

    whole = math.ceil(scenario.max_steps * scenario.period_s + PAUSE_S)
    told = {name: flat(values) for name, values in rows.items()}
    return told | {
        "recording": 0 * tick, "robot": np.char.add("robot_", index.astype(str)), "index": index, "flight": flight,
        "tick": tick, "follows": tick > 0, "time_s": tick * scenario.period_s,
        "stamp_s": flight * float(whole) + tick * scenario.period_s, "state": np.full(len(tick), "ACTIVE"),
        "reason": np.array([reason.name for reason in Reason])[told["reason"]], "whole": np.ones(len(tick), bool),
    }  # fmt: skip
