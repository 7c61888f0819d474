"""Films of scenes: colours where things are, sizes, trails, captions; by MuJoCo's renderer and from above."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("mujoco")

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.lab.gl import find_gl
from robomarl.lab.scene import film
from robomarl.lab.scene.film import MAX_BYTES, film_views, write_film
from robomarl.lab.scene.from_above import plans
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.picture import View, pictures
from robomarl.lab.scene.scene import Primitive, Scene, SceneMoment

RED, BLUE = (230, 30, 30), (30, 60, 230)
DRAWERS = [pytest.param(plans, id="above")]
if find_gl():
    DRAWERS.append(pytest.param(pictures, id="mujoco"))


def scene_of_two(**changes) -> Scene:
    """Return a room of 4 m with a red and a blue robot of the Small Size League."""
    shape = look_of(load_any_vehicle("ssl_omni"))
    room = Scene(("a", "b"), (RED, BLUE), (shape, shape), (-2, -2, 0), (2, 2, 0.5), 0.1, flat=True)
    return replace(room, **changes)


def moments(count: int) -> list[SceneMoment]:
    """Return an episode: the red robot drives from x = -1 to 1 at y = 0.5, the blue one stays at y = -0.5."""
    along = np.linspace(-1, 1, count)
    upright = np.tile([1.0, 0, 0, 0], (2, 1))
    places = [np.array([[x, 0.5, 0.0], [0.0, -0.5, 0.0]]) for x in along]
    return [SceneMoment(0.1 * k, place, upright, active=np.array([False, False])) for k, place in enumerate(places)]


def share_of(picture: np.ndarray, channel: int, half: slice) -> float:
    """Return the share of pixels of a part of the picture in which a channel is far above the other two."""
    part = picture[half].astype(int)
    others = np.delete(part, channel, axis=-1).max(-1)
    return float((part[..., channel] - others > 60).mean())


@pytest.mark.parametrize("draw", DRAWERS)
def test_robots_are_where_they_are_in_their_colours(draw):
    (picture,) = draw(scene_of_two(), [View(moments(3)[1])], (320, 240))
    assert picture.shape == (240, 320, 3)
    far, near = slice(0, 120), slice(120, 240)
    assert share_of(picture, 0, far) > 0.0005 > share_of(picture, 0, near)
    assert share_of(picture, 2, near) > 0.0005 > share_of(picture, 2, far)


@pytest.mark.parametrize("draw", DRAWERS)
def test_trails_and_balls_are_drawn(draw):
    seen = moments(30)
    room = scene_of_two(ball=Primitive("sphere", (0.06, 0, 0), rgb=(20, 220, 40)))
    bare, full = draw(
        room, [View(seen[-1]), View(seen[-1]._replace(ball_m=np.array([1.0, 1.0, 0.06])), seen)], (320, 240)
    )
    everywhere = slice(0, 240)
    assert share_of(full, 0, everywhere) > 1.1 * share_of(bare, 0, everywhere)
    assert share_of(full, 1, everywhere) > 0 == share_of(bare, 1, everywhere)


@pytest.mark.parametrize("suffix", [".gif", ".png", ".mp4"])
def test_files_are_films_of_the_whole_episode(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if suffix == ".mp4":
        pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(film, "find_gl", lambda: "")
    file = tmp_path / f"episode{suffix}"
    write_film(scene_of_two(), moments(30), file, "a title")
    assert 0 < file.stat().st_size <= MAX_BYTES
    if suffix == ".mp4":
        return
    with Image.open(file) as image:
        assert image.size == ((1280, 720) if suffix == ".png" else (640, 360))
        assert getattr(image, "n_frames", 1) == (len(film_views(moments(30), 12.5)) if suffix == ".gif" else 1)


def test_views_are_in_real_time_and_end_with_the_episode():
    views = film_views(moments(31), 5.0)
    assert [round(view.moment.time_s, 6) for view in views[:3]] == [0.0, 0.2, 0.4]
    assert views[-1].moment.time_s == pytest.approx(3.0) and len(views[-1].trail) == 21


def test_mistakes_are_one_sentence(tmp_path: Path):
    with pytest.raises(UserError, match=r"films are \.gif, \.mp4 or \.png"):
        write_film(scene_of_two(), moments(3), tmp_path / "film.avi")
    with pytest.raises(UserError, match="the episode is empty"):
        write_film(scene_of_two(), [], tmp_path / "film.gif")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="can't be written"):
        write_film(scene_of_two(), moments(3), tmp_path / "file" / "film.png")
