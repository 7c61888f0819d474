"""What fleets that fly have to be. No ROS here, and no simulation."""

from robomarl.core.domain.onboard import Content
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import load_vehicle


def check_fleet(fleet: Fleet, content: Content) -> None:
    """Whether the fleet's vehicle flies; raises `UserError` where it does not."""
    load_vehicle(fleet.vehicle)
