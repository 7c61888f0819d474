"""When a learner's snapshots first succeed on `mujoco` behind the safety filter."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.training.learners import EPISODES, PROBE, SUCCESS, Snapshot, brax_networks

STRIDE = 4


class SnapshotPolicy:
    """A snapshot with the interface of a bundle's policy: what `evaluate` flies."""

    def __init__(self, env: Any, act: Callable[[Any, Any], Any]) -> None:
        """`act(learned, obs [..., O])` gives the action [..., A] in physical units; it is compiled once."""
        import jax

        self.name, self.scenario_name = "snapshot", env.scenario.name
        self.vehicle_name = env.scenario.vehicle_config.name
        self.observation, self.action = env.observation, env.action
        self.learned: Any = None
        self._act = jax.jit(act)

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """No memory."""
        return ()

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., A])."""
        return carry, np.asarray(self._act(self.learned, obs))


def robomarl_policy() -> SnapshotPolicy:
    """What `learners.robomarl` keeps, as a policy."""
    from robomarl.lab.sim.env import make_env
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import load_recipe
    from robomarl.lab.train.networks import deterministic_policy, make_networks

    env = make_env(load_scenario("swap_4"))
    networks = make_networks(load_recipe("swap_4")[0].network, env.observation, env.action_size)

    def act(learned: tuple, obs: Any) -> Any:
        params, stats = learned
        return deterministic_policy(networks, params, stats, env.action)((), obs)[1]

    return SnapshotPolicy(env, act)


def brax_policy() -> SnapshotPolicy:
    """What `learners.brax` keeps, as a policy."""
    import jax.numpy as jnp
    from brax.training.acme import running_statistics

    from robomarl.lab.sim.env import make_env
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.distribution import squash

    env = make_env(load_scenario("swap_4"))
    networks = brax_networks(env.observation_size, env.action_size, running_statistics.normalize)

    def act(learned: tuple, obs: Any) -> Any:
        return squash(jnp.split(networks.policy_network.apply(*learned, obs), 2, axis=-1)[0], env.action)

    return SnapshotPolicy(env, act)


def first_success(snapshots: list[Snapshot], policy: SnapshotPolicy) -> Snapshot | None:
    """The first snapshot that succeeds on `mujoco` with the filter on; None where none does.

    Every fourth is looked at with few episodes; where one is good, it and the three before it are flown in full.
    """

    def rate(snapshot: Snapshot, episodes: int, seed: int) -> float:
        policy.learned = snapshot.learned
        return success(policy, episodes, seed)

    for end in range(STRIDE, len(snapshots) + STRIDE, STRIDE):
        near = snapshots[end - STRIDE : end]
        if rate(near[-1], PROBE, 1000) >= SUCCESS - 0.1:
            good = next((snapshot for snapshot in near if rate(snapshot, EPISODES, 0) >= SUCCESS), None)
            if good is not None:
                return good
    return None


def success(policy: SnapshotPolicy, episodes: int, seed: int) -> float:
    """Success rate on `mujoco` behind the filter."""
    from robomarl.lab.evaluate.evaluate import evaluate
    from robomarl.lab.evaluate.evaluation import EvalConfig
    from robomarl.lab.sim.scenario import load_scenario

    config = EvalConfig(episodes=episodes, seed=seed, filter="full", progress=False)
    return evaluate(policy, load_scenario("swap_4"), config).figures["success_rate"]
