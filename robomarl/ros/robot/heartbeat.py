"""`Heartbeat`: the E-stop as one robot receives it. `state_machine` latches it; silence is no
permission.

No ROS here. The monitor publishes several times a second whether the E-stop is pressed. A robot
without that message may not move, and a robot that receives two monitors does not begin to. The
relevant silence is the one that the robot finds when it looks, before it reads waiting messages: a
process that was stopped for longer than the limit lands its robot (`timing.steady`).
"""

from collections.abc import Hashable

from robomarl.ros.robot.inbox import Problem
from robomarl.ros.timing.steady import Silence

PRESS_HOLDS_S = 2.0
"""Time [s] for which a press by a publisher that is no monitor counts; `ros2 topic pub` repeats its message once a
second.
"""
REMEMBERED_S = 0.5
"""Minimum time [s] from a silence to the start of a motion: an order that waited meanwhile is not carried out."""


class Presses:
    """Memory of presses by publishers other than a monitor.

    A press that is not repeated ends by itself, because every receiver latches it: robots stay in
    ESTOP, and their monitor presses too, until an operator resets them. No robot can be reset while a
    publisher goes on pressing.
    """

    def __init__(self) -> None:
        """Start without a press."""
        self._pressed_s: dict[Hashable, float] = {}

    def hear(self, sender: Hashable, pressed: bool, now_s: float) -> None:
        """Note a publisher's message at a time [s]; its release takes back its own press only."""
        if pressed:
            self._pressed_s[sender] = now_s
        else:
            self._pressed_s.pop(sender, None)

    def hold(self, now_s: float) -> bool:
        """Return True if a publisher has pressed within `PRESS_HOLDS_S`."""
        self._pressed_s = {who: at_s for who, at_s in self._pressed_s.items() if now_s - at_s <= PRESS_HOLDS_S}
        return bool(self._pressed_s)


class Heartbeat:
    """State of the E-stop by the messages of the monitors."""

    def __init__(self, patience_s: float) -> None:
        """Nothing has been heard.

        Args:
            patience_s: silence for longer than this means that the link to the E-stop is lost.
        """
        self._patience_s = patience_s
        self._pressed: dict[str, bool] = {}
        self._silences: dict[str, Silence] = {}
        """Silences by monitor, as `_pressed`."""
        self._presses = Presses()

    def hear(self, sender: str, pressed: bool, steady_s: float, waited_s: float = 0.0) -> None:
        """Note a monitor's message on whether the E-stop is pressed.

        A press by a monitor that died holds until another monitor, which has pressed too, releases.

        Args:
            sender: the monitor.
            pressed: state that it reported.
            steady_s: time at which the robot looked for messages [s].
            waited_s: time that the message had waited then [s].
        """
        if self._pressed.get(sender) and not pressed:
            for silent in self._silent(steady_s):
                self._forget(silent)
        self._pressed[sender] = pressed
        self._silences.setdefault(sender, Silence(REMEMBERED_S)).hear(steady_s, waited_s)

    def hear_press(self, sender: str, pressed: bool, steady_s: float) -> None:
        """Note a message on the E-stop from a publisher that is no monitor; its release and its silence permit
        nothing.

        Args:
            sender: the publisher.
            pressed: state that it reported.
            steady_s: time at which the robot looked for messages [s].
        """
        self._presses.hear(sender, pressed, steady_s)

    def alive(self, steady_s: float) -> bool:
        """True if a monitor was heard of late, without a silence over the limit just before."""
        return any(silence.of(steady_s) <= self._patience_s for silence in self._silences.values())

    def pressed(self, steady_s: float) -> bool:
        """Return True if any monitor's last report was that the E-stop is pressed, or another publisher's press
        holds.
        """
        return any(self._pressed.values()) or self._presses.hold(steady_s)

    def problems(self, steady_s: float) -> list[Problem]:
        """Return the problems that keep the robot from beginning to move."""
        silent = self._silent(steady_s)
        heard = [sender for sender in self._pressed if sender not in silent]
        for sender in silent:
            if not self._pressed[sender]:  # a monitor that was replaced
                self._forget(sender)
        if not heard:
            return [Problem("monitor", "no heartbeat of the E-stop; start monitor_node")]
        if len(heard) > 1:
            return [Problem("monitor", f"{len(heard)} monitors send the heartbeat of the E-stop; stop all but one")]
        return [Problem("monitor", "the E-stop is pressed")] if self.pressed(steady_s) else []

    def _silent(self, steady_s: float) -> list[str]:
        """Monitors that are not heard now."""
        return [name for name, silence in self._silences.items() if steady_s - silence.heard_s > self._patience_s]

    def _forget(self, sender: str) -> None:
        del self._pressed[sender], self._silences[sender]
