"""How the engines of a `Model` are compared: see `robomarl.lab.sim.check`."""

import numpy as np

from robomarl.lab.probe import CheckTrial, Probe
from robomarl.lab.sim.check import drift, held
from robomarl.lab.sim.model.engines import engines
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.vehicle_keys import felt
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.scenario import Scenario

HOLD_S = 0.3
"""Time [s] for which commands are held."""


def probe_of(model: Model) -> Probe:
    """Places and attitudes, under commands anywhere within the limits."""

    def begin(
        scenario: Scenario, world: TeamWorld, random: np.random.Generator, seconds: float
    ) -> tuple[TeamWorld, np.ndarray]:
        fields = model.action(scenario).fields
        steps, hold = (max(1, round(s * scenario.rates.policy_hz)) for s in (seconds, HOLD_S))
        ends = [field.low for field in fields], [field.high for field in fields]
        return world, held(random, ends, (steps, *world.closest_m.shape), hold)

    limits = {"position_diff_m": 0.02, "attitude_diff_rad": 0.035}
    return Probe(
        (CheckTrial(begin),),
        drift,
        limits,
        seen=seen,
        engines=engines(model),
        compared="places and attitudes, under the same commands anywhere within their limits",
        felt=felt,
        not_modelled=model.not_modelled,
    )


def seen(world: TeamWorld) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions [E, N, 3] and attitudes [E, N, 4] of the robots."""
    return world.pos_m, world.quat_wxyz.astype(float)
