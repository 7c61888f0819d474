"""Episodes of a `Model` with a policy behind the safety filter, counted; and the domain's half that all this makes."""

import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robomarl.domains.simulation import Evaluated, Simulation
from robomarl.evaluate.evaluate import EvalConfig, Evaluation, conditions_of
from robomarl.evaluate.intervals import bootstrap, wilson
from robomarl.evaluate.pilots import make_pilot
from robomarl.evaluate.resolve import FlownPolicy
from robomarl.evaluate.rows import episodes_row, table
from robomarl.geometry import norm
from robomarl.safety.params import from_vehicle
from robomarl.sim.model.batch import ModelSim, make_model_sim
from robomarl.sim.model.check import probe_of
from robomarl.sim.model.env import ModelEnv
from robomarl.sim.model.model import Model


def simulation_of_model(model: Model, scenario: type, **more: Any) -> Simulation:
    """The half of a domain that simulates.

    Args:
        model: what the kind of team is.
        scenario: its dataclass, a `TeamScenario`.
        more: what else `Simulation` has, or instead.
    """
    made = {
        "action": model.action,
        "env": lambda chosen, sim, weights, safety, starts: ModelEnv(model, chosen, sim, weights, safety),
        "batch": partial(make_model_sim, model),
        "filter_params": lambda chosen, mates: from_vehicle(chosen.vehicle_config, chosen.period_s, None, mates),
        "probe": lambda chosen: probe_of(model),
        "evaluation": Evaluated(
            row=episodes_row,
            table=table,
            nobody="Name at least one policy: a bundle or a run folder.",
            episodes=partial(evaluate_model, model),
        ),
    }
    return Simulation(scenario=scenario, model=model, **{**made, **more})


class Counts(NamedTuple):
    """Of E episodes, [E] each."""

    running: np.ndarray
    """bool: not over yet."""
    touched: np.ndarray
    """bool: robots touched."""
    failed: np.ndarray
    """bool: ended by that or by what the model calls a failure."""
    arrived_step: np.ndarray
    """Decision at which the team had succeeded; -1 until then."""
    steps: np.ndarray
    reward: np.ndarray
    closest_m: np.ndarray
    active: np.ndarray
    """Decisions of robots that the filter changed."""
    unsolved: np.ndarray
    """Decisions of robots for which it found no command that holds all rows."""
    error_m: np.ndarray
    """Mean distance to the goals at the last decision."""


def evaluate_model(model: Model, policy: FlownPolicy, scenario: Any, config: EvalConfig) -> Evaluation:
    """Run `config.episodes` episodes and count.

    Raises:
        UserError: unknown engine, or the policy does not fit the scenario.
    """
    sim = make_model_sim(model, scenario, config.sim, config.episodes, config.seed)
    pilot = make_pilot(policy, scenario, config.filter)
    sim.reset()
    carry, done, started_s = pilot.init(sim.views()), no_counts(config.episodes), time.perf_counter()
    while done.running.any():
        carry, result = pilot.step(carry, sim.views())
        before = sim.world
        sim.step(result.command, pilot.plan(carry))
        done = count(sim, done, before, result)
    simulated_s = float(done.steps.sum()) * scenario.period_s
    speed = {"realtime_factor": simulated_s / (time.perf_counter() - started_s)}
    success = (done.arrived_step >= 0) & ~done.failed
    values = {**conditions_of(policy, scenario, config), **figures(scenario, done, success), **speed}
    return Evaluation(values, success, None)


def no_counts(episodes: int) -> Counts:
    """Before the first decision."""
    zero = np.zeros(episodes)
    no = zero.astype(bool)
    return Counts(~no, no, no, zero - 1, zero, zero, zero + np.inf, zero, zero, zero)


def count(sim: ModelSim, done: Counts, before: Any, result: Any) -> Counts:
    """Add one decision to the episodes that are still running."""
    model, scenario, world, on = sim.model, sim.scenario, sim.world, done.running
    touched = on & model.touching(scenario, world).any(-1)
    failed, steps = on & model.ended(scenario, world), done.steps + on
    arrived = on & ~failed & model.succeeded(scenario, world) & (done.arrived_step < 0)
    terms, weights = model.terms(scenario, before, world), model.all_weights
    reward = sum(weights[name] * term.mean(-1) * scenario.period_s for name, term in terms.items())
    return Counts(
        running=on & ~failed & (steps < scenario.max_steps),
        touched=done.touched | touched,
        failed=done.failed | failed,
        arrived_step=np.where(arrived, steps, done.arrived_step),
        steps=steps,
        reward=done.reward + np.where(on, reward, 0.0),
        closest_m=np.where(on, np.minimum(done.closest_m, world.closest_m.min(-1)), done.closest_m),
        active=done.active + on * result.active.sum(-1),
        unsolved=done.unsolved + on * (~result.solved).sum(-1),
        error_m=np.where(on, norm(world.pos_m - world.goal_m).mean(-1), done.error_m),
    )


def figures(scenario: Any, done: Counts, success: np.ndarray) -> dict[str, Any]:
    """The JSON fields; what does not apply is null."""
    decisions = max(int(done.steps.sum()) * scenario.count, 1)
    arrival_s = done.arrived_step[success] * scenario.period_s
    return {
        "success_rate": float(success.mean()),
        "success_ci95": wilson(int(success.sum()), len(success)),
        "return_mean": float(done.reward.mean()),
        "return_ci95": bootstrap(done.reward),
        "collisions": int(done.touched.sum()),
        "collision_episodes": int(done.touched.sum()),
        "min_distance_m": float(done.closest_m.min()) if scenario.count > 1 else None,
        "position_error_m": float(done.error_m.mean()),
        "attitude_error_rad": None,
        "arrival_time_s": float(arrival_s.mean()) if success.any() else None,
        "active_share": float(done.active.sum() / decisions),
        "infeasible": int(done.unsolved.sum()),
        "agent_steps": decisions,
    }
