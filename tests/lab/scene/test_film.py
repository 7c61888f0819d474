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
from robomarl.lab.scene.files import write_smaller_gif
from robomarl.lab.scene.film import FPS, MOST_PICTURES, SIZE, film_views, paces, write_film
from robomarl.lab.scene.from_above import plans
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.picture import View, camera_of, pictures
from robomarl.lab.scene.scene import Label, Primitive, Scene, SceneMoment

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
    ((picture, at),) = draw(scene_of_two(), [View(seen := moments(3)[1])], (320, 240))
    for (x, y), channel in zip(at(seen.pos_m).round().astype(int), (0, 2), strict=True):
        around = (slice(y - 6, y + 6), slice(x - 6, x + 6))
        part = picture[around].reshape(-1, 3).astype(int)
        assert (part[:, channel] - np.delete(part, channel, -1).max(-1)).max() > 60
    assert picture.shape == (240, 320, 3)
    far, near = slice(0, 120), slice(120, 240)
    assert share_of(picture, 0, far) > 0.0005 > share_of(picture, 0, near)
    assert share_of(picture, 2, near) > 0.0005 > share_of(picture, 2, far)


@pytest.mark.parametrize("draw", DRAWERS)
def test_trails_and_balls_are_drawn(draw):
    seen = moments(30)
    room = scene_of_two(ball=Primitive("sphere", (0.06, 0, 0), rgb=(20, 220, 40)))
    seen = [moment._replace(ball_m=np.array([1.0, 1.0, 0.06])) for moment in seen]
    bare, full = (
        drawn.pixels
        for drawn in draw(room, [View(seen[-1]._replace(ball_m=np.zeros(0))), View(seen[-1], seen)], (320, 240))
    )
    everywhere = slice(0, 240)
    assert share_of(full, 0, everywhere) > 1.1 * share_of(bare, 0, everywhere)
    assert share_of(full, 1, everywhere) > 0 == share_of(bare, 1, everywhere)


@pytest.mark.skipif(not find_gl(), reason="no GL library works here")
def test_the_trail_of_a_ball_that_was_thrown_has_no_holes():
    """A ball at 12 m/s moves further between two pieces of its trail than a robot may."""
    room = scene_of_two(flat=False, ball=Primitive("sphere", (0.06, 0, 0), rgb=(20, 220, 40)))
    thrown = [
        moment._replace(time_s=0.06 * k, ball_m=np.array([-1.3 + 0.65 * k, 0.0, 0.3]))
        for k, moment in enumerate(moments(5))
    ]
    put = [moment._replace(ball_m=np.array([1.3 if k > 2 else -1.3, 0.0, 0.3])) for k, moment in enumerate(thrown)]

    def gained(trail: list[SceneMoment]) -> float:
        with_trail, without = pictures(room, [View(trail[-1], trail), View(trail[-1])], (320, 240))
        return share_of(with_trail.pixels, 1, slice(0, 240)) - share_of(without.pixels, 1, slice(0, 240))

    assert gained(thrown) > 0.0005 > gained(put)


def test_all_places_that_a_scene_names_are_in_the_picture():
    plain = scene_of_two(flat=False)
    room = replace(plain, shown_m=((-9.0, -9.0, 0.0), (9.0, 9.0, 4.0)))
    seen = [moment._replace(goal_m=moment.pos_m) for moment in moments(3)]
    for scene, inside in ((room, True), (plain, False)):
        camera = camera_of(scene, seen, (320, 240))
        x, y = camera.pixels(np.array(room.shown_m)).T
        assert ((x > 0) & (x < 320) & (y > 0) & (y < 240)).all() == inside


@pytest.mark.parametrize("suffix", [".gif", ".png", ".mp4"])
def test_files_are_films_of_the_whole_episode(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if suffix == ".mp4":
        pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(film, "find_gl", lambda: "")
    file = tmp_path / f"episode{suffix}"
    write_film(scene_of_two(), moments(30), file, "a title")
    assert file.stat().st_size > 1000
    if suffix == ".mp4":
        return
    with Image.open(file) as image:
        assert image.size == SIZE
        assert getattr(image, "n_frames", 1) == (len(film_views(moments(30), FPS[".gif"])) if suffix == ".gif" else 1)


def test_long_episodes_have_no_more_pictures_but_fewer_a_second_and_then_run_faster():
    assert paces(8.0, 10.0, 1.0) == (10.0, 1.0)
    fps, pace = paces(28.0, 10.0, 1.0)
    assert fps * 28 == pytest.approx(MOST_PICTURES) and pace == 1
    fps, pace = paces(300.0, 10.0, 3.0)
    assert 300 / pace * fps == pytest.approx(MOST_PICTURES) and pace > 3


def test_names_are_written_at_places_and_beside_robots(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(film, "find_gl", lambda: "")
    views = [View(moments(3)[1])]
    bare, named = (
        np.asarray(next(iter(film.captioned(room, views, SIZE, ""))), int)
        for room in (scene_of_two(), scene_of_two(tags=("0", "1"), labels=(Label((1.5, 1.5, 0.0), "home"),)))
    )
    (drawn,) = plans(scene_of_two(), views, SIZE)
    changed = np.argwhere(np.abs(bare - named).max(-1) > 0)[:, ::-1]
    for place_m in [[1.5, 1.5, 0], *views[0].moment.pos_m]:
        x, y = drawn.at(np.array([place_m]))[0]
        assert np.hypot(*(changed - [x, y]).T).min() < 40
    assert np.ptp(changed[:, 0]) < SIZE[0] / 2, "the words are nowhere else"


def test_gifs_are_made_smaller_until_they_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(film, "find_gl", lambda: "")
    write_film(scene_of_two(), moments(30), tmp_path / "large.gif")
    write_smaller_gif(tmp_path / "large.gif", tmp_path / "small.gif", 60_000)
    with Image.open(tmp_path / "small.gif") as image:
        assert image.width <= 640 and image.width * SIZE[1] == pytest.approx(image.height * SIZE[0], rel=0.01)
    assert (tmp_path / "small.gif").stat().st_size <= 60_000


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
