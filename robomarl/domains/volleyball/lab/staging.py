"""`STAGING`: the court with its net, the drones with their rackets and the ball, as viewers show them."""

from dataclasses import replace

import numpy as np

from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import task_of
from robomarl.lab.scene import of_model
from robomarl.lab.scene.scene import RGB, Primitive, RobotShape, Scene, SceneMoment, Staging
from robomarl.lab.scene.solids import box_part, strip
from robomarl.lab.sim.model import TeamWorld

LINE_M, NET_M = 0.05, 0.02
"""Width of the court's lines, and thickness of the net."""
NET_LOW_M = 1.4
"""Height [m] of the net's lower edge."""
ROOM_M = 6.0
"""Height [m] of the room that is shown."""
SHOWN_M = 6.3
"""Height [m] above the middle of the court that films have in their picture."""
FLOOR_M = 0.001
"""Thickness of the court's colour."""
LINE: RGB = (255, 255, 255)
NET: RGB = (60, 66, 72)
NET_OPACITY = 0.45
BAND_M, POST_M = 0.08, 0.04
"""Height of the white band along the net's upper edge, and radius of its posts."""
COURT: RGB = (226, 160, 104)
HALF_COURT: RGB = (214, 146, 90)
"""Colours of the two halves of the court."""
BALL: RGB = (250, 200, 40)
RACKET: RGB = (70, 74, 80)
SLAB_M = 0.01
"""Thickness of a racket."""


def scene(scenario: VolleyScenario) -> Scene:
    """Return the court, its net and the drones with their rackets."""
    court, ball = scenario.court, scenario.ball
    x, y = court.length_m / 2, court.width_m / 2
    corners = [(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)]
    plain = of_model.plain_scene(scenario)
    return replace(
        plain,
        looks=tuple(with_racket(scenario, look) for look in plain.looks),
        low_m=(-x, -y, 0.0),
        high_m=(x, y, ROOM_M),
        solids=(*floor(x, y), *net(y, court.net_m)),
        shown_m=(*corners, (0.0, 0.0, SHOWN_M)),
        ball=Primitive("sphere", (ball.radius_m, 0.0, 0.0), rgb=BALL) if ball else None,
        goals=ball is None,
        flat=False,
    )


def floor(x: float, y: float) -> tuple[Primitive, ...]:
    """Return the two halves of a court between +-x and +-y [m], and its lines."""
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    sides = zip(corners, corners[1:] + corners[:1], strict=True)
    lines = [strip(a, b, LINE_M, LINE) for a, b in (*sides, ((0.0, -y), (0.0, y)))]
    halves = box_part((0.0, -y, 0.0), (x, y, FLOOR_M), COURT), box_part((-x, -y, 0.0), (0.0, y, FLOOR_M), HALF_COURT)
    return (*halves, *lines)


def net(y: float, high_m: float) -> tuple[Primitive, ...]:
    """Return the net across a court between +-y [m], with its band and its posts."""
    mesh = replace(box_part((-NET_M / 2, -y, NET_LOW_M), (NET_M / 2, y, high_m - BAND_M), NET), opacity=NET_OPACITY)
    band = box_part((-NET_M, -y, high_m - BAND_M), (NET_M, y, high_m), LINE)
    posts = [Primitive("capsule", (POST_M, 0.0, 0.0), (0.0, side, 0.0), (0.0, side, high_m), NET) for side in (-y, y)]
    return (mesh, band, *posts)


def with_racket(scenario: VolleyScenario, look: RobotShape) -> RobotShape:
    """Return the shape of a drone with its racket."""
    racket = scenario.racket
    if racket is None:
        return look
    disc = Primitive(
        "cylinder", (racket.radius_m, 0.0, SLAB_M), (0.0, 0.0, racket.above_m - SLAB_M / 2), rgb=RACKET, opacity=0.8
    )
    return replace(look, parts=(*look.parts, disc))


def moment(scenario: VolleyScenario, world: TeamWorld, env: int) -> SceneMoment:
    """Return one episode of a batch of worlds, now, with the metric of its task."""
    task, own = task_of(scenario), world.own
    shown = of_model.moment(scenario, world, env)
    caption = f"{task.metric.replace('_', ' ')}: {float(np.asarray(own.rally.score)[env]):.3g}"
    if scenario.ball is None:
        return shown._replace(caption=caption)
    return shown._replace(caption=caption, ball_m=np.asarray(own.ball_pos_m, float)[env])


STAGING: Staging[VolleyScenario, TeamWorld] = Staging(scene, moment, of_model.with_goal)
