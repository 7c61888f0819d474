"""Train swap_2 with Stable-Baselines3's PPO through PettingZoo's interface, and make a sealed bundle of it."""

import sys
from pathlib import Path

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from robomarl.front.cli import main as robomarl
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.interfaces.parallel_env import PettingZooTeam
from robomarl.lab.sim.scenario import load_scenario

CONTRACT = 'scenario = "swap_2"\nlayout = "sb3"\n'


class RobotsAsEnvs(VecEnv):
    """Every robot of every team is one environment of a `VecEnv`, so that all share one policy."""

    def __init__(self, teams: list[PettingZooTeam]) -> None:
        """Take teams of one scenario."""
        self.teams, self.names = teams, teams[0].possible_agents
        space, action = teams[0].observation_space(self.names[0]), teams[0].action_space(self.names[0])
        self._actions = np.zeros(())
        super().__init__(len(teams) * len(self.names), space, action)

    def reset(self) -> np.ndarray:
        """New episodes, [E, O]."""
        return np.stack([row for team in self.teams for row in team.reset()[0].values()])

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions, [E, A] in [-1, 1]."""
        self._actions = np.clip(actions, -1.0, 1.0).reshape(len(self.teams), len(self.names), -1)

    def step_wait(self) -> tuple:
        """One decision of all teams; those that are over begin again."""
        rows = []
        for team, actions in zip(self.teams, self._actions, strict=True):
            obs, reward, ended, cut, _ = team.step(dict(zip(self.names, actions, strict=True)))
            new = obs if team.agents else team.reset()[0]
            for name in self.names:
                done = ended[name] or cut[name]
                info = {"terminal_observation": obs[name], "TimeLimit.truncated": cut[name]} if done else {}
                rows.append((new[name], reward[name], done, info))
        obs, rewards, dones, infos = zip(*rows, strict=True)
        return np.stack(obs), np.array(rewards, np.float32), np.array(dones), list(infos)

    def get_attr(self, attr_name, indices=None) -> list:
        """Of the environment, once for each robot."""
        return [getattr(self.teams[0], attr_name, None)] * self.num_envs

    def env_is_wrapped(self, wrapper_class, indices=None) -> list:
        """No robot is."""
        return [False] * self.num_envs

    close = set_attr = env_method = lambda self, *args, **kwargs: None


def main(out: str = "runs/sb3", steps: int = 20_000, teams: int = 4) -> None:
    """Train for so many agent-steps, and import what came of it."""
    env = VecMonitor(RobotsAsEnvs([PettingZooTeam(make_env(load_scenario("swap_2")), i) for i in range(teams)]))
    model = PPO("MlpPolicy", env, n_steps=128, batch_size=256, gamma=0.99, seed=0, device="cpu")
    model.learn(steps)
    file, contract = Path(out) / "model.zip", Path(out) / "contract.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    model.save(file)
    contract.write_text(CONTRACT)
    if robomarl(["import", str(file), str(file.parent / "bundle"), "--contract", str(contract)]):
        raise SystemExit("the policy was not imported.")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
