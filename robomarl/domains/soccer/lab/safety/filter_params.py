"""What the safety filter of a player is to assume."""

import dataclasses

from robomarl.core.filter.model.bodies import Strangers
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.domains.soccer.core.opponent_memory import boards_of
from robomarl.domains.soccer.lab.scenario import SoccerScenario

NEAR_M = 0.4
"""Opponents are kept clear of with the errors that a sighting has at this distance. Farther off they are larger, by
less than a tenth of the distance: a robot that comes nearer sees in time what it saw wrongly."""
MAX_AGE_S = 0.3
"""An opponent that was seen so long ago may have got so far that its row says little."""
REMEMBER_S = 2.5
"""One that went out of sight is likely to be on its way to the ball for about so long (docs/log/soccer_training.md)."""
CLEAR_SHARE = 0.8
"""Share of the field of view where nobody stands who is not seen: at its edge errors may hide one."""
GAIN_PER_S = 8.0
"""How late a player brakes before an opponent: with the vehicle's own gain, made for travel, it hardly gets at a ball
that others are near, and runs into no fewer of them (docs/log/benchmarks_history.md)."""


def player_params(scenario: SoccerScenario, mates: int) -> SafetyParams:
    """Parameters of a soccer robot's filter: opponents are strangers, as fast as we are, and run no filter.

    A robot is at rest before an opponent can be there: whoever runs into it then has caused it. The boards are no
    arena, a robot may touch them; but they stop it.
    """
    robot, eyes, pose = scenario.robot, scenario.eyes, scenario.pose
    turn = eyes.bearing_noise_rad + pose.heading_noise_rad
    strangers = Strangers(
        separation_m=2 * robot.body.radius_m,  # robots may touch: that is no impact
        accel_m_s2=max(robot.limits.accel_max_m_s2) * scenario.randomize.accel_scale[1],
        speed_m_s=robot.limits.speed_m_s,
        position_error_m=NEAR_M * (eyes.range_noise + turn),
        velocity_error_m_s=eyes.velocity_noise_m_s,
        max_age_s=MAX_AGE_S,
        gain_per_s=GAIN_PER_S,
        remember_s=REMEMBER_S,
        clear_rad=CLEAR_SHARE * eyes.fov_rad / 2,
    )
    boards_m = boards_of((scenario.field.length_m, scenario.field.width_m), robot.body.radius_m)
    params = from_vehicle(robot, scenario.period_s, None, mates)
    return dataclasses.replace(params, strangers=strangers, boards_m=boards_m)
