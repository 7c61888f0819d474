"""Whether identified parameters predict flights that the fit has not seen."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.sim.field.gap import elements
from robomarl.sim.field.identify import RobotFit
from robomarl.sim.field.windows import SETTLE, cut_windows
from robomarl.track import RobotTrack

AFTER_S = 0.5
"""From the start of the open-loop part to the prediction."""
RESAMPLES = 2000


class Prediction(NamedTuple):
    """Errors of position over held-out windows."""

    before_m: float
    """Mean, of the vehicle as its file says."""
    after_m: float
    """Mean, of the identified one."""
    gain_low_m: float
    """Lower end of the 95 % interval of the difference (paired bootstrap)."""
    windows: int

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
    before, after = [], []
    for robot in found:
        windows = cut_windows([track for track in tracks if track.robot == robot.robot], period_s, robot.windows.length)
        if windows is None:
            continue
        predict, at = robot.model.predict(windows), SETTLE + round(AFTER_S / period_s)
        seen = elements(windows.state)[:, at + 1, :3]
        for theta, errors in ((robot.model.first, before), (robot.fit.value, after)):
            errors.append(np.linalg.norm(predict(theta)[0][:, at, :3] - seen, axis=-1))
    if not before:
        return None
    old, new = np.concatenate(before), np.concatenate(after)
    rng = np.random.default_rng(seed)
    means = (old - new)[rng.integers(0, len(old), (RESAMPLES, len(old)))].mean(1)
    return Prediction(float(old.mean()), float(new.mean()), float(np.quantile(means, 0.025)), len(old))
