"""`GiveWay`: agreed rules against deadlock. They change the nominal command, before the filter. Array-generic.

Reactive filters have stable standstills, most of all between robots that want to swap places
(Grover, Liu, Sycara, arXiv 1911.09146). The rules are agreed, not negotiated. A robot that is going
to come near a mate on the way to its goal keeps to the mate's right, and above or below, wherever
it is already. A crowd flies around its middle (`roundabout`). At a narrow place the second robot
waits (`passages`). A robot that the filter still holds far from its goal tries further to its right
for a while, then back, then to its left. Safety is untouched, as the filter comes after.
"""

import numpy as np

from robomarl.core.filter.deadlock_rules import passages, roundabout
from robomarl.core.filter.deadlock_rules.detours import turn_right
from robomarl.core.filter.deadlock_rules.meeting import keep_right, meet
from robomarl.core.filter.deadlock_rules.memory import WayCarry
from robomarl.core.filter.deadlock_rules.passages import Lookout, Passage
from robomarl.core.filter.filter import Backend
from robomarl.core.filter.kernel import usable
from robomarl.core.filter.kernel.ways import KernelWays
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView


class GiveWay:
    """Rules of one type of vehicle; without state of its own.

    Args:
        params: parameters of the filter that comes after.
        backend: `c`, the C kernel, which decides for one robot where there are no obstacles; `numpy`,
            Python; `auto`, the kernel if it can be used. Both give equal results in every bit.
    """

    def __init__(self, params: SafetyParams, backend: Backend = "auto") -> None:
        """Keep the parameters.

        Raises:
            UserError: backend `c`, and the kernel was not built here.
        """
        self.params = params
        in_c = backend == "c" or (backend == "auto" and usable())
        self._kernel = KernelWays(params) if in_c and not params.obstacles else None

    def init(self, zero: Array) -> WayCarry:
        """The memory before the first decision; `zero` has its leading axes [...]."""
        passage = passages.no_passage(zero) if self.params.obstacles else ()
        return WayCarry(zero, zero, zero, zero > 0, roundabout.no_roundabout(zero), passage)

    def __call__(self, carry: WayCarry, view: LocalView, nominal: Array) -> tuple[WayCarry, Array]:
        """Make one decision for every robot.

        Args:
            carry: memory that `after` returned for the last decision, or `init`.
            view: view of the robots; places and velocities are read.
            nominal: [..., A] command with accelerations as its first three components, world frame [m/s^2].

        Returns:
            The memory, and the command for the filter [..., A].
        """
        if self._kernel and type(nominal) is np.ndarray and nominal.ndim == 1:
            if found := self._kernel.plain(carry, view, nominal):
                return found
        carry, asked = self._in_traffic(carry, view, nominal)
        if not isinstance(carry.passage, Passage):
            return turn_right(carry, view, asked, self.params.period_s)
        return self._at_passages(carry, view, (nominal, asked))

    def after(self, carry: WayCarry, result: FilterResult) -> WayCarry:
        """The memory once the filter has decided."""
        return carry._replace(active=result.active)

    def _in_traffic(self, carry: WayCarry, view: LocalView, nominal: Array) -> tuple[WayCarry, Array]:
        """Lead robots around a crowd, or to the right of mates in the way; a robot that leaves a roundabout goes
        straight."""
        xp, params = namespace(nominal, view.own.pos_m), self.params
        found = meet(view, params.limits.speed_m_s)
        right = keep_right(params, view, nominal, found)
        if found.near.shape[-1] + 1 < roundabout.CROWD:
            return carry, right
        disc, blocks = roundabout.update(params, carry.roundabout, view, found.near)
        led = xp.concatenate([roundabout.steer(params, disc, view), nominal[..., 2:]], -1)
        asked = xp.where((disc.known_s > 0)[..., None], nominal, right)
        return carry._replace(roundabout=disc), xp.where(blocks[..., None], led, asked)

    def _at_passages(self, carry: WayCarry, view: LocalView, commands: tuple[Array, Array]) -> tuple[WayCarry, Array]:
        """Decide as `__call__`, where there are obstacles; `commands` are the nominal one and the one that
        keeps to the right."""
        assert isinstance(carry.passage, Passage), "there is one where there are obstacles"
        xp, (nominal, asked) = namespace(view.own.pos_m, commands[0]), commands
        lookout = passages.look(self.params, carry.passage, view)
        here = passages.placed(lookout.passage, view.own.pos_m[..., :2])
        near = (lookout.passage.known_s > 0) & (here.along_m > -passages.REACH_M)
        asked = xp.where((near | ~lookout.right_is_free)[..., None], nominal, asked)
        turned, free = turn_right(carry, view, asked, self.params.period_s)
        parts = (xp.where(near, a, b) for a, b in zip(carry[:4], turned[:4], strict=True))
        carry = WayCarry(*parts, roundabout=turned.roundabout, passage=turned.passage)
        wait, lookout = self._wait(lookout, view, near)
        steers, accel = passages.steer(self.params, lookout, view, wait)
        led = xp.concatenate([accel, nominal[..., 2:]], -1)
        asked = xp.where(near[..., None], xp.where(steers[..., None], led, asked), free)
        return carry._replace(passage=lookout.passage), asked

    def _wait(self, lookout: Lookout, view: LocalView, near: Array) -> tuple[Array, Lookout]:
        """Return which robots wait, and the lookout with their waiting times."""
        xp, passage = namespace(near), lookout.passage
        second = near & passages.must_wait(passage, view)
        bold = passage.waited_s >= passages.PATIENCE_S
        waits = xp.where(second | bold, passage.waited_s + self.params.period_s, 0.0)
        waits = xp.where(waits > passages.PATIENCE_S + passages.BOLD_S, 0.0, waits)
        return second & ~bold, lookout._replace(passage=passage._replace(waited_s=waits))
