"""`PlayerFilter` in JAX, for training with it in the loop."""

import jax
import jax.numpy as jnp

from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import FilterResult
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.command_filter import PlayerCarry, of_player, of_vehicle
from robomarl.domains.soccer.core.mates_in_sight import no_mates, placed_by_sight
from robomarl.domains.soccer.core.opponent_memory import before_boards, recall
from robomarl.domains.soccer.core.stand_off import no_stand_off, take_turns
from robomarl.lab.jax_filter.filter import JaxFilter


class JaxPlayerFilter(JaxFilter):
    """`PlayerFilter` for JAX arrays with any leading axes; its result is not differentiated."""

    def __init__(self, params: SafetyParams, opponents: int) -> None:
        """Work out the constants; `opponents` is S, how many the view has rows for."""
        super().__init__(before_boards(params), "qp")
        self.params = params
        self._opponents = opponents

    def init(self, batch: tuple[int, ...] = ()) -> PlayerCarry:  # type: ignore[override]
        """Return the memory before the first decision: no opponent was seen."""
        none = jnp.zeros((*batch, self._opponents))
        place = jnp.zeros((*none.shape, 3))
        seen = Strangers(none > 0, place, place, none)
        return PlayerCarry(*super().init(batch), seen, no_stand_off(jnp.zeros(batch)), no_mates(none[..., 1:]))

    def __call__(  # type: ignore[override]
        self, carry: PlayerCarry, view: LocalView, nominal: jax.Array, gain_per_s: jax.Array | None = None
    ) -> tuple[PlayerCarry, FilterResult]:
        """Filter one decision; see `PlayerFilter.__call__`."""
        view, seen = recall(self.params, carry.seen, view)
        stand, asked = take_turns(carry.stand, view, nominal, self.params)
        view, mates = placed_by_sight(self.params, carry.mates, view)
        after, result = super().__call__(FilterCarry(*carry[:-3]), view, of_vehicle(asked), gain_per_s)
        return PlayerCarry(*after, seen, stand, mates), of_player(result, nominal, asked)
