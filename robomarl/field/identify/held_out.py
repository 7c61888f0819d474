"""Check that identified parameters predict flights that the fit has not seen."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.field.identify.fit import LEAST_BLOCKS
from robomarl.field.identify.legs import elements
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.identify.windows import SETTLE, cut_windows
from robomarl.field.track import RobotTrack

AFTER_S = 0.5
"""Time from the start of the open-loop part to the prediction."""
RESAMPLES = 2000
Places = Sequence[tuple[str, int, int]]
"""Robot, flight and number of each window."""


class Prediction(NamedTuple):
    """Errors of position over held-out windows."""

    before_m: float
    """Mean, of the vehicle as its file says."""
    after_m: float
    """Mean, of the identified one."""
    gain_low_m: float
    """Lower end of the 95 % interval of the difference (paired bootstrap over `parts_of`)."""
    windows: int
    parts: int
    """That were resampled."""

    @property
    def is_better(self) -> bool:
        """The identified vehicle predicts better, beyond chance."""
        return self.gain_low_m > 0


def split_flights(tracks: Sequence[RobotTrack], share: float) -> tuple[list[RobotTrack], list[RobotTrack]]:
    """Tracks to fit and to hold out, by whole flights; the last ones are held out, at least one where there are two."""
    flights = sorted({track.flight for track in tracks})
    held = set(flights[-max(1, round(share * len(flights))) :]) if len(flights) > 1 else set()
    return [t for t in tracks if t.flight not in held], [t for t in tracks if t.flight in held]


def predict_held_out(
    found: Sequence[RobotFit], tracks: Sequence[RobotTrack], period_s: float, seed: int = 0
) -> Prediction | None:
    """Compare both vehicles on held-out tracks; None where these have no whole window."""
    before, after, places = [], [], []
    for robot in found:
        windows = cut_windows([track for track in tracks if track.robot == robot.robot], period_s, robot.windows.length)
        if windows is None:
            continue
        predict, at = robot.model.predict(windows), SETTLE + round(AFTER_S / period_s)
        seen = elements(windows.state)[:, at + 1, :3]
        for theta, errors in ((robot.model.first, before), (robot.fit.value, after)):
            errors.append(np.linalg.norm(predict(theta)[0][:, at, :3] - seen, axis=-1))
        places += windows.place
    if not before:
        return None
    return paired(np.concatenate(before), np.concatenate(after), places, 1, seed)


def paired(before_m: np.ndarray, after_m: np.ndarray, place: Places, together: int, seed: int = 0) -> Prediction:
    """Compare errors [W] of two models in equal windows.

    Args:
        before_m: errors of the first model.
        after_m: errors of the second model.
        place: [W] robot, flight and number of each window.
        together: number of successive windows of a flight that are resampled as one; see `parts_of`.
        seed: seed of the bootstrap.
    """
    part = parts_of(place, together)
    count = part.max() + 1
    gain, size = (np.bincount(part, each) for each in (before_m - after_m, np.ones(len(part))))
    drawn = np.random.default_rng(seed).integers(0, count, (RESAMPLES, count))
    low = float(np.quantile(gain[drawn].sum(1) / size[drawn].sum(1), 0.025))
    return Prediction(float(before_m.mean()), float(after_m.mean()), low, len(part), int(count))


def parts_of(place: Places, together: int) -> np.ndarray:
    """Return the part [W] that each window belongs to. Windows of one part share gusts and encounters,
    also between robots.

    Parts are whole flights; of few flights they are pieces of the whole team, `together` windows long.
    """
    flights = {flight for _, flight, _ in place}
    whole = len(flights) >= LEAST_BLOCKS
    keys = [(flight, 0 if whole else number // together) for _, flight, number in place]
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
