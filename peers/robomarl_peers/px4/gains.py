"""`Px4Gains`: parameters of PX4's multicopter controllers, by their function. SI; throttles and
torques from -1 to 1.

Numbers are those of PX4's airframe 4901_crazyflie21, and PX4's defaults (parameter reference)
where the airframe sets none. They are not ours: a simulated vehicle behind an adapter has to fly
the controller of the real one.
"""

from dataclasses import dataclass

import numpy as np

from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.core.types import GRAVITY_M_S2


@dataclass(frozen=True)
class Px4Gains:
    """Gains and limits of one type of vehicle."""

    hover: float
    """MPC_THR_HOVER: throttle of a hover."""
    rotor_n: float
    """Thrust of one rotor at full throttle; linear (THR_MDL_FAC = 0)."""
    layout: np.ndarray
    """[3, 4] throttle that each rotor adds for a roll, a pitch and a yaw torque of 1, FRD."""
    pos: tuple[float, float, float] = (0.95, 0.95, 1.5)
    """MPC_XY_P, MPC_Z_P."""
    vel_p: tuple[float, float, float] = (1.8, 1.8, 8.0)
    """MPC_XY_VEL_P_ACC, MPC_Z_VEL_P_ACC."""
    vel_i: tuple[float, float, float] = (0.4, 0.4, 6.0)
    vel_d: tuple[float, float, float] = (0.2, 0.2, 0.0)
    vel_d_hz: float = 5.0
    """MPC_VELD_LP."""
    speed: tuple[float, float, float] = (12.0, 3.0, 1.5)
    """MPC_XY_VEL_MAX, MPC_Z_VEL_MAX_UP, MPC_Z_VEL_MAX_DN [m/s]."""
    tilt_rad: float = 0.785
    """MPC_TILTMAX_AIR."""
    throttle: tuple[float, float] = (0.12, 1.0)
    """MPC_THR_MIN, MPC_THR_MAX."""
    attitude: tuple[float, float, float] = (6.5, 6.5, 3.0)
    """MC_ROLL_P, MC_PITCH_P, MC_YAW_P."""
    yaw_weight: float = 0.4
    """MC_YAW_WEIGHT."""
    rate_max_rad_s: tuple[float, float, float] = (3.84, 3.84, 3.49)
    """MC_ROLLRATE_MAX, MC_PITCHRATE_MAX, MC_YAWRATE_MAX."""
    rate_p: tuple[float, float, float] = (0.07, 0.07, 0.2)
    """MC_ROLLRATE_P, MC_PITCHRATE_P, MC_YAWRATE_P."""
    rate_i: tuple[float, float, float] = (0.2, 0.2, 0.1)
    rate_d: tuple[float, float, float] = (0.002, 0.002, 0.0)
    rate_i_max: float = 0.3
    """MC_RR_INT_LIM."""
    rate_d_hz: float = 70.0
    """IMU_DGYRO_CUTOFF."""


def gains_of(vehicle: Quadrotor) -> Px4Gains:
    """Return the gains of a vehicle file: from its mass, its rotors, and their positions."""
    rotors, body = vehicle.rotors, vehicle.body
    places = np.array(rotors.positions_m)
    forward, right = places[:, 0], -places[:, 1]  # FLU to FRD
    roll, pitch = -np.sign(right) * np.sqrt(0.5), np.sign(forward) * np.sqrt(0.5)
    yaw = -np.array(rotors.spin, float)
    hover = body.mass_kg * GRAVITY_M_S2 / (4 * rotors.max_thrust_n)
    return Px4Gains(hover, rotors.max_thrust_n, np.stack([roll, pitch, yaw]))
