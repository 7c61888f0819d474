"""`GotoPolicy`: straight flight to the goal, blind to all teammates. It shows the effect of a safety filter alone on
a task.
"""

import numpy as np

from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of

POSITION_PER_S = 1.5
"""Wanted speed over distance to the goal."""
VELOCITY_PER_S = 3.0
"""Wanted acceleration over velocity error; from four times `POSITION_PER_S` on it never overshoots."""
INTEGRAL_PER_S3, NEAR_M, MAX_TRIM_M_S2 = 1.0, 0.5, 1.5
"""Integral gain [1/s³], distance to the goal [m] below which it acts, and its largest acceleration [m/s²]; it
removes the error from a wrong mass and steady wind.
"""
CRUISE_SHARE = 0.8
"""Share of the vehicle's speed limit that it cruises at."""


class GotoPolicy:
    """Proportional-integral-derivative flight to the goal within the vehicle's limits.

    It has the interface of a trained policy and reads goal error and velocity only; it leaves the heading.
    """

    def __init__(self, scenario: FlightScenario) -> None:
        """Take the limits of the scenario's vehicle."""
        vehicle: Vehicle = scenario.vehicle_config
        self.name = "baseline"
        self.scenario_name = scenario.name
        self.vehicle_name = vehicle.name
        self.observation = ObservationSpec((ObservationField("goal_error"), ObservationField("velocity")))
        self.action = task_of(scenario).action(scenario)
        self._period_s = scenario.period_s
        self._cruise_m_s = CRUISE_SHARE * vehicle.limits.speed_m_s

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """The slow part of the acceleration, [..., 3]."""
        return (np.zeros((*batch, 3), np.float32),)

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs [..., 6]) -> (carry, action [..., 4]): acceleration [m/s^2] and no yaw rate."""
        error, (trim,) = obs[..., :3], carry
        close = np.linalg.norm(error, axis=-1, keepdims=True) < NEAR_M
        trim = trim + np.where(close, INTEGRAL_PER_S3 * self._period_s * error, 0.0)
        trim = np.clip(trim, -MAX_TRIM_M_S2, MAX_TRIM_M_S2).astype(np.float32)
        wanted = POSITION_PER_S * obs[..., :3]
        speed = np.linalg.norm(wanted, axis=-1, keepdims=True)
        wanted = wanted * np.minimum(1.0, self._cruise_m_s / np.maximum(speed, 1e-6))
        accel = VELOCITY_PER_S * (wanted - obs[..., 3:6]) + trim
        still = np.zeros_like(accel[..., :1])
        action = np.concatenate([accel, still], -1).astype(np.float32)
        return (trim,), np.clip(action, self.action.low, self.action.high)
