"""`Heartbeat`: the E-stop as one robot hears it. `state_machine` latches it; silence is no permission.

No ROS here. The monitor says several times a second whether the E-stop is pressed. A robot without that message
may not move, and one that hears two monitors does not begin to.
"""

from robomarl.ros_nodes.robot.inbox import Problem


class Heartbeat:
    """What the monitors say."""

    def __init__(self, patience_s: float) -> None:
        """Nothing has been heard.

        Args:
            patience_s: silence for longer than this means that the link to the E-stop is lost.
        """
        self._patience_s = patience_s
        self._said: dict[str, tuple[bool, float]] = {}

    def hear(self, sender: str, pressed: bool, steady_s: float) -> None:
        """A monitor said whether the E-stop is pressed.

        The word of a monitor that died stands until another one that knew of it, and said so, releases.
        """
        if self._said.get(sender, (False, 0.0))[0] and not pressed:
            self._said = {s: said for s, said in self._said.items() if steady_s - said[1] <= self._patience_s}
        self._said[sender] = pressed, steady_s

    def alive(self, steady_s: float) -> bool:
        """A monitor was heard of late."""
        return any(steady_s - heard_s <= self._patience_s for _, heard_s in self._said.values())

    def pressed(self) -> bool:
        """Any monitor's last word was that the E-stop is pressed."""
        return any(pressed for pressed, _ in self._said.values())

    def problems(self, steady_s: float) -> list[Problem]:
        """What stands against beginning to move."""
        heard = [sender for sender, (_, heard_s) in self._said.items() if steady_s - heard_s <= self._patience_s]
        for sender in [s for s in self._said if s not in heard and not self._said[s][0]]:
            del self._said[sender]  # a monitor that was replaced
        if not heard:
            return [Problem("monitor", "no heartbeat of the E-stop; start monitor_node")]
        if len(heard) > 1:
            return [Problem("monitor", f"{len(heard)} monitors send the heartbeat of the E-stop; stop all but one")]
        return [Problem("monitor", "the E-stop is pressed")] if self.pressed() else []
