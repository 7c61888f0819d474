"""Row names of the kernels that read the observation: they identify the rows when a network changes."""

from robomarl.core.spec import ObservationSpec
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.layers import MateSet
from robomarl.lab.train.networks import sets_of

ACTOR, CRITIC = "['params']['actor']['params']", "['params']['critic']['params']"
"""How the names of parameters begin."""


def actor_root(network: NetworkConfig) -> str:
    """How the names of the actor's parameters begin; with roles they have a leading axis."""
    return ACTOR if network.roles == 1 else f"{ACTOR}['VmapActor_0']"


def first_layers(config: TrainConfig, observation: ObservationSpec) -> dict[str, list[str]]:
    """The names of the rows of every kernel that the observation goes into, by the kernel's name."""
    names, network = observation.element_names(), config.network
    layers = actor_layers(network, observation)
    found = {f"{actor_root(network)}{layer}['kernel']": rows for layer, rows in layers.items()}
    return found | ({f"{CRITIC}['Dense_0']['kernel']": names} if config.algorithm == "ippo" else {})


def actor_layers(network: NetworkConfig, observation: ObservationSpec) -> dict[str, list[str]]:
    """Return the row names for one actor; with attention the rows of one neighbour, of its summary, and of all else."""
    names, after = observation.element_names(), "['Dense_0']" if network.memory == "gru" else "['MLP_0']['Dense_0']"
    if network.encoder == "flat":
        return {after: names}
    module = "EntityAttention_0" if network.encoder == "attention" else "GraphAttention_0"
    sets = [group.blocks if isinstance(group, MateSet) else (group,) for group in sets_of(network, observation)]
    in_sets = {i for blocks in sets for start, count, width in blocks for i in range(start, start + count * width)}
    own = [name for i, name in enumerate(names) if i not in in_sets]
    summaries = [f"summary {i} {j}" for i in range(len(sets)) for j in range(network.actor_hidden[0])]
    each = {
        f"['{module}']['Dense_{2 * i}']": [n for start, _, width in blocks for n in names[start : start + width]] + own
        for i, blocks in enumerate(sets)
    }
    return {**each, after: own + summaries}
