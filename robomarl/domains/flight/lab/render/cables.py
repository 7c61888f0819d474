"""Look of cables in films: each with its length in the episode, in the colour of its tension."""

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.lab.scenario import FlightScenario

COLORS = np.array([(0.35, 0.60, 1.00), (0.20, 0.62, 0.28), (0.98, 0.72, 0.10), (0.90, 0.12, 0.10)])
"""Colours of a cable that is slack, at half of the working tension, at the working tension, at twice this tension
and above: linear in between.
"""
AT = (0.0, 0.5, 1.0, 2.0)
SLACK_N = 1e-3


def working_n(scenario: FlightScenario) -> float:
    """Tension of each cable when all carry alike."""
    load, _ = scenario.carried
    return load.mass_kg * GRAVITY_M_S2 / scenario.count


def cable_rgb(log: FlightLog, scenario: FlightScenario, step: int) -> np.ndarray:
    """[N, 3] colour of each cable."""
    share = log.tension_n[step] / working_n(scenario)
    return np.stack([np.interp(share, AT, channel) for channel in COLORS.T], -1)


def drawn_m(log: FlightLog, step: int) -> np.ndarray:
    """[N] length that each cable is drawn with: a straight line while it pulls, however little it is stretched; its
    own length while it is slack; 0 where it is cut, which is not drawn."""
    length = np.where(np.isfinite(log.cable_m[step]), log.cable_m[step], 0.0)
    return np.where(log.tension_n[step] > SLACK_N, np.minimum(length, 1e-3), length)


def has_cables(log: FlightLog) -> bool:
    """Return True if the log has the cables' lengths and attachment points."""
    return log.tied_m.size > 0
