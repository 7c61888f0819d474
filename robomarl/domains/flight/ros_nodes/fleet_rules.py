"""What fleets that fly have to be. No ROS here, and no simulation."""

from robomarl.domains.onboard import Content
from robomarl.hardware_configs.fleet import Fleet
from robomarl.hardware_configs.vehicle import load_vehicle


def check_fleet(fleet: Fleet, content: Content) -> None:
    """Whether the fleet's vehicle flies; raises `UserError` where it does not."""
    load_vehicle(fleet.vehicle)
