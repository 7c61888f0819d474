"""Ball and robots in closed form, against hand-computed values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.physics.ball import brake
from robomarl.domains.soccer.lab.physics.contact import gap_to_ball, kick
from robomarl.domains.soccer.lab.physics.omni_drive import drive, rim
from tests.domains.soccer.games import APART, ball_at, plain, put, robots_at

SCENARIO = plain()
STILL = np.zeros((1, 4, 4), np.float32)


def test_a_ball_without_spin_rolls_at_five_sevenths():
    """Sliding ends after 2/7 v / (mu g), here 0.397 s of 3.6 m/s^2 from 5 m/s."""
    ball, time_s, way = ball_at(0.0, 0.0, vx=5.0), 0.0, 0.0
    while float(ball.vx[0] - ball.ux[0]) > 1e-4:
        ball, (dx, _) = brake(SCENARIO, ball, np.float32(0.4))
        time_s, way = time_s + SCENARIO.physics_dt_s, way + float(dx[0])
    assert time_s == pytest.approx(2 / 7 * 5.0 / 3.6, abs=0.011)
    assert float(ball.vx[0]) == pytest.approx(5 / 7 * 5.0, rel=0.002)
    assert way == pytest.approx((5.0 + 5 / 7 * 5) / 2 * time_s, rel=0.01)


def test_a_rolling_ball_stops_after_v_squared_over_two_a():
    ball, way = ball_at(0.0, 0.0, vx=1.0)._replace(ux=np.ones(1, np.float32)), 0.0
    for _ in range(300):
        ball, (dx, _) = brake(SCENARIO, ball, np.float32(0.4))
        way += float(dx[0])
    assert float(ball.vx[0]) == pytest.approx(0.0, abs=1e-5)
    assert way == pytest.approx(1.0 / (2 * 0.4), rel=0.01)


@given(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(-3.1, 3.1))
def test_the_gap_is_the_distance_to_the_cut_disc(x: float, y: float, heading: float):
    """Against the smallest distance to ten thousand points of the outline."""
    radius, face = SCENARIO.robot.body.radius_m, SCENARIO.kicker.face_m
    robot = type(robots_at([(0, 0, heading)]))(*(p[:, 0] for p in robots_at([(0.0, 0.0, heading)])))
    gap, nx, ny = (float(part[0]) for part in gap_to_ball(SCENARIO, robot, ball_at(x, y)))
    corner = np.arccos(face / radius)
    arc = np.linspace(corner, 2 * np.pi - corner, 8000)
    half = radius * np.sin(corner)
    flat = np.linspace(-half, half, 2000)
    outline = np.concatenate([radius * np.stack([np.cos(arc), np.sin(arc)], -1), np.stack([flat * 0 + face, flat], -1)])
    c, s = np.cos(heading), np.sin(heading)
    place = np.array([c * x + s * y, c * y - s * x])
    nearest = np.linalg.norm(outline - place, axis=-1).min()
    inside = np.hypot(*place) < radius and place[0] < face
    if not inside:  # inside, the way out along the wedge's side is one of two that are nearly as short
        assert gap + SCENARIO.ball.radius_m == pytest.approx(nearest, abs=1e-3)
    if nearest > 1e-3 and np.hypot(*place) > 1e-3:  # at the centre no side is the nearest
        assert np.hypot(nx, ny) == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_a_fast_ball_passes_a_robot_or_is_thrown_off_the_side_that_it_meets(sim: str):
    """At 6 m/s, 0.6 of a robot's radius in a sub-step; robot and ball meet within 0.1115 m of the line of centres."""
    across = np.array([0.112, 0.118, 0.125, 0.05, 0.05], np.float32)
    games = make_soccer(SCENARIO, sim, len(across), 0)
    robots, num = robots_at([(0.0, 0.0, np.pi), *APART[1:]], len(across)), len(across)
    start = np.linspace(0.50, 0.56, num).astype(np.float32)  # the sub-steps end at other places
    ball = ball_at(0.0, 0.0, vx=-6.0, num=num)._replace(x=start, y=across, ux=np.full(num, -6.0, np.float32))
    put(games, robots, ball)
    for _ in range(4):
        game = games.step(np.repeat(STILL, num, 0))
    assert game.ball.vy[:3] == pytest.approx(0.0, abs=1e-3)
    assert (game.ball.vx[:3] < -5.5).all()
    sine = 0.05 / 0.1115
    normal = np.array([np.sqrt(1 - sine**2), sine])
    thrown = -6.0 * np.array([1, 0]) + (1 + SCENARIO.ball.restitution) * 6.0 * normal[0] * normal
    angle = np.arctan2(game.ball.vy[3:], game.ball.vx[3:])
    assert angle == pytest.approx(np.arctan2(thrown[1], thrown[0]), abs=0.35)


def test_drive_keeps_speed_and_rim_within_their_limits():
    robots = robots_at([(0.0, 0.0, 0.7)])._replace(vx=np.full((1, 1), 1.99, np.float32))
    command = tuple(np.full((1, 1), v, np.float32) for v in (2.1, 2.1, 10.0))
    accel = drive(SCENARIO, robots, command, np.ones((1, 1), np.float32))
    dt_s = SCENARIO.physics_dt_s
    assert np.hypot(robots.vx + accel[0] * dt_s, accel[1] * dt_s) <= SCENARIO.robot.limits.speed_m_s + 1e-5
    assert rim(SCENARIO, robots, accel) <= SCENARIO.traction.rim_accel_m_s2 * (1 + 1e-5)


def test_the_kicker_needs_the_ball_a_charge_and_a_command():
    robots = robots_at([(0.0, 0.0, 0.0)])
    robot = type(robots)(*(p[:, 0] for p in robots))
    near, speed = ball_at(0.073 + 0.0215 + 0.005, 0.0), np.full(1, 4.0, np.float32)
    assert kick(SCENARIO, robot, near, speed) == pytest.approx(4.0)
    assert kick(SCENARIO, robot, near._replace(vx=np.full(1, 1.0, np.float32)), speed) == pytest.approx(3.0)
    assert kick(SCENARIO, robot, near, speed * 0.1) == 0
    assert kick(SCENARIO, robot, ball_at(0.11, 0.0), speed) == 0
    assert kick(SCENARIO, robot, ball_at(0.11, 0.0, vx=1.0), speed) == pytest.approx(3.0), "1 cm ago it was in reach"
    assert kick(SCENARIO, robot, ball_at(0.12, 0.0, vx=1.0), speed) == 0
    assert kick(SCENARIO, robot, ball_at(0.0965, 0.05), speed) == 0
    assert kick(SCENARIO, robot._replace(charge_s=np.full(1, 0.1, np.float32)), near, speed) == 0


@pytest.mark.parametrize("speed_m_s", [2.0, 6.0])
@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_a_ball_that_comes_fast_is_kicked_as_it_arrives(sim: str, speed_m_s: float):
    """At 6 m/s it comes and bounces between two looks of the kicker, which are 6 cm of its way apart."""
    games = make_soccer(SCENARIO, sim, 16, 0)
    ball = ball_at(0.4, 0.0, vx=-speed_m_s, num=16)
    put(
        games,
        robots_at([(0.0, 0.0, 0.0), *APART[1:]], 16),
        ball._replace(x=np.linspace(0.3, 0.4, 16, dtype=np.float32)),
    )
    command, kicked = np.zeros((16, 4, 4), np.float32), np.zeros(16, bool)
    command[:, 0, 3] = 5.0
    for _ in range(8):
        game = games.step(command)
        kicked |= game.contacts.kicked[:, 0]
    assert kicked.all()
    assert ((game.ball.vx > 3.5) & (game.ball.vx < 5.0)).all(), "kicked with 5 m/s, and braked by the carpet since"


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_a_ball_over_the_line_is_a_goal_and_brings_a_kick_off(sim: str):
    games = make_soccer(SCENARIO, sim, 1, 0)
    put(games, robots_at(APART), ball_at(1.5, 0.0, vx=5.0))
    for _ in range(10):
        game = games.step(STILL)
        if game.referee.scored[0]:
            break
    assert [int(g[0]) for g in game.referee.goals] == [1, 0]
    assert float(game.ball.x[0]) == float(game.ball.y[0]) == 0.0
    away = np.hypot(game.robots.x, game.robots.y)[0]
    assert away[2] < away[0], "who concedes kicks off"
    assert (game.robots.x[0, :2] < 0).all() and (game.robots.x[0, 2:] > 0).all()


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_boards_stop_ball_and_robots_and_robots_stay_out_of_the_goal(sim: str):
    games = make_soccer(SCENARIO, sim, 1, 0)
    put(games, robots_at([(2.0, 0.0, 0.0), *APART[1:]]), ball_at(0.0, 1.2, vy=6.0, vx=0.5))
    command = STILL.copy()
    command[:, 0, 0] = 2.0
    for _ in range(50):
        game = games.step(command)
        assert abs(float(game.ball.y[0])) < SCENARIO.field.width_m / 2
    limit = SCENARIO.field.length_m / 2 - SCENARIO.robot.body.radius_m
    assert float(game.robots.x[0, 0]) == pytest.approx(limit, abs=0.01)


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_an_impact_is_blamed_on_the_robot_that_drove(sim: str):
    games = make_soccer(SCENARIO, sim, 1, 0)
    put(games, robots_at([(-1.0, 0.0, 0.0), (-2.0, 1.2, 0.0), (0.0, 0.0, 0.0), (1.5, 1.0, 0.0)]), ball_at(0.0, -1.3))
    command, hardest, own = STILL.copy(), np.zeros(4), np.zeros(4)
    command[:, 0, 0] = 2.0
    for _ in range(40):
        contacts = games.step(command).contacts
        hardest, own = np.maximum(hardest, contacts.impact_m_s[0]), np.maximum(own, contacts.own_m_s[0])
    expected = np.sqrt(2 * 2.0 * (1.0 - 0.18))  # accelerated over the gap
    assert hardest[[0, 2]] == pytest.approx([expected] * 2, rel=0.05)
    assert own[0] == pytest.approx(expected, rel=0.05)
    assert own[2] < 0.05, "it stood"
    assert hardest[1] == hardest[3] == 0


def test_boards_and_corners_throw_nobody():
    """Everybody at full throttle into a corner, turning: nobody gets much faster than robots can drive."""
    sim, random = make_soccer(SCENARIO, "mujoco", 64, 0), np.random.default_rng(0)
    sim.reset()
    corner = np.array([SCENARIO.field.length_m, SCENARIO.field.width_m]) / 2
    goal = random.choice([-1, 1], (64, 4, 2)) * corner + random.normal(size=(64, 4, 2)) * 0.2
    turn = random.uniform(-10, 10, (64, 4))
    for _ in range(70):
        robots = sim.world.robots
        x, y = np.moveaxis(goal - np.stack([robots.x, robots.y], -1), -1, 0)
        far = np.hypot(x, y)
        ahead, left = robots.c * x + robots.s * y, robots.c * y - robots.s * x
        sim.step(np.stack([3 * ahead / far, 3 * left / far, turn, 0 * turn], -1).astype(np.float32))
        speed = np.hypot(sim.world.robots.vx, sim.world.robots.vy)
        assert speed.max() < 1.2 * SCENARIO.robot.limits.speed_m_s  # a mate may push


@pytest.mark.parametrize(
    ("off_rad", "least", "most"),
    [(0.0, 0.25, 0.4), (0.17, -0.1, 0.15), (0.5, -0.5, 0.0)],
    ids=["head on", "a little aside", "aside"],
)
@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_a_ball_that_a_board_holds_throws_a_robot_back_and_one_that_gives_way_hardly(sim, off_rad, least, most):
    """The share of its speed that a robot comes back with, by the angle between its way and the board's normal."""
    lies, reach = SCENARIO.field.width_m / 2 - SCENARIO.ball.radius_m, SCENARIO.kicker.face_m + SCENARIO.ball.radius_m
    way = np.array([np.sin(off_rad), np.cos(off_rad)], np.float32)
    x, y = -(reach + 0.04) * way[0], lies - (reach + 0.04) * way[1]
    robots = robots_at([(x, y, np.pi / 2 - off_rad), *APART[1:]])
    speed = np.zeros((2, 1, 4), np.float32)
    speed[:, 0, 0] = 0.7 * way
    game = make_soccer(SCENARIO, sim, 1, 0)
    put(game, robots._replace(vx=speed[0], vy=speed[1]), ball_at(0.0, lies))
    for _ in range(5):
        after = game.step(STILL).robots
    back = -(after.vx[0, 0] * way[0] + after.vy[0, 0] * way[1]) / 0.7
    assert least < back < most


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_a_board_gives_robots_back_what_a_critically_damped_spring_does(sim):
    """exp(-2) of their speed, whatever the instant that a step falls on."""
    game, side = make_soccer(SCENARIO, sim, 32, 0), SCENARIO.field.width_m / 2 - SCENARIO.robot.body.radius_m
    robots = robots_at([(0.5, side - 0.05, 0.0), *APART[1:]], num=32)
    vy = 0 * robots.vy
    vy[:, 0] = np.linspace(0.7, 0.8, 32)
    put(game, robots._replace(vy=vy), ball_at(0.0, 0.0, num=32))
    for _ in range(4):
        after = game.step(np.zeros((32, 4, 4), np.float32)).robots
    back = -after.vy[:, 0] / vy[:, 0]
    assert back == pytest.approx(np.full(32, 0.1353), abs=0.03)
    assert back.mean() == pytest.approx(0.1353, abs=0.01)


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_two_robots_that_meet_share_their_speed_and_bounce_a_little(sim: str):
    """One at 1 m/s meets another that stands: equal masses, of the closing speed exp(-2) remains between them."""
    game = make_soccer(SCENARIO, sim, 16, 0)
    robots = robots_at([(-0.3, 0.0, 0.0), APART[1], (0.0, 0.0, 0.0), APART[3]], num=16)
    vx = 0 * robots.vx
    vx[:, 0], x = 1.0, robots.x.copy()
    x[:, 0] = -np.linspace(0.2, 0.21, 16)
    put(game, robots._replace(x=x, vx=vx), ball_at(0.0, 1.0, num=16))
    still = np.zeros((16, 4, 4), np.float32)
    for _ in range(2):
        after = game.step(still).robots
    assert after.vx[:, 0] == pytest.approx(np.full(16, (1 - 0.1353) / 2), abs=0.02)
    assert after.vx[:, 2] == pytest.approx(np.full(16, (1 + 0.1353) / 2), abs=0.02)
