"""Shortest paths around what stands on the floor, and the law that drives them."""

import dataclasses

import jax
import numpy as np
import onnxruntime
import pytest

from robomarl.domains.ground.lab.controllers.shortest_paths import CORNER_M, ShortestPaths
from robomarl.domains.ground.lab.controllers.straight import AroundLaw
from robomarl.lab.export.graph import to_onnx
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

BLOCK_M, OUTER_M = 0.27, 0.9
"""Blocks of intersection_4 reach from this far off the lanes' middles to that far."""


@pytest.fixture(scope="module")
def crossing():
    return load_scenario("intersection_4")


def pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Places on the floor that are in no block, and others."""
    drawn = np.random.default_rng(0).uniform(-1.9, 1.9, (20 * count, 2)).astype(np.float32)
    free = drawn[((np.abs(drawn) < 0.15) | (np.abs(drawn) > 1.05)).any(-1)]
    return free[:count], free[count : 2 * count]


def test_who_sees_its_goal_goes_straight_and_who_was_pushed_aside_to_the_lane(crossing):
    out = crossing.vehicle_config.safety.clearance_m + CORNER_M
    place, goal = np.array([(1.45, 0.1), (1.3, 0.7)], np.float32), np.array([(-1.45, -0.1)] * 2, np.float32)
    free, beside = ShortestPaths(crossing).offset(place, goal)
    np.testing.assert_allclose(free, (-2.9, -0.2), atol=1e-5)
    corner = np.array((OUTER_M + out, BLOCK_M - out), np.float32)
    length = np.linalg.norm(corner - place[1]) + np.linalg.norm(goal[1] - corner)
    np.testing.assert_allclose(beside, length * (corner - place[1]) / np.linalg.norm(corner - place[1]), atol=1e-5)


def test_ways_are_as_long_there_as_back_and_lead_past_all_blocks(crossing):
    paths, (place, goal) = ShortestPaths(crossing), pairs(200)
    first, back = (np.linalg.norm(paths.offset(*ends), axis=-1) for ends in ((place, goal), (goal, place)))
    np.testing.assert_allclose(first, back, atol=1e-4)
    assert (first >= np.linalg.norm(goal - place, axis=-1) - 1e-5).all() and first.max() < 6
    gone, step = np.zeros(200), 0.02
    for _ in range(300):
        way = paths.offset(place, goal)
        left = np.linalg.norm(way, axis=-1, keepdims=True)
        move = way * np.minimum(1, step / np.maximum(left, 1e-6))
        place, gone = place + move, gone + np.linalg.norm(move, axis=-1)
        apart = np.maximum(np.maximum(BLOCK_M - np.abs(place), np.abs(place) - OUTER_M), 0.0)
        assert np.linalg.norm(apart, axis=-1).min() > 0.08, "no robot's centre may be nearer to a block"
    np.testing.assert_allclose(place, goal, atol=1e-4)
    assert ((0.9 * first < gone) & (gone < 1.005 * first)).all(), "what is seen past a corner is nearer"


def seen_by(law: AroundLaw, goal: np.ndarray, place: np.ndarray, mates: np.ndarray) -> np.ndarray:
    """Observations [B, O] of robots at rest; mates [B, K, 2] from each, all heard; none where K is 0."""
    rows = np.zeros((len(place), law.observation.neighbours.count, 5), np.float32)
    rows[:, : mates.shape[1], :2], rows[:, : mates.shape[1], -1] = mates, 1.0
    return np.concatenate([goal, place, rows.reshape(len(place), -1), place * 0], -1).astype(np.float32)


def test_the_law_is_the_same_in_numpy_in_jax_and_in_the_graph_of_a_robot(crossing):
    law, (place, goal) = AroundLaw(crossing), pairs(50)
    goal[:20] = place[:20] + 0.1
    obs = seen_by(law, goal, place, np.random.default_rng(1).uniform(-0.6, 0.6, (50, 3, 2)))
    session = onnxruntime.InferenceSession(to_onnx(lambda obs: (law.act(obs),), {"obs": (obs.shape[1],)}, ["command"]))
    for found in (jax.jit(law.act)(obs), session.run(None, {"obs": obs})[0]):
        np.testing.assert_allclose(np.asarray(found), law.act(obs), atol=1e-4)


def test_robots_of_the_crossing_drive_by_it(crossing):
    law = simulation_of(crossing).model.law(crossing)
    assert isinstance(law, AroundLaw)
    goal, place = np.array([[-1.45, 0.0]]), np.array([[OUTER_M + 0.19, 0.6]])
    along = law.act(seen_by(law, goal, place, np.zeros((1, 0, 2))))[0]
    assert along[1] < -1.0, "along the block to the lane, where straight ahead is the block"


def test_a_robot_that_is_alone_goes_by_it_too(crossing):
    alone = dataclasses.replace(crossing, count=1)
    law = AroundLaw(alone)
    sim = simulation_of(alone).batch(alone, "fast", 2, 0)
    sim.reset()
    obs = law.observation.observe((), sim.views())[1]
    assert np.abs(law.act(obs)).max() > 1.0


def test_who_is_at_its_goal_makes_room_and_who_is_on_its_way_does_not(crossing):
    law, goal = AroundLaw(crossing), np.array([[1.45, 0.0]])
    beside = np.array([[[-0.3, 0.2]]])
    there = law.act(seen_by(law, goal, goal, beside))[0]
    assert there[0] > 0.5 and there[1] < -0.3, "away from the mate that waits beside the lane"
    alone, far = (law.act(seen_by(law, goal, goal, mates))[0] for mates in (beside[:, :0], 2 * beside))
    np.testing.assert_array_equal(alone, far)
    on_its_way = np.array([[1.1, 0.0]])
    going = [law.act(seen_by(law, goal, on_its_way, mates)) for mates in (beside, beside[:, :0])]
    np.testing.assert_array_equal(*going)


def test_a_leg_ends_in_a_root_so_that_xla_works_it_out_once(crossing):
    """Where it ended in a choice, it was worked out for each of the 16 corners that it is a part of the way from."""
    program = jax.make_jaxpr(ShortestPaths(crossing)._legs)(np.zeros((16, 2), np.float32), np.ones((1, 2), np.float32))
    assert program.eqns[-1].primitive.name == "sqrt"
