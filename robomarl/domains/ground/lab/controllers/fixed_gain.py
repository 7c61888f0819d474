"""`FixedGain`: the scenario's controller behind a filter with a constant gain, for comparison with a learned gain."""

import numpy as np

from robomarl.core.types import Array
from robomarl.domains.ground.lab.model import action, law
from robomarl.domains.ground.lab.scenario import GroundScenario


class FixedGain:
    """A gain for each robot [1/s], by index; it has the interface of a trained policy.

    Args:
        scenario: one in which policies set gains.
        gains_per_s: [N]; one for all, or None: the vehicle's.
    """

    def __init__(self, scenario: GroundScenario, gains_per_s: Array | None = None) -> None:
        """Take the scenario's vehicle."""
        self.name, self.scenario_name, self.vehicle_name = "baseline", scenario.name, scenario.vehicle_config.name
        own = law(scenario)
        assert own is not None, "policies set gains here"
        self.action, self._law, self.observation = action(scenario), own, own.observation
        most = scenario.vehicle_config.safety.gain_per_s
        self._gains = np.broadcast_to(np.float32(most if gains_per_s is None else gains_per_s), (scenario.count,))

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """No memory."""
        return ()

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(memory, observations [..., N, O]) -> (memory, commands [..., N, 5])."""
        gains = np.broadcast_to(self._gains, obs.shape[:-1])[..., None]
        return carry, np.concatenate([self._law.act(obs), gains], -1).astype(np.float32)
