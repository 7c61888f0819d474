"""The networks that a recipe asks for, for every algorithm."""

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.networks import Networks, make_networks
from robomarl.lab.train.pqn.choice_networks import choice_networks
from robomarl.lab.train.reppo.critic import q_networks


def networks_of(config: TrainConfig, env: AgentsEnv) -> Networks:
    """The modules of a run; see `make_networks`, `choice_networks` of PQN and `q_networks` of REPPO."""
    if config.algorithm == "pqn":
        return choice_networks(config, env)
    if config.algorithm == "reppo":
        return q_networks(config, env)
    return make_networks(config.network, env.observation, env.action_size, env.scenario.count)
