"""Requirements on fleets of drones that play volleyball. No ROS here, and no simulation."""

from robomarl.core.config import UserError
from robomarl.core.config.parsed import number_in
from robomarl.core.domain.onboard import Content
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import Quadrotor, load_any_vehicle


def check_fleet(fleet: Fleet, content: Content) -> None:
    """Raise `UserError` if the fleet's vehicle does not fly."""
    if not isinstance(load_any_vehicle(fleet.vehicle), Quadrotor):
        raise UserError(f"{fleet.name}.yaml: vehicle = {fleet.vehicle!r} does not fly; name a quadrotor.")


def check_match_fleet(fleet: Fleet, content: Content) -> None:
    """Raise `UserError` if the fleet's vehicle does not fly, or it is not two teams of the scenario's size."""
    check_fleet(fleet, content)
    size = int(number_in(content, "count"))
    if (fleet.teams, fleet.team_size) != (2, size):
        raise UserError(
            f"{fleet.name}.yaml: has {len(fleet.robots)} robots and teams: {fleet.teams}, its scenario "
            f"{fleet.scenario} is for 2 teams of {size}; write teams: 2 and name {2 * size} robots."
        )
