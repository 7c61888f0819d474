"""Requirements on fleets that fly. No ROS here, and no simulation."""

from robomarl.core.domain.onboard import Content
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import load_vehicle


def check_fleet(fleet: Fleet, content: Content) -> None:
    """Load the fleet's vehicle; raise `UserError` if the vehicle does not fly."""
    load_vehicle(fleet.vehicle)
