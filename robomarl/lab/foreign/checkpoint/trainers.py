"""Names that trainers give to the layers of their actors, and the processing that each trainer adds
around them.

Sources are the trainers' own code: rsl_rl (https://github.com/leggedrobotics/rsl_rl, versions 2 to
5), skrl (https://github.com/Toni-SM/skrl, 1 and 2), cleanrl (https://github.com/vwxyzjn/cleanrl:
PPO, SAC, TD3, DDPG), rl_games (https://github.com/Denys88/rl_games), Stable-Baselines3
(https://github.com/DLR-RM/stable-baselines3) and sb3-contrib, Brax (https://github.com/google/brax:
PPO, SAC) and JaxMARL (https://github.com/FLAIROx/JaxMARL).
"""

from dataclasses import dataclass


def _under(roots: tuple[str, ...], *names: str) -> tuple[str, ...]:
    return tuple(f"{root}{name}" for name in names for root in roots)


@dataclass(frozen=True)
class StateDictLayout:
    """Names of one trainer: each tuple has one for each of its versions, and the first that is there counts."""

    dense: tuple[str, ...]
    """Prefixes of the numbers of the dense layers."""
    activation: str
    """Activation in the trainer's examples; empty if they differ."""
    head: tuple[str, ...] = ()
    """The last layer, if it has a name of its own."""
    recurrent: tuple[str, ...] = ()
    """Prefixes of `weight_ih_l0`."""
    norm: tuple[str, ...] = ()
    """A layer normalization behind the recurrent layers."""
    scaler: tuple[str, ...] = ()
    """Prefixes of the two names of the normalizer's statistics."""
    statistics: tuple[str, str] = ("", "")
    """Mean and variance, or deviation."""
    is_variance: bool = True
    epsilon: float = 0.0
    epsilon_inside: bool = False
    """True if epsilon is added to the variance, and not to the deviation."""
    clip: float | None = None
    squashed: tuple[str, ...] = ()
    """Heads, or names before dense layers, with tanh behind the last layer."""
    off_policy_activation: str = "relu"
    """Activation of the squashed actors."""
    cell_after: tuple[int, ...] = (0,)
    """How many dense layers may stand before the recurrent ones; -1 for all but the head."""
    is_chain: bool = False
    """True if the critic's layers are numbered on from the actor's: the actor ends where sizes no longer fit."""
    doubled: bool = False
    """True if the last layer writes the mean and then the deviation."""


_CLEAN_ROOTS = ("", "0.", "0.params.", "params.")
_GAMES = ("model.a2c_network.", "a2c_network.")
_BRAX_ROOTS = ("1.params.", "1.", "params.", "")
_FLAX_ROOTS = ("params.", "", "params.params.", "0.params.", "actor.params.", "actor.")
LAYOUTS = {
    "rsl_rl": StateDictLayout(
        dense=(
            *("student_state_dict.mlp", "actor_state_dict.mlp", "model_state_dict.student", "model_state_dict.actor"),
            *("student", "mlp", "actor"),
        ),
        activation="elu",
        recurrent=(
            *("student_state_dict.rnn.rnn", "actor_state_dict.rnn.rnn"),
            *(
                "model_state_dict.memory_s.rnn",
                "model_state_dict.memory_a.rnn",
                "rnn.rnn",
                "memory_s.rnn",
                "memory_a.rnn",
            ),
        ),
        scaler=(
            *("student_state_dict.obs_normalizer", "actor_state_dict.obs_normalizer"),
            *(
                "model_state_dict.student_obs_normalizer",
                "model_state_dict.actor_obs_normalizer",
                "obs_norm_state_dict",
            ),
            *("obs_normalizer", "student_obs_normalizer", "actor_obs_normalizer"),
        ),
        statistics=("_mean", "_std"),
        is_variance=False,
        epsilon=1e-2,
    ),
    "skrl": StateDictLayout(
        dense=_under(("policy.", ""), "net_container", "net"),
        activation="elu",
        head=tuple(f"{start}{name}_layer" for start in ("policy.", "") for name in ("output", "policy", "mean")),
        recurrent=tuple(f"{start}{name}" for start in ("policy.", "") for name in ("gru", "lstm", "rnn")),
        scaler=("observation_preprocessor", "state_preprocessor"),
        statistics=("running_mean", "running_variance"),
        epsilon=1e-8,
        clip=5.0,
    ),
    "cleanrl": StateDictLayout(
        dense=_under(_CLEAN_ROOTS, "actor_mean", "fc", "Dense_"),
        activation="tanh",
        head=_under(_CLEAN_ROOTS, "fc_mean", "fc_mu"),
        recurrent=_under(_CLEAN_ROOTS, "gru", "lstm", "rnn"),
        squashed=_under(_CLEAN_ROOTS, "fc_mean", "fc_mu", "Dense_"),
    ),
    "rl_games": StateDictLayout(
        dense=_under(_GAMES, "actor_mlp"),
        activation="elu",
        head=_under(_GAMES, "mu"),
        recurrent=_under(_GAMES, "rnn.rnn", "a_rnn.rnn"),
        norm=_under(_GAMES, "layer_norm", "a_layer_norm"),
        scaler=("model.running_mean_std", "running_mean_std"),
        statistics=("running_mean", "running_var"),
        epsilon=1e-5,
        epsilon_inside=True,
        clip=5.0,
        cell_after=(-1, 0),
    ),
    "sb3": StateDictLayout(
        dense=("mlp_extractor.policy_net", "actor.latent_pi", "actor.mu"),
        activation="tanh",
        head=("action_net", "actor.mu"),
        recurrent=("lstm_actor",),
        squashed=("actor.mu",),
    ),
    "brax": StateDictLayout(
        dense=_under(_BRAX_ROOTS, "MLP_0.hidden_", "hidden_"),
        activation="",
        head=_under(_BRAX_ROOTS, "Dense_0"),
        scaler=("0",),
        statistics=("mean", "std"),
        is_variance=False,
        doubled=True,
    ),
    "jaxmarl": StateDictLayout(
        dense=_under(_FLAX_ROOTS, "Dense_"),
        activation="tanh",
        recurrent=_under(_FLAX_ROOTS, "ScannedRNN_0.GRUCell_0"),
        cell_after=(1,),
        is_chain=True,
    ),
}
