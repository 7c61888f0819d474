"""Certified carriers in the rig of a load: where robots and references were, attackers, a radio that loses."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.bundle.pilot import AnyPolicy, Pilot
from robomarl.core.certificate.course import state_at
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.ros.robot.certified.carry import RobotCarry
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.startup import Loaded
from robomarl.ros.robot.state_machine import POLICY
from robomarl.ros.settings import PolicySettings
from tests.ros.loadrig import LoadRig

BURST = 8
"""Messages that are lost in a row, on average."""


class SeenFlight(NamedTuple):
    """What was seen of a flight, at each of T decisions of N robots."""

    time_s: np.ndarray
    """[T] time."""
    true_m: np.ndarray
    """[T, N, 3] places of robots."""
    until_s: np.ndarray
    """[T, N] times at which references are where the next row says."""
    reference_m: np.ndarray
    """[T, N, 3] places of references."""
    agreed: np.ndarray
    """[T] bool: all robots have a pact with each other."""
    policy: np.ndarray
    """[T] bool: policies fly."""
    outside: np.ndarray
    """[T, N] bool: a robot says that it is outside its tube."""


class AttackedCarriers(LoadRig):
    """Three certified carriers, one of which an attacker flies, on a radio that loses messages in bursts."""

    def __init__(self, bundle: Path, seed: int = 0, attack: str = "", loss: float = 0.0) -> None:
        """`attack`: none, or what the last robot does: to its nearest teammate, away from all, or against the load's
        motion; `loss`: share of the messages that are lost."""
        self.attack, self._loss, self._random = attack, loss, np.random.default_rng(seed)
        self._bad = np.zeros((3, 3), bool)
        self._rows: list[tuple[np.ndarray, ...]] = []
        super().__init__(bundle, seed, "certificate")

    def loaded(self, settings: PolicySettings) -> Loaded:
        """The bundle; that of the attacker with its policy."""
        loaded = super().loaded(settings)
        if not self.attack or settings.index != len(settings.team) - 1:
            return loaded
        pilot = loaded.pilot
        return replace(loaded, pilot=Pilot(CarrierAttacker(self, pilot.policy), pilot.safety, pilot.rules))

    @property
    def figures(self) -> CertificateFigures:
        guard = self.robots[0].loaded.pilot.safety
        assert isinstance(guard, CertifiedRobot), "they fly the certificate"
        return guard.figures

    def is_lost(self, sender: int, receiver: int) -> bool:
        """Of each link good and bad times follow each other; in bad ones all is lost."""
        if not self._loss:
            return False
        bad = self._bad[sender, receiver]
        ends, begins = 1 / BURST, self._loss / (1 - self._loss) / BURST
        self._bad[sender, receiver] = bad = self._random.random() < (1 - ends if bad else begins)
        return bool(bad)

    def memory(self, index: int) -> RobotCarry | None:
        carry = self.robots[index].autopilot._decider._carry
        return carry.safety if carry and isinstance(carry.safety, RobotCarry) else None

    def step(self) -> None:
        """One step of physics, and a row of what is seen at each decision."""
        decides = self.steps % self.team.every == 0
        super().step()
        robots = [one for i in self.left if (one := self.memory(i)) is not None]
        if not decides or len(robots) < len(self.robots):
            return
        places = [state_at(one.robot.course, one.robot.until_s, np)[0] for one in robots]
        agreed = all((one.robot.pact.number > 0).all() for one in robots)
        policy = all(robot.autopilot.state in POLICY for robot in self.robots)
        outside = ["outside its tube" in robot.autopilot.doubts for robot in self.robots]
        until = [float(one.robot.until_s) for one in robots]
        row = self.now.stamp_s, self.team.truth().pos_m, until, places, agreed, policy, outside
        self._rows.append(tuple(map(np.array, row)))

    @property
    def flown(self) -> SeenFlight:
        return SeenFlight(*map(np.stack, zip(*self._rows, strict=True)))


class CarrierAttacker:
    """A policy that ignores what it sees."""

    def __init__(self, rig: AttackedCarriers, policy: AnyPolicy) -> None:
        """In place of this policy."""
        self._rig, self._policy = rig, policy
        self.action, self.observation = policy.action, policy.observation

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """The memory of the policy."""
        return self._policy.init(batch)

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(memory, observation) -> (memory, command [5])."""
        carry, command = self._policy(carry, obs)
        places = self._rig.team.truth().pos_m
        away = places[-1] - places[:-1]
        near = away[np.linalg.norm(away, axis=-1).argmin()]
        swing = np.stack(self._rig.load.rigid.vel, -1)[0].reshape(3)
        way = {"near": -near, "far": away.sum(0), "pump": -swing}[self._rig.attack]
        pushed = 4.0 * way / max(float(np.linalg.norm(way)), 1e-6)
        return carry, np.array([*pushed, 0.0, 0.0], command.dtype)


def distances(flown: SeenFlight, figures: CertificateFigures) -> tuple[float, float]:
    """Least distance of two references over D, and largest over that of the tether, while all have agreed."""
    assert figures.tether is not None, "they carry"
    rows = flown.reference_m[flown.agreed]
    one, two = np.triu_indices(rows.shape[1], 1)
    away = rows[:, one] - rows[:, two]
    near = np.linalg.norm(away * figures.squash, axis=-1).min() / (2 * figures.learned.room_m)
    far = np.linalg.norm(away * figures.tether.stretch, axis=-1).max() / figures.tether.apart_m
    return float(near), float(far)


def bodies_m(flown: SeenFlight) -> float:
    """Least distance of two robots [m]."""
    one, two = np.triu_indices(flown.true_m.shape[1], 1)
    return float(np.linalg.norm(flown.true_m[:, one] - flown.true_m[:, two], axis=-1).min())


def tube_m(flown: SeenFlight, figures: CertificateFigures) -> np.ndarray:
    """[T, N] distance of each robot from its tracked point: the mean of its reference about that time."""
    half_s = (figures.smooth_count - 1) * figures.period_s / 2
    found = np.zeros_like(flown.true_m[..., 0])
    for robot in range(flown.true_m.shape[1]):
        times, places = flown.until_s[:, robot], flown.reference_m[:, robot]
        for t, now_s in enumerate(flown.time_s):
            about = np.abs(times - now_s) <= half_s + figures.period_s / 2
            point = places[about].mean(0) if about.any() else places[t]
            found[t, robot] = np.linalg.norm((flown.true_m[t, robot] - point) * figures.squash)
    return found
