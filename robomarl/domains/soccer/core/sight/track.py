"""`ThingTrack`: place and velocity of one thing over time, a Kalman filter that starts anew where it is surprised.

Frame: the dead-reckoned frame of the robot's odometry, so that a correction of the own pose moves nothing.
State: x, y [m], vx, vy [m/s]; the acceleration is white noise, constant over a step.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.domains.soccer.core.sight.layout import FloatArray

NEVER_S = -1e9
"""Time of a sighting that has not been."""


class ThingTrack(NamedTuple):
    """Belief about one thing."""

    time_s: float = NEVER_S
    """Time of the state: that of the last picture that shows the thing."""
    since_s: float = NEVER_S
    """Time of the first picture of this track: a thing that one picture alone shows is not told."""
    missed: int = 0
    """Pictures since then that should show the thing and do not."""
    mean: FloatArray = np.zeros(4)
    """[4]"""
    covariance: FloatArray = np.eye(4)
    """[4, 4]"""

    @property
    def known(self) -> bool:
        """True if the thing has been seen and was not given up since."""
        return self.time_s > NEVER_S


@dataclass(frozen=True)
class TrackGains:
    """How a kind of thing moves."""

    accel_m_s2: float
    """Standard deviation of its acceleration: larger follows faster and is noisier."""
    speed_m_s: float
    """Standard deviation of the velocity of a thing that was just found."""
    most_m_s: float
    """Largest speed."""
    refuse: float = 11.0
    """Squared Mahalanobis distance beyond which the track starts anew: 0.4 % of good pictures."""
    slows_m_s2: float = 0.0
    """Deceleration while it is out of sight."""
    floor_m: float = 0.008
    """Least standard deviation of a place in a picture."""
    stale_s: float = 0.15
    """A track that was last seen longer ago than this says nothing about the speed of a thing that is elsewhere."""


def at(gains: TrackGains, track: ThingTrack, time_s: float) -> tuple[FloatArray, FloatArray]:
    """Return mean [4] and covariance [4, 4] at another time; a thing out of sight slows down and then rests."""
    dt = max(time_s - track.time_s, 0.0)
    velocity = track.mean[2:]
    speed = float(np.hypot(*velocity))
    stops_s = speed / gains.slows_m_s2 if gains.slows_m_s2 > 0 else np.inf
    moves_s = min(dt, stops_s)
    after = max(0.0, 1 - dt / stops_s) if stops_s > 0 else 0.0
    place = track.mean[:2] + velocity * (moves_s * (1 + max(0.0, 1 - moves_s / stops_s)) / 2 if stops_s > 0 else 0.0)
    carry = np.eye(4)
    carry[0, 2] = carry[1, 3] = dt
    push = np.array([[dt * dt / 2, 0], [0, dt * dt / 2], [dt, 0], [0, dt]]) * gains.accel_m_s2
    return np.array([*place, *(velocity * after)]), carry @ track.covariance @ carry.T + push @ push.T


def surprise(gains: TrackGains, track: ThingTrack, place: FloatArray, spread: FloatArray, time_s: float) -> float:
    """Return the squared Mahalanobis distance of a place in a picture from a track; arguments as of `seen`."""
    mean, covariance = at(gains, track, time_s)
    miss = place - mean[:2]
    return float(miss @ np.linalg.solve(covariance[:2, :2] + spread + gains.floor_m**2 * np.eye(2), miss))


def seen(gains: TrackGains, track: ThingTrack, place: FloatArray, spread: FloatArray, time_s: float) -> ThingTrack:
    """Return the track after a picture that shows its thing.

    Args:
        gains: how it moves.
        track: belief so far.
        place: [2] place in the picture.
        spread: [2, 2] covariance of it.
        time_s: of the picture.
    """
    noise = spread + gains.floor_m**2 * np.eye(2)
    if not track.known:
        return found(gains, place, noise, time_s)
    mean, covariance = at(gains, track, time_s)
    miss, total = place - mean[:2], covariance[:2, :2] + noise
    if float(miss @ np.linalg.solve(total, miss)) > gains.refuse:
        return _anew(gains, track, place, noise, time_s)
    gain = np.linalg.solve(total, covariance[:2]).T
    mean = mean + gain @ miss
    mean[2:] *= min(1.0, gains.most_m_s / max(float(np.hypot(*mean[2:])), 1e-9))
    return ThingTrack(time_s, track.since_s, 0, mean, covariance - gain @ covariance[:2])


def found(gains: TrackGains, place: FloatArray, noise: FloatArray, time_s: float) -> ThingTrack:
    """Return the track of a thing that no track knew."""
    covariance = np.zeros((4, 4))
    covariance[:2, :2], covariance[2:, 2:] = noise, gains.speed_m_s**2 * np.eye(2)
    return ThingTrack(time_s, time_s, 0, np.array([*place, 0.0, 0.0]), covariance)


def _anew(gains: TrackGains, track: ThingTrack, place: FloatArray, noise: FloatArray, time_s: float) -> ThingTrack:
    """Return a track from the last place and this one: a thing that was kicked came from where it was."""
    dt = time_s - track.time_s
    velocity = (place - track.mean[:2]) / max(dt, 1e-3)
    if dt > gains.stale_s or float(np.hypot(*velocity)) > gains.most_m_s:
        return found(gains, place, noise, time_s)
    covariance = np.zeros((4, 4))
    covariance[:2, :2] = noise
    covariance[:2, 2:] = covariance[2:, :2] = noise / dt
    covariance[2:, 2:] = (track.covariance[:2, :2] + noise) / dt**2
    return ThingTrack(time_s, track.since_s, 0, np.array([*place, *velocity]), covariance + 1e-9 * np.eye(4))
