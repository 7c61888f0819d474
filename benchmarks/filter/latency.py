"""One decision of one robot with thirty rows, beside cbfpy and an OSQP filter on the same problems, in turn."""

import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import Row, percentiles

MATES = 23
"""Rows of these, the speed limit's and six of the input box: thirty."""
VIEWS, BLOCKS, BLOCK, WARM_UP = 64, 20, 100, 10

Decide = Callable[[int], object]


def rows() -> list[Row]:
    """Every filter that is installed; those that are not have a row that says so."""
    from robomarl.core.filter.kernel import usable

    problems = Problems()
    cases: dict[str, Decide] = {"numpy": problems.ours("numpy"), "rows ready, OSQP": _osqp(problems)}
    if usable():
        cases = {"C kernel": problems.ours("c")} | cases
    cases |= {"cbfpy": _cbfpy(problems)} if _installed("cbfpy") else {}
    if not _installed("osqp"):
        cases.pop("rows ready, OSQP")
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for _ in range(BLOCKS):
        for name, decide in cases.items():
            samples[name] += [timed(decide, i % VIEWS) for i in range(BLOCK + WARM_UP)][WARM_UP:]
    found = []
    for name, taken in samples.items():
        wall, own = ([pair[k] for pair in taken] for k in (0, 1))
        found += percentiles(wall, f"30 rows, {name}") + percentiles(own, f"30 rows, {name}, processor time")
    absent = [name for name in ("cbfpy", "osqp") if not _installed(name)]
    return [*found, *(Row(f"30 rows, {name}", "not installed (pip install robomarl[bench])", 0, "") for name in absent)]


def timed(decide: Decide, i: int) -> tuple[float, float]:
    """Seconds of one decision on the wall's clock, and of this thread alone: others share the processor."""
    started, own = time.perf_counter_ns(), time.thread_time_ns()
    decide(i)
    own = time.thread_time_ns() - own
    return (time.perf_counter_ns() - started) / 1e9, own / 1e9


class Problems:
    """Robots among 23 mates: the same for all filters."""

    def __init__(self) -> None:
        """Draw them."""
        from benchmarks.filter.faults import make_filter
        from robomarl.core.filter.filter import SafetyFilter

        random = np.random.default_rng(0)
        params = make_filter("numpy").params
        self.params = params
        self.pos = random.uniform((-1, -1, 1), (1, 1, 2), (VIEWS, 3))
        self.vel = random.normal(size=(VIEWS, 3)) * 0.4
        away = random.normal(size=(VIEWS, MATES, 3))
        away *= (random.uniform(0.7, 3.0, (VIEWS, MATES)) / np.linalg.norm(away, axis=-1))[..., None]
        self.mate_pos = self.pos[:, None] + away
        self.mate_vel = random.normal(size=(VIEWS, MATES, 3)) * 0.4
        self.nominal = random.normal(size=(VIEWS, 4)) * 2
        self._make = SafetyFilter

    def ours(self, backend: str) -> Decide:
        """Our filter, view to command; every decision from the initial memory."""
        safety = self._make(self.params, backend=backend)  # type: ignore[arg-type]
        carry, views = safety.init(), [self._view(i) for i in range(VIEWS)]
        return lambda i: safety(carry, views[i], self.nominal[i])

    def _view(self, i: int) -> Any:
        from robomarl.core.view import Plan, blank_view

        view = blank_view(MATES)
        pos, vel = self.mate_pos[i], self.mate_vel[i]
        age = np.full(MATES, 0.03)
        heard = view.heard._replace(
            mask=np.ones(MATES, bool), pos_m=pos, vel_m_s=vel, age_s=age, plan=Plan(pos, vel, pos)
        )
        return view._replace(own=view.own._replace(pos_m=self.pos[i], vel_m_s=self.vel[i]), heard=heard)

    def table(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Textbook rows [29, 3] and right-hand sides, for solvers that have no rows of their own."""
        apart = self.pos[i] - self.mate_pos[i]
        distance = np.linalg.norm(apart, axis=-1)
        toward = apart / distance[:, None]
        brake = self.params.safety.brake_m_s2
        root = np.sqrt(4 * brake * np.maximum(distance - self.params.safety.separation_m, 0.01))
        value = root + (toward * (self.vel[i] - self.mate_vel[i])).sum(-1)
        return -toward, self.params.safety.gain_per_s * value / 2


def _osqp(problems: Problems) -> Decide:
    """Nothing but rows in numpy and OSQP, set up once: what a filter around it costs at least."""
    if not _installed("osqp"):
        return lambda i: None
    import osqp  # pyright: ignore[reportMissingImports]
    from scipy import sparse

    low, high = (np.array(x) for x in (problems.params.limits.accel_min_m_s2, problems.params.limits.accel_max_m_s2))
    solver, free = osqp.OSQP(), np.full(MATES, -1e30)

    def given(i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        table, bounds = problems.table(i)
        return np.vstack([table, np.eye(3)]), np.concatenate([free, low]), np.concatenate([bounds, high])

    matrix, lower, upper = given(0)
    full = sparse.csc_matrix(np.ones_like(matrix))
    full.data[:] = matrix.T.ravel()
    settings = {"verbose": False, "eps_abs": 1e-6, "eps_rel": 1e-6, "polishing": False}
    solver.setup(sparse.eye(3, format="csc"), -problems.nominal[0, :3], full, lower, upper, **settings)

    def decide(i: int) -> object:
        matrix, lower, upper = given(i)
        solver.update(q=-problems.nominal[i, :3], Ax=matrix.T.ravel(), l=lower, u=upper)
        return solver.solve()

    return decide


def _cbfpy(problems: Problems) -> Decide:
    """Cbfpy with its defaults: a double integrator, and the braking-distance barrier of every mate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import cbfpy  # pyright: ignore[reportMissingImports]
    import jax.numpy as jnp

    safety, limits = problems.params.safety, problems.params.limits

    class Braking(cbfpy.CBFConfig):
        """State: position and velocity; argument: those of the mates [K, 6]."""

        def __init__(self) -> None:
            """Six states, three inputs."""
            low, high = (jnp.array(x) for x in (limits.accel_min_m_s2, limits.accel_max_m_s2))
            super().__init__(n=6, m=3, u_min=low, u_max=high, init_args=(jnp.asarray(mates[0]),))

        def f(self, z: Any, mates: Any) -> Any:  # noqa: D102
            return jnp.concatenate([z[3:], jnp.zeros(3)])

        def g(self, z: Any, mates: Any) -> Any:  # noqa: D102
            return jnp.concatenate([jnp.zeros((3, 3)), jnp.eye(3)])

        def h_1(self, z: Any, mates: Any) -> Any:  # noqa: D102
            apart = z[:3] - mates[:, :3]
            distance = jnp.linalg.norm(apart, axis=-1)
            room = jnp.maximum(distance - safety.separation_m, 0.01)
            return jnp.sqrt(4 * safety.brake_m_s2 * room) + ((apart / distance[:, None]) * (z[3:] - mates[:, 3:])).sum(
                -1
            )

    mates = np.concatenate([problems.mate_pos, problems.mate_vel], -1)
    state = np.concatenate([problems.pos, problems.vel], -1)
    cbf = cbfpy.CBF.from_config(Braking())
    return lambda i: np.asarray(cbf.safety_filter(state[i], problems.nominal[i, :3], mates[i]))


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
