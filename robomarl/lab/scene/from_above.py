"""`plans`: moments of a scene drawn from above by Pillow, for machines without OpenGL."""

from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image, ImageDraw

from robomarl.core.geometry import yaw_of
from robomarl.lab.scene.picture import ALERT, JUMP_M, ScenePicture, View
from robomarl.lab.scene.scene import RGB, Primitive, Scene, SceneMoment

FLOOR: RGB = (238, 240, 243)
MARGIN_M = 0.15
LOAD: RGB = (214, 158, 84)


def plans(scene: Scene, views: Sequence[View], size: tuple[int, int]) -> Iterator[ScenePicture]:
    """Yield a picture for each view, x to the right and y upwards."""
    places = [np.concatenate([view.moment.pos_m, view.moment.goal_m])[:, :2] for view in views]
    low, high = np.concatenate(places).min(0) - 0.3, np.concatenate(places).max(0) + 0.3
    if scene.flat:
        low, high = np.array(scene.low_m[:2]) - MARGIN_M, np.array(scene.high_m[:2]) + MARGIN_M
    for view in views:
        plan = _Plan(low, high, size)
        yield ScenePicture(np.asarray(plan.draw(scene, view)), plan.pixels)


class _Plan:
    """One picture of the floor from above."""

    def __init__(self, low_m: np.ndarray, high_m: np.ndarray, size: tuple[int, int]) -> None:
        """Start with the floor alone, scaled so that the area between two corners [2] fits."""
        self._scale = min(np.array(size) / (high_m - low_m))
        self._offset = np.array(size) / 2 - self._scale * (low_m + high_m) / 2 * (1, -1)
        self.image = Image.new("RGB", size, FLOOR)
        self._pen = ImageDraw.Draw(self.image)

    def draw(self, scene: Scene, view: View) -> Image.Image:
        """Draw everything of a view, the lowest things first."""
        moment = view.moment
        for part in (*scene.solids, *moment.marks):
            self._part(part)
        for goal, colour in zip(moment.goal_m if scene.goals else (), scene.colours, strict=False):
            self._disc(goal, scene.goal_m, outline=colour, width=2)
        if len(moment.load_pose):
            self._disc(moment.load_pose, 0.1, fill=LOAD)
        self._trails(scene, view.trail)
        changed = moment.active if len(moment.active) else np.zeros(len(moment.pos_m), bool)
        for index, place in enumerate(moment.pos_m):
            self._robot(scene, moment, index, place, bool(changed[index]))
        if scene.ball is not None and len(moment.ball_m):
            self._disc(moment.ball_m, 1.5 * scene.ball.size_m[0], fill=scene.ball.rgb or ALERT)
        return self.image

    def _robot(self, scene: Scene, moment: SceneMoment, index: int, place: np.ndarray, changed: bool) -> None:
        """Draw a robot as a disc with a line to its front, ringed if the filter changed its command."""
        radius, colour = scene.looks[index].keep_m[0] / 2, scene.colours[index]
        self._disc(place, radius, fill=colour, outline=ALERT if changed else colour, width=3)
        yaw = float(yaw_of(moment.quat_wxyz[index]))
        tip = place[:2] + radius * np.array([np.cos(yaw), np.sin(yaw)])
        self._pen.line([self._pixel(place), self._pixel(tip)], fill=(255, 255, 255), width=2)

    def _trails(self, scene: Scene, trail: Sequence[SceneMoment]) -> None:
        """Draw the ways of all robots, and of the ball."""
        ways = [(colour, [moment.pos_m[index] for moment in trail]) for index, colour in enumerate(scene.colours)]
        if scene.ball is not None:
            ways.append((scene.ball.rgb or ALERT, [moment.ball_m for moment in trail if len(moment.ball_m)]))
        for colour, way in ways:
            for start, end in zip(way[:-1], way[1:], strict=True):
                if np.linalg.norm(end - start) < JUMP_M:
                    self._pen.line([self._pixel(start), self._pixel(end)], fill=colour, width=1)

    def _part(self, part: Primitive) -> None:
        """Draw the outline of an obstacle, a marking or a mark of the task."""
        colour, place = part.rgb or ALERT, np.array(part.place_m)
        if part.kind == "box":
            half = np.array(part.size_m) / 2
            (left, bottom), (right, top) = self._pixel(place - half), self._pixel(place + half)
            self._pen.rectangle([left, top, right, bottom], fill=colour)
        elif part.kind == "capsule":
            width = max(1, round(2 * part.size_m[0] * self._scale))
            self._pen.line([self._pixel(place), self._pixel(np.array(part.end_m))], fill=colour, width=width)
        else:
            self._disc(place, part.size_m[0], fill=colour)

    def _disc(self, place_m: np.ndarray, radius_m: float, **style: RGB | int) -> None:
        """Draw a circle; `style` is that of `PIL.ImageDraw`: fill, outline, width."""
        (x, y), r = self._pixel(place_m), radius_m * self._scale
        self._pen.ellipse([x - r, y - r, x + r, y + r], **style)  # type: ignore[arg-type]

    def pixels(self, places_m: np.ndarray) -> np.ndarray:
        """Return the pixels [K, 2] of places [K, 3]."""
        return self._offset + self._scale * np.asarray(places_m, float)[:, :2] * (1, -1)

    def _pixel(self, place_m: np.ndarray) -> tuple[float, float]:
        """Return the pixel of a place [2 or more]."""
        x, y = self.pixels(np.array([[place_m[0], place_m[1], 0.0]]))[0].tolist()
        return x, y
