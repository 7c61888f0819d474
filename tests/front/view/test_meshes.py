"""Parts of a scene as triangles: sizes, places and volumes, by hand."""

import numpy as np
import pytest

pytest.importorskip("viser")

from robomarl.core.geometry import rotate
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.front.view.drawn import box_edges, changes, trails
from robomarl.front.view.meshes import merged, solid
from robomarl.lab.scene.cables import laid
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.palette import team_colours
from robomarl.lab.scene.scene import Primitive, SceneMoment


def test_a_box_has_its_edges_about_its_place():
    made = solid(Primitive("box", (1.0, 2.0, 3.0), (10.0, 0.0, 0.0)))
    assert made.volume == pytest.approx(6.0)
    np.testing.assert_allclose(made.bounds, [[9.5, -1, -1.5], [10.5, 1, 1.5]])


def test_a_capsule_reaches_from_end_to_end_and_its_radius_beyond():
    made = solid(Primitive("capsule", (0.5, 0, 0), (1.0, 0.0, 0.0), (1.0, 3.0, 0.0)))
    np.testing.assert_allclose(made.bounds, [[0.5, -0.5, -0.5], [1.5, 3.5, 0.5]], atol=0.03)
    assert made.volume == pytest.approx(np.pi * 0.25 * 3 + 4 / 3 * np.pi * 0.125, rel=0.1)


@pytest.mark.parametrize("name", ["crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger"])
def test_a_robot_is_as_wide_as_its_vehicle_file_says(name: str):
    vehicle = load_any_vehicle(name)
    look = look_of(vehicle)
    reach = max(np.linalg.norm(mesh.vertices[:, :2], axis=1).max() for mesh in merged(look.parts))
    assert reach == pytest.approx(vehicle.body.radius_m, rel=0.06)
    assert 2 * look.keep_m[0] == pytest.approx(vehicle.safety.separation_m)


def test_parts_of_one_colour_are_one_mesh():
    parts = (
        Primitive("box", (1, 1, 1)),
        Primitive("box", (1, 1, 1), (5, 0, 0)),
        Primitive("sphere", (1, 0, 0), rgb=(1, 2, 3)),
    )
    meshes = merged(parts)
    assert [mesh.rgb for mesh in meshes] == [None, (1, 2, 3)]
    assert len(meshes[0].vertices) == 16 and meshes[0].faces.max() == 15


def test_team_colours_differ_for_each_robot():
    assert len(set(team_colours(64))) == 64


def moment_of(**parts) -> SceneMoment:
    """Return a moment of two robots at the origin."""
    return SceneMoment(0.0, np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), **parts)


def test_changes_are_drawn_for_robots_whose_command_the_filter_changed():
    nominal, command = np.array([[1.0, 0, 0], [0, 2, 0]]), np.zeros((2, 3))
    segments, _ = changes(moment_of(active=np.array([False, True]), nominal_m_s2=nominal, command_m_s2=command))
    assert segments.shape == (2, 2, 3)
    np.testing.assert_allclose(segments[0, 1], [0, 0.16, 0])
    assert not len(changes(moment_of(active=np.zeros(2, bool)))[0])


def test_cables_lie_between_robot_and_load_in_the_colour_of_their_tension():
    tied = np.array([[0.6, 0, -0.8], [np.nan] * 3])
    cable, cut = laid(moment_of(tied_m=tied, tension_n=np.array([2.0, 2.0])), working_n=1.0)
    assert cut is None and cable is not None
    assert cable.rgb == (230, 30, 25) and cable.length_m == pytest.approx(1.0)
    np.testing.assert_allclose(rotate(cable.turn, np.array([0, 0, 1.0])), [0.6, 0, -0.8], atol=1e-12)


@pytest.mark.parametrize("down", [(0, 0, -1.0), (0, 0, 1.0), (0, 1.0, 0)])
def test_a_cable_may_hang_in_every_direction(down: tuple[float, float, float]):
    (cable, _) = laid(moment_of(tied_m=np.array([down, down]), tension_n=np.ones(2)), 1.0)
    assert cable is not None
    np.testing.assert_allclose(rotate(cable.turn, np.array([0, 0, 1.0])), down, atol=1e-12)


def test_trails_and_edges_have_the_shapes_that_lines_need():
    ways, colours = trails([moment_of(), moment_of(), moment_of()], np.zeros((2, 3), np.uint8))
    assert ways.shape == (4, 2, 3) and colours.shape == (4, 3)
    edges = box_edges(np.zeros(3), np.array([1.0, 2.0, 3.0]))
    assert sorted(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)) == pytest.approx([1] * 4 + [2] * 4 + [3] * 4)
