"""Assumptions of a player's safety filter."""

import dataclasses

from robomarl.core.filter.model.bodies import Strangers
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.domains.soccer.core.opponent_memory import boards_of
from robomarl.domains.soccer.lab.scenario import SoccerScenario

NEAR_M = 0.4
"""Distance [m] for which a sighting's errors are added to the separation from opponents. Farther off errors are
larger, by less than a tenth of the distance: a robot that comes nearer sees its error in time.
"""
MAX_AGE_S = 0.3
"""Age [s] of a sighting from which an opponent may have got so far that its constraint says little."""
REMEMBER_S = 2.5
"""Time [s] for which an opponent out of sight is likely to be on its way to the ball (docs/log/soccer_training.md)."""
CLEAR_SHARE = 0.8
"""Fraction of the field of view in which every opponent would be seen: at the edge errors may hide one."""
GAIN_PER_S = 8.0
"""Gain [1/s] of braking before an opponent: with the vehicle's own gain, made for travel, a player hardly gets at a
ball that opponents are near, and runs into no fewer opponents (docs/log/benchmarks_history.md).
"""


def player_params(scenario: SoccerScenario, mates: int) -> SafetyParams:
    """Return the parameters of a soccer robot's filter: opponents are strangers, as fast as we are, and
    run no filter.

    A robot is at rest before an opponent can be there, so an opponent that runs into it then has
    caused the impact. The boards are no arena, a robot may touch them; but they stop it.
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
