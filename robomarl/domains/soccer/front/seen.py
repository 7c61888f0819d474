"""`seen_pictures`: pictures of a recorded match, with the belief of each robot's network drawn over them."""

import io
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.perception import Perception, open_perception
from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.config import UserError
from robomarl.domains.soccer.core.sight.layout import Sight, SightLayout, Spot
from robomarl.field.replay.bag import Bag, open_bag
from robomarl.field.replay.recording import NODE, PARAMETERS
from robomarl.ros import topics
from robomarl.ros.camera.image_reader import cells_of, compressed_at, image_at
from robomarl.ros.io import cdr

SURE = 0.5
"""Least probability of a thing that is drawn."""
WIDTH = 420
"""Width of a picture on the page [pixels]."""
BROKEN = (ValueError, struct.error)
"""Errors of a message in a bag that is not what its topic says."""
BALL, OPPONENT, MATE, INK = "#ff8c1a", "#ffd21a", "#5aa0ff", "#ffffff"


class SeenPicture(NamedTuple):
    """One picture of the page."""

    caption: str
    jpeg: bytes


class Stored(NamedTuple):
    """A recorded picture and its strip, which have equal stamps."""

    robot: str
    stamp_s: float
    picture: bytes
    """Serialized `CompressedImage`."""
    strip: bytes
    """Serialized `Image`."""


def seen_pictures(recording: Path, most: int) -> list[SeenPicture]:
    """Return up to `most` pictures, evenly over the match; none where no robot saw, or where its bundle is not here.

    Args:
        recording: folder of the bag.
        most: number of pictures.
    """
    try:
        bag = open_bag(recording)
        stored, eyes = list(_stored(bag)), _perceptions(bag)
    except UserError:
        return []
    stored = [one for one in stored if one.robot in eyes]
    picks = np.unique(np.linspace(0, len(stored) - 1, most).round().astype(int)) if stored else []
    found: list[SeenPicture] = []
    for pick in picks:
        one = stored[int(pick)]
        try:
            found.append(_drawn(one, eyes[one.robot], one.stamp_s - stored[0].stamp_s))
        except BROKEN:
            continue
    return found


def _stored(bag: Bag) -> Iterator[Stored]:
    """Yield the pictures that have a strip of their stamp."""
    waiting: dict[tuple[str, float], bytes] = {}
    for heard in bag.messages():
        robot, _, name = heard.topic.partition("/camera/")
        if heard.topic.endswith(f"/{topics.COMPRESSED.name}") or heard.topic.endswith(f"/{topics.STRIP.name}"):
            try:
                key = robot.rpartition("/")[2], float(cdr.stamp_s(heard.data))
            except BROKEN:
                continue
            other = waiting.pop(key, None)
            if other is None:
                waiting[key] = heard.data
            elif name == "strip":
                yield Stored(*key, other, heard.data)
            else:
                yield Stored(*key, heard.data, other)


def _perceptions(bag: Bag) -> dict[str, Perception]:
    """Return the network of each robot whose bundle sees and is on this machine."""
    found: dict[str, Perception] = {}
    for key, text in bag.about.items():
        if not (key.startswith(PARAMETERS) and key.endswith(NODE)):
            continue
        robot = key.removeprefix(PARAMETERS).removesuffix(NODE).rpartition("/")[2]
        if named := json.loads(text).get("bundle"):
            perception = open_perception(load_bundle(named), check_golden=False)
            if perception is not None:
                found[robot] = perception
    return found


def _drawn(one: Stored, perception: Perception, since_s: float) -> SeenPicture:
    picture = compressed_at(one.picture, perception.image.camera)
    sight = SightLayout().read(perception(cells_of(image_at(one.strip), perception)), one.stamp_s)
    image = Image.frombuffer("RGB", (picture.width, picture.height), bytes(picture.data))
    pen, camera = ImageDraw.Draw(image), perception.image.camera
    for colour, spots in ((BALL, (sight.ball,)), (OPPONENT, sight.opponents), (MATE, sight.mates)):
        for spot in spots:
            if spot.probability >= SURE:
                _mark(pen, camera, spot, colour)
    pen.text((8, 6), _pose_line(sight), fill=INK)
    stream = io.BytesIO()
    image.resize((WIDTH, round(WIDTH * picture.height / picture.width))).save(stream, "jpeg", quality=80)
    return SeenPicture(f"{one.robot}, {since_s:.1f} s after the first picture", stream.getvalue())


def _mark(pen: ImageDraw.ImageDraw, camera: PinholeCamera, spot: Spot, colour: str) -> None:
    """Draw a ring around the place on the ground where a thing is believed, with distance and probability."""
    x, y = spot.place_m
    (column, row), scale = camera.pixels(np.array([x, y, -camera.place_m[2]])), camera.fx / max(spot.range_m, 0.1)
    if not np.isfinite([column, row]).all():
        return
    size = float(np.clip(0.05 * scale, 6, 60))
    pen.ellipse((column - size, row - size, column + size, row + size), outline=colour, width=3)
    error = 100 * spot.log_range_error
    pen.text(
        (column + size + 2, row - 6), f"{spot.range_m:.2f} m +- {error:.0f} %, {spot.probability:.0%}", fill=colour
    )


def _pose_line(sight: Sight) -> str:
    x, y = sight.pose.centre_m
    heading = np.degrees(sight.pose.half_turns_rad)
    return (
        f"centre of the field {x:.2f}, {y:.2f} m +- {sight.pose.centre_error_m:.2f}; heading {heading:.0f} "
        f"+- {np.degrees(sight.pose.heading_error_rad):.0f} degrees, but for half a turn"
    )
