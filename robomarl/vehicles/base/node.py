"""`base_node`: drives TurtleBots and other bases that take a Twist, for their policy nodes. A
lifecycle node.

- configure: the bases' wheels and their localization become `NAME/odometry`; nothing is sent.
- activate: `NAME/command` becomes `NAME/cmd_vel`, through the watch
  (`robomarl.vehicles.base.watch`).
- deactivate: bases stop. Services `NAME/vehicle/stop` and `NAME/vehicle/reset`.

It runs next to the base, on its own computer if it can: the reaction to lost commands happens here.
"""

import sys

from robomarl.ros.io.node_base import run_node
from robomarl.ros.robot.health import DiagnosticEntry
from robomarl.ros.settings import BaseSettings
from robomarl.vehicles.adapter_node import AdapterNode, EStop, offer_orders
from robomarl.vehicles.base.seat import BaseSeat, seats


class BaseNode(AdapterNode[BaseSettings]):
    """All bases of a team, or one."""

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("base_node", BaseSettings)
        self._seats: list[BaseSeat] = []
        self.begin()

    def prepare(self, settings: BaseSettings) -> None:
        """Listen to the bases."""
        self._seats = seats(self, settings)
        for seat in self._seats:
            offer_orders(self, f"{settings.base}/{seat.name}", {"stop": seat.stop, "reset": seat.reset})
        self._estop = EStop(self, settings.base)

    def destroy_node(self) -> None:
        """Stop the bases first."""
        if self.stop_ticking():
            for seat in self._seats:
                seat.leave()
        super().destroy_node()

    def tick(self) -> None:
        """Commands to the bases, while it is active."""
        pressed = self._estop.is_pressed()
        for seat in self._seats:
            state, why = seat.tick(self._active, pressed)
            self.note(seat.name, state, why)

    def entries(self) -> list[DiagnosticEntry]:
        """How each base is."""
        for seat in self._seats:
            seat.look_around()
        return [seat.entry() for seat in self._seats]


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl base_node`."""
    return run_node(BaseNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
