"""Commands of soccer robots: acceleration in the plane, yaw rate and kick. The filter's constraints
are on the acceleration.

A kick moves the ball, not the robot: it passes through, unless the filter has to fall back to
braking. The constraints' inputs about opponents out of sight and about boards are in
`opponent_memory`, those about teammates in sight in `mates_in_sight`. Players that would stand on
both sides of the ball for ever take turns by `stand_off`, before the filter, where a policy moves them.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.filter.filter import Backend, Mode, SafetyFilter
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.core.mates_in_sight import MateMemory, placed_by_sight
from robomarl.domains.soccer.core.opponent_memory import before_boards, recall
from robomarl.domains.soccer.core.stand_off import StandOff, take_turns

KICK = "kick"


class PlayerCarry(NamedTuple):
    """`FilterCarry`, field by field, and the sightings of opponents."""

    commands: Array
    plan: Plan
    place_m: Array
    bias: Bias
    ok: Array
    seen: Strangers | tuple[()] = ()
    """The last sighting of every opponent, [..., S]; empty before the first decision."""
    stand: StandOff | tuple[()] = ()
    """Memory of stand-offs at the ball; empty before the policy's first decision, also after an operator's."""
    mates: MateMemory | tuple[()] = ()
    """Teammates that were seen; empty before the first picture of one."""


class PlayerFilter(SafetyFilter):
    """The filter for commands [..., 4] of a player: acceleration x and y, yaw rate, kick speed."""

    def __init__(self, params: SafetyParams, mode: Mode = "qp", backend: Backend = "auto") -> None:
        """Create the filter as `SafetyFilter`, with an arena that ends a little behind the boards."""
        super().__init__(before_boards(params), mode, backend)
        self.params = params

    def init(self, batch: tuple[int, ...] = ()) -> PlayerCarry:  # type: ignore[override]
        """The memory before the first decision, for robots with these leading axes."""
        return PlayerCarry(*super().init(batch))

    def __call__(  # type: ignore[override]
        self, carry: PlayerCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[PlayerCarry, FilterResult]:
        """Filter a policy's decision; as `SafetyFilter`, the view in the frame of the acceleration, the team's field.
        Players take turns at the ball.
        """
        nominal = np.asarray(nominal)
        view, seen = recall(self.params, carry.seen, view)
        stand, asked = take_turns(carry.stand, view, nominal, self.params)
        view, mates = placed_by_sight(self.params, carry.mates, view)
        after, result = super().__call__(FilterCarry(*carry[:-3]), view, of_vehicle(asked), gain_per_s)
        return PlayerCarry(*after, seen, stand, mates), of_player(result, nominal, asked)

    def unruled(self, carry: PlayerCarry, view: LocalView, nominal: Array) -> tuple[PlayerCarry, FilterResult]:
        """Filter the command of another source, such as an operator's, which moves players: nobody takes turns."""
        nominal = np.asarray(nominal)
        view, seen = recall(self.params, carry.seen, view)
        view, mates = placed_by_sight(self.params, carry.mates, view)
        after, result = super().__call__(FilterCarry(*carry[:-3]), view, of_vehicle(nominal))
        return PlayerCarry(*after, seen, (), mates), of_player(result, nominal, nominal)

    def blind(  # type: ignore[override]
        self, carry: PlayerCarry, view: LocalView, since_s: Array
    ) -> tuple[PlayerCarry, np.ndarray]:
        """Decide in a tick without an estimate, as `SafetyFilter.blind`; the sightings of robots stay as they
        were.
        """
        after, command = super().blind(FilterCarry(*carry[:-3]), view, since_s)
        return PlayerCarry(*after, carry.seen, carry.stand, carry.mates), command


def of_vehicle(nominal: Array) -> Array:
    """A player's command as the filter of its vehicle takes it: acceleration [..., 3] and yaw rate."""
    ax, ay, turn = (nominal[..., i] for i in range(3))
    return namespace(nominal).stack([ax, ay, ax * 0, turn], -1)


def of_player(result: FilterResult, nominal: Array, asked: Array) -> FilterResult:
    """The filter's result with the player's command: the kick where the filter did not fall back.

    Args:
        result: of the vehicle's filter.
        nominal: [..., 4] the policy's command.
        asked: [..., 4] the command that the filter was given: that of a player that yields, or the policy's.
    """
    xp, sent, kick = namespace(nominal), result.command, asked[..., 3]
    kick = xp.where(xp.asarray(result.solved) & xp.isfinite(kick), kick, 0.0)
    command = xp.stack([sent[..., 0], sent[..., 1], sent[..., 3], kick], -1)
    return result._replace(command=command, nominal=nominal, active=result.active | (asked != nominal).any(-1))
