"""`staging_of_model`: teams of a `Model` as viewers show them: rigid robots, their goals and plans; their films."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from robomarl.core.tree import each
from robomarl.core.types import Array
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.palette import team_colours
from robomarl.lab.scene.scene import Primitive, Scene, SceneMoment, Staging, planned
from robomarl.lab.sim.model.scenario import TeamScenario
from robomarl.lab.sim.model.world import TeamWorld

ROOM_M = ((-3.0, -3.0, 0.0), (3.0, 3.0, 1.0))
"""Room that is shown unless a domain shows its own arena."""
T = TypeVar("T", bound=TeamScenario)
Marks = Callable[[TeamScenario, TeamWorld], tuple[Primitive, ...]]
"""(scenario, world of one episode) -> things of the task, world frame."""


class Frame(Protocol):
    """One decision of one team."""

    @property
    def world(self) -> TeamWorld:
        """World after the decision, [N, ...]."""
        ...

    @property
    def active(self) -> np.ndarray:
        """[N] bool: the filter changed the command."""
        ...


def film_of(staging: Staging[T, TeamWorld]) -> Callable[[Sequence[Frame], T, Path], None]:
    """Return the function (decisions of an episode, scenario, file) that films teams as `view` shows them."""

    def film(frames: Sequence[Frame], scenario: T, file: Path) -> None:
        from robomarl.lab.scene.film import write_film  # needs MuJoCo, which no check of a scenario does

        moments = [frame_moment(staging, scenario, frame) for frame in frames]
        write_film(staging.scene(scenario), moments, file, scenario.name)

    return film


def frame_moment(staging: Staging[T, TeamWorld], scenario: T, frame: Frame) -> SceneMoment:
    """Return one decision as a viewer shows it."""
    batch = each(frame.world, lambda leaf: np.asarray(leaf)[None])
    return staging.moment(scenario, batch, 0)._replace(active=frame.active)


def no_marks(scenario: TeamScenario, world: TeamWorld) -> tuple[Primitive, ...]:
    """Return nothing: the task shows robots and goals only."""
    return ()


def staging_of_model(scene: Callable[[TeamScenario], Scene] | None = None) -> Staging[TeamScenario, TeamWorld]:
    """Return the staging of a `Model`'s teams; `scene` is the fixed part, by default a room of `ROOM_M`."""
    return Staging(scene or plain_scene, moment, with_goal)


def plain_scene(scenario: TeamScenario) -> Scene:
    """Return a room with the robots of the scenario."""
    count = scenario.count
    low, high = ROOM_M
    return Scene(
        names=tuple(f"robot_{index}" for index in range(count)),
        colours=team_colours(count),
        looks=(look_of(scenario.vehicle_config),) * count,
        low_m=low,
        high_m=high,
        period_s=scenario.period_s,
        flat=True,
    )


def moment(scenario: TeamScenario, world: TeamWorld, env: int) -> SceneMoment:
    """Return one episode of a batch of worlds, now."""
    return SceneMoment(
        time_s=float(np.asarray(world.step)[env]) * scenario.period_s,
        pos_m=np.asarray(world.pos_m)[env],
        quat_wxyz=np.asarray(world.quat_wxyz)[env],
        goal_m=np.asarray(world.goal_m)[env],
        plan_m=planned(world.pos_m, world.said, env),
    )


def with_goal(scenario: TeamScenario, world: TeamWorld, robot: int, place_m: Array) -> TeamWorld:
    """Return the world with another goal of a robot, on the floor that the robot stands on."""
    goal = np.array(world.goal_m)
    goal[:, robot, :2] = np.asarray(place_m)[:2]
    return world._replace(goal_m=goal)
