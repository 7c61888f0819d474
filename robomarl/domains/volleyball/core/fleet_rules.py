"""Requirements on fleets of drones that play volleyball. No ROS here, and no simulation."""

from robomarl.core.config import UserError
from robomarl.core.domain.onboard import Content
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import Quadrotor, load_any_vehicle


def check_fleet(fleet: Fleet, content: Content) -> None:
    """Raise `UserError` if the fleet's vehicle does not fly."""
    if not isinstance(load_any_vehicle(fleet.vehicle), Quadrotor):
        raise UserError(f"{fleet.name}.yaml: vehicle = {fleet.vehicle!r} does not fly; name a quadrotor.")
