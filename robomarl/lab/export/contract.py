"""The contract of a run."""

from typing import Literal

from robomarl.core.bundle.contract import (
    SCHEMA_VERSION,
    Carry,
    Contract,
    Element,
    Observation,
    Seen,
    conditions,
    describe,
)
from robomarl.core.domain.registry import onboard_of
from robomarl.core.hardware.sections import InnerLoop
from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.core.spec import ActionSpec
from robomarl.lab.export.facts import Facts
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of

GAP_PERIODS = 5
"""Decisions that may fail to come before every memory starts again."""


def contract_of(facts: Facts, name: str, seen: tuple[Seen, ...] = ()) -> Contract:
    """Return the contract of a run, still without its files.

    Args:
        facts: of the run.
        name: name of the bundle.
        seen: statistics of the recorded actions; see `robomarl.lab.export.record.actions_seen`.
    """
    carries, observation = _carries(facts), _observation(facts)
    origin = facts.origin
    scenario, decision_hz = facts.run.scenario, getattr(facts.run, "decision_hz", None)
    return Contract(
        schema_version=SCHEMA_VERSION,
        name=name,
        observation=observation,
        action=ActionSpec(facts.envs[0].commanded.fields),
        rate_hz=scenario.rates.policy_hz,
        decision_hz=decision_hz or scenario.rates.policy_hz,
        team_size=facts.team_size,
        carries=carries,
        scenario=origin.scenario,
        vehicle=origin.vehicle,
        safety=facts.safety,
        training=origin.training,
        files={},
        roles=simulation_of(scenario).roles(scenario, facts.team_size[1]),
        actions_seen=seen,
        experts=origin.experts,
        inner_loop=inner_loop_of(scenario, onboard_of(origin.scenario.content).inner_loop),
        **conditions(origin.scenario.content),
    )


def inner_loop_of(scenario: Scenario, kind: Literal["", "attitude", "torque_inversion"]) -> InnerLoop | None:
    """Return the control of this kind under a scenario's quadrotors, over its randomized ranges; None for others."""
    vehicle = scenario.vehicle_config
    if not kind or not isinstance(vehicle, Quadrotor):
        return None
    gains, ranges = (vehicle.control.tilt_per_s * vehicle.control.rate_per_s), scenario.randomize
    if kind == "torque_inversion" and vehicle.carrier:
        gains = vehicle.carrier.tilt_per_s2
    least, most = getattr(ranges, "rotor_tau_scale", (1.0, 1.0))
    lag_s = vehicle.rotors.time_constant_s
    return InnerLoop(kind, (gains**0.5, gains**0.5), (least * lag_s, most * lag_s), getattr(ranges, "delay_s", None))


def _observation(facts: Facts) -> Observation:
    spec, stats, safety = facts.observations[0], facts.run.observation_stats, facts.safety
    own_age_s = safety.safety.delay_s + safety.period_s
    elements = []
    for i, (name, unit, frame, feature) in enumerate(describe(spec)):
        age = spec.neighbours.max_age_s if feature.per_neighbour else own_age_s
        ages = any(path.startswith(("own.", "heard.", "sensed.")) for path in feature.reads)
        low, high, mean, std = (float(a[i]) for a in (stats.low, stats.high, stats.mean, stats.std))
        elements.append(Element(name, unit, frame, low, high, mean, std, age if ages else None))
    return Observation(spec, tuple(elements), tuple(sorted(spec.reads)))


def _carries(facts: Facts) -> tuple[Carry, ...]:
    gap_s = GAP_PERIODS * facts.safety.period_s
    shapes = [("observation", name, shape) for name, shape in facts.observations[0].memory_shapes]
    shapes += [("policy", *row) for row in facts.memory.items()]
    shapes.append(("safety", "commands", (facts.safety.queue_length, 4)))
    return tuple(Carry(owner, name, tuple(map(int, shape)), max_gap_s=gap_s) for owner, name, shape in shapes)  # type: ignore[arg-type]
