"""`RecordedStage`: a recording as moments of a scene."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError
from robomarl.field.replay.bag import Bag, open_bag
from robomarl.field.replay.recording import Recording, recording_of
from robomarl.field.scene.heard_team import HeardTeam
from robomarl.lab.scene.scene import Scene, SceneMoment

STEP_S = 0.04
"""Time between two moments of a recording."""


class RecordedStage:
    """The moments of a recording, first to last."""

    sets_goals = False

    def __init__(self, bag: Bag, recording: Recording, scene: Scene, task: str) -> None:
        """Read up to the first moment.

        Args:
            bag: the recording.
            recording: the team that flew in it.
            scene: the scene of its scenario, for as many robots as flew.
            task: task of the scenario.

        Raises:
            UserError: no robot says where it is.
        """
        self._bag, self._recording, self._task = bag, recording, task
        self.scene = replace(scene, names=recording.team, period_s=STEP_S)
        self.moment = self.restart()

    def restart(self) -> SceneMoment:
        """Begin the recording again, and return its first moment; raises `UserError` if it has none."""
        self._moments = self._read()
        first = next(self._moments, None)
        if first is None:
            raise UserError(f"{self._bag.folder}: no robot says where it is; nothing can be shown.")
        self.moment = first
        return first

    def advance(self) -> SceneMoment | None:
        """Return the next moment; None at the end."""
        moment = next(self._moments, None)
        if moment is not None:
            self.moment = moment
        return moment

    def set_goal(self, robot: int, place_m: np.ndarray) -> None:
        """Do nothing: the past stays."""

    def _read(self) -> Iterator[SceneMoment]:
        """Yield a moment each `STEP_S` from when all robots have said where they are."""
        team = HeardTeam(self._recording.team, self._recording.base, self._task)
        began_s = next_s = -1.0
        for message in self._bag.messages():
            if began_s < 0 and np.isfinite(team.pos_m).all():
                began_s = next_s = message.received_s
            if began_s >= 0 and message.received_s >= next_s:
                yield team.moment(message.received_s - began_s)
                next_s = max(next_s + STEP_S, message.received_s)
            team.take(message.topic, message.data)


def opened_recording(path: Path) -> tuple[Bag, Recording]:
    """Return a recording by its folder or file, and the team that flew in it; raises `UserError` if there is none."""
    bag = open_bag(path)
    return bag, recording_of(bag)
