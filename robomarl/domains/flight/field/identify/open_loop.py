"""Predictions of vehicle positions half a second ahead, by the identified model and a residual, from recorded starts
and commands.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.domains.flight.field.identify.model import WindowFlown, window_outputs
from robomarl.domains.flight.lab.residual import Residual
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.held_out import AFTER_S
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.identify.windows import cut_windows, neighbours_of
from robomarl.field.track import RobotTrack

AT_ONCE = 64
"""ShortWindows for which the program is compiled."""


class ShortWindows(NamedTuple):
    """W short windows of all robots: `SETTLE` decisions to bring the rotors in, and `AFTER_S` to predict."""

    flown: WindowFlown
    """[W, ...] each; positions are from each window's first one."""
    theta: np.ndarray
    """[W, P] of the robot."""
    ended_m: np.ndarray
    """[W, 3] where it was at the end, from its first position."""
    place: tuple[tuple[str, int, int], ...]
    """[W] robot, flight, number."""


def short_windows_of(found: Sequence[RobotFit], tracks: Sequence[RobotTrack], period_s: float) -> ShortWindows | None:
    """All that there are in these tracks of a team; None where there is none."""
    parts, places = [], []
    for robot in found:
        own = [track for track in tracks if track.robot == robot.robot]
        windows = cut_windows(own, period_s, round(AFTER_S / period_s))
        if windows is None:
            continue
        first = windows.state[:, :1, :3]
        state, mates = windows.state.copy(), neighbours_of(windows, tracks)[:, :-1] - first[:, :, None]
        state[..., :3] -= first
        theta = np.tile(robot.fit.value, (windows.count, 1))
        parts.append((state, windows.period_s, windows.command, windows.sent_s, mates, theta))
        places += windows.place
    if not parts:
        return None
    *flown, theta = (np.concatenate(part).astype(np.float32) for part in zip(*parts, strict=True))
    return ShortWindows(WindowFlown(*flown), theta, flown[0][:, -1, :3], tuple(places))


class OpenLoop:
    """The model with a residual, compiled once."""

    def __init__(self, scenario: FlightScenario) -> None:
        """Nothing is compiled yet."""
        self.scenario = scenario

        def end(member: Residual, theta: jax.Array, flown: WindowFlown) -> jax.Array:
            return window_outputs(scenario, theta, flown, member)[-1, :3]

        self._ends = jax.jit(jax.vmap(jax.vmap(end, in_axes=(None, 0, 0)), in_axes=(0, None, None)))

    def ends_m(self, residual: Residual, starts: ShortWindows) -> np.ndarray:
        """[members, W, 3] predicted positions."""
        count = len(starts.theta)
        found = []
        for first in range(0, count, AT_ONCE):
            rows = np.arange(first, first + AT_ONCE) % count
            given = jax.tree.map(lambda part, rows=rows: jnp.asarray(part[rows]), (starts.theta, starts.flown))
            found.append(np.asarray(self._ends(residual, *given)))
        return np.concatenate(found, 1)[:, :count]

    def errors_m(self, residual: Residual, starts: ShortWindows) -> np.ndarray:
        """[members, W] how far off each member is."""
        return np.linalg.norm(self.ends_m(residual, starts) - starts.ended_m, axis=-1)

    def mean_errors_m(self, residual: Residual, starts: ShortWindows) -> np.ndarray:
        """[W] how far off the mean of all members is."""
        return np.linalg.norm(self.ends_m(residual, starts).mean(0) - starts.ended_m, axis=-1)
