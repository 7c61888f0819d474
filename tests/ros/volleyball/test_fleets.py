"""Fleets of volleyball: those that ship, and those that are refused with the numbers."""

from dataclasses import replace

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.fleet_plan import domain_of_fleet


@pytest.mark.parametrize(
    ("name", "is_game"), [("volley_bump_pass", False), ("volley_3v3", True), ("volley_back_and_forth", False)]
)
def test_fleets_that_ship_fit_their_scenarios(name: str, is_game: bool):
    assert domain_of_fleet(load_fleet(name)).is_game == is_game


def test_a_match_needs_two_teams_of_its_size():
    fleet = load_fleet("volley_3v3")
    fewer = replace(fleet, robots=fleet.robots[:4])
    with pytest.raises(UserError, match="has 4 robots and teams: 2, .* is for 2 teams of 3; .*name 6 robots"):
        domain_of_fleet(fewer)


def test_vehicles_that_do_not_fly_are_refused():
    with pytest.raises(UserError, match="vehicle = 'ssl_omni' does not fly"):
        domain_of_fleet(replace(load_fleet("volley_bump_pass"), vehicle="ssl_omni"))
