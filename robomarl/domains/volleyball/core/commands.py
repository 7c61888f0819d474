"""The published commands of drones that play volleyball, which no safety filter takes. No ROS here."""

from typing import NoReturn

from robomarl.core.config import UserError

RATES = ("thrust", "rate.x", "rate.y", "rate.z")
"""Collective thrust over mass [m/s^2] and body rates [rad/s]."""
ROTORS = ("rotor0", "rotor1", "rotor2", "rotor3")
"""Thrust of each rotor [N], in the order of the vehicle file."""


def no_filter(params: object, mode: str = "qp") -> NoReturn:
    """Raise `UserError`: the filter's rows are on an acceleration, which these commands do not have."""
    raise UserError(
        "the safety filter takes accelerations, and this scenario's command is of thrusts; "
        'say --filter off where a command has it; to export and to fly, leave the key "command" of the scenario out.'
    )
