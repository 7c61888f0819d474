"""`ThingTrack`: place and velocity of one thing over time, a Kalman filter that starts anew where it is surprised.

Frame: the dead-reckoned frame of the robot's odometry, so that a correction of the own pose moves nothing.
State: x, y [m], vx, vy [m/s]; the acceleration is white noise, constant over a step.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from robomarl.domains.soccer.core.sight.spread import Place, Spread, inverse, squared, widened

NEVER_S = -1e9
"""Time of a sighting that has not been."""
TINY = 1e-9**0.5
"""Standard deviation [m, m/s] of an error that is added so that no covariance becomes singular."""
State = tuple[float, float, float, float]
"""x, y [m], vx, vy [m/s]."""


class StateSpread(NamedTuple):
    """Covariance [4, 4] of a state, which is symmetric, in its blocks."""

    place: Spread = (1.0, 0.0, 1.0)
    mixed: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """x with vx, x with vy, y with vx, y with vy."""
    velocity: Spread = (1.0, 0.0, 1.0)


class ThingTrack(NamedTuple):
    """Belief about one thing."""

    time_s: float = NEVER_S
    """Time of the state: that of the last picture that shows the thing."""
    since_s: float = NEVER_S
    """Time of the first picture of this track: a thing that one picture alone shows is not told."""
    missed: int = 0
    """Pictures since then that should show the thing and do not."""
    mean: State = (0.0, 0.0, 0.0, 0.0)
    covariance: StateSpread = StateSpread()

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


def state_at(gains: TrackGains, track: ThingTrack, time_s: float) -> State:
    """Return the state at a later time; a thing out of sight slows down and then rests."""
    dt = max(time_s - track.time_s, 0.0)
    x, y, vx, vy = track.mean
    if gains.slows_m_s2 <= 0:
        return x + vx * dt, y + vy * dt, vx, vy
    stops_s = math.hypot(vx, vy) / gains.slows_m_s2
    left = max(0.0, 1 - dt / stops_s) if stops_s > 0 else 0.0
    way_s = min(dt, stops_s) * (1 + left) / 2
    return x + vx * way_s, y + vy * way_s, vx * left, vy * left


def _spread_at(gains: TrackGains, track: ThingTrack, time_s: float) -> StateSpread:
    """Return the covariance at a later time: that of a constant, unknown acceleration is added."""
    dt = max(time_s - track.time_s, 0.0)
    (xx, xy, yy), (a, b, c, d), (uu, uv, vv) = track.covariance
    square = (gains.accel_m_s2 * dt) ** 2
    most, half = square * dt * dt / 4, square * dt / 2
    return StateSpread(
        (xx + dt * (2 * a + dt * uu) + most, xy + dt * (b + c + dt * uv), yy + dt * (2 * d + dt * vv) + most),
        (a + dt * uu + half, b + dt * uv, c + dt * uv, d + dt * vv + half),
        (uu + square, uv, vv + square),
    )


def surprise(gains: TrackGains, track: ThingTrack, place: Place, spread: Spread, time_s: float) -> float:
    """Return the squared Mahalanobis distance of a picture's place from the track's."""
    x, y, _, _ = state_at(gains, track, time_s)
    inverted = _inverse_sum(_spread_at(gains, track, time_s).place, widened(spread, gains.floor_m))
    return squared(inverted, (place[0] - x, place[1] - y))


def seen(gains: TrackGains, track: ThingTrack, place: Place, spread: Spread, time_s: float) -> ThingTrack:
    """Return the track after a picture that shows its thing.

    Args:
        gains: how it moves.
        track: belief so far.
        place: in the picture.
        spread: covariance of it.
        time_s: of the picture.
    """
    noise = widened(spread, gains.floor_m)
    if not track.known:
        return found(gains, place, noise, time_s)
    x, y, vx, vy = state_at(gains, track, time_s)
    covariance = _spread_at(gains, track, time_s)
    inverted = _inverse_sum(covariance.place, noise)
    miss = place[0] - x, place[1] - y
    if squared(inverted, miss) > gains.refuse:
        return _anew(gains, track, place, noise, time_s)
    (xx, xy, yy), (a, b, c, d), _ = covariance
    pull_x, pull_y = inverted[0] * miss[0] + inverted[1] * miss[1], inverted[1] * miss[0] + inverted[2] * miss[1]
    vx, vy = vx + a * pull_x + c * pull_y, vy + b * pull_x + d * pull_y
    share = min(1.0, gains.most_m_s / max(math.hypot(vx, vy), 1e-9))
    mean = x + xx * pull_x + xy * pull_y, y + xy * pull_x + yy * pull_y, vx * share, vy * share
    return ThingTrack(time_s, track.since_s, 0, mean, _corrected(covariance, inverted))


def _inverse_sum(first: Spread, second: Spread) -> Spread:
    """Return the inverse of the sum of two covariances."""
    return inverse((first[0] + second[0], first[1] + second[1], first[2] + second[2]))


def _corrected(covariance: StateSpread, inverted: Spread) -> StateSpread:
    """Return P - P H^T S^-1 H P, where H takes the place out of the state and S^-1 is given."""
    (xx, xy, yy), (a, b, c, d), (uu, uv, vv) = covariance
    p, q, r = inverted
    x0, x1, y0, y1 = xx * p + xy * q, xx * q + xy * r, xy * p + yy * q, xy * q + yy * r  # gain of the place
    u0, u1, v0, v1 = a * p + c * q, a * q + c * r, b * p + d * q, b * q + d * r  # gain of the velocity
    return StateSpread(
        (xx - x0 * xx - x1 * xy, xy - x0 * xy - x1 * yy, yy - y0 * xy - y1 * yy),
        (a - x0 * a - x1 * c, b - x0 * b - x1 * d, c - y0 * a - y1 * c, d - y0 * b - y1 * d),
        (uu - u0 * a - u1 * c, uv - u0 * b - u1 * d, vv - v0 * b - v1 * d),
    )


def found(gains: TrackGains, place: Place, noise: Spread, time_s: float) -> ThingTrack:
    """Return the track of a thing that no track knew, from its place in a picture and the covariance of it."""
    speed = gains.speed_m_s**2
    covariance = StateSpread(noise, velocity=(speed, 0.0, speed))
    return ThingTrack(time_s, time_s, 0, (*place, 0.0, 0.0), covariance)


def _anew(gains: TrackGains, track: ThingTrack, place: Place, noise: Spread, time_s: float) -> ThingTrack:
    """Return a track from the last place and this one: a thing that was kicked came from where it was."""
    dt = time_s - track.time_s
    per_s = 1 / max(dt, 1e-3)
    vx, vy = (place[0] - track.mean[0]) * per_s, (place[1] - track.mean[1]) * per_s
    if dt > gains.stale_s or math.hypot(vx, vy) > gains.most_m_s:
        return found(gains, place, noise, time_s)
    xx, xy, yy = noise
    mixed = xx / dt, xy / dt, xy / dt, yy / dt
    then_xx, then_xy, then_yy = track.covariance.place
    velocity = (then_xx + xx) / dt**2, (then_xy + xy) / dt**2, (then_yy + yy) / dt**2
    covariance = StateSpread(widened(noise, TINY), mixed, widened(velocity, TINY))
    return ThingTrack(time_s, track.since_s, 0, (*place, vx, vy), covariance)
