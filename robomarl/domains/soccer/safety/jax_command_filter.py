"""`PlayerFilter` in JAX, for training with it in the loop."""

import jax
import jax.numpy as jnp

from robomarl.domains.soccer.onboard.command_filter import PlayerCarry, of_player, of_vehicle
from robomarl.domains.soccer.onboard.opponent_memory import before_boards, recall
from robomarl.safety.jax_filter import JaxFilter
from robomarl.safety.memory import FilterCarry
from robomarl.safety.model.strangers import Strangers
from robomarl.safety.params import SafetyParams
from robomarl.types import FilterResult
from robomarl.view import LocalView


class JaxPlayerFilter(JaxFilter):
    """As `PlayerFilter`, for JAX arrays with any leading axes; its result is not differentiated."""

    def __init__(self, params: SafetyParams, opponents: int) -> None:
        """Work out the constants; `opponents` is S, how many the view has rows for."""
        super().__init__(before_boards(params), "qp")
        self.params = params
        self._opponents = opponents

    def init(self, batch: tuple[int, ...] = ()) -> PlayerCarry:  # type: ignore[override]
        """The memory before the first decision: nobody was seen."""
        none = jnp.zeros((*batch, self._opponents))
        place = jnp.zeros((*none.shape, 3))
        return PlayerCarry(*super().init(batch), Strangers(none > 0, place, place, none))

    def __call__(  # type: ignore[override]
        self, carry: PlayerCarry, view: LocalView, nominal: jax.Array, gain_per_s: jax.Array | None = None
    ) -> tuple[PlayerCarry, FilterResult]:
        """Filter one decision; see `PlayerFilter.__call__`."""
        view, seen = recall(self.params, carry.seen, view)
        after, result = super().__call__(FilterCarry(*carry[:-1]), view, of_vehicle(nominal), gain_per_s)
        return PlayerCarry(*after, seen), of_player(result, nominal)
