"""One thread of a policy node: it waits for the sensor, ticks, and serves requests to the node in
between.

rclpy's executor rebuilds its wait set at every turn, which takes longer than a tick. So it gets its
turn between two ticks, and only after a request. Otherwise the thread waits for the sensor's
subscription only.
"""

import gc
import time
from collections.abc import Callable

from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.subscription import Subscription

from robomarl.ros.io.node_base import serve
from robomarl.ros.timing.metronome import Beat, Metronome

SERVE_EVERY_S = 0.05
"""Services are looked at so often, if there is time between two ticks."""
TIDY_EVERY_S = 1.0
"""Interval [s] at which the executor gets its turn without a request, for entities other than services."""
SERVE_AT_LEAST_S = 0.25
"""And so often even if there is not."""
SERVE_ROOM_S = 0.003
"""Time that must be left before the next window."""
IDLE_S = 0.1


class Awaited:
    """Waits for one subscription of a `Mailbox`."""

    def __init__(self, node: Node, subscription: Subscription) -> None:
        """Make the wait set once."""
        self._subscription = subscription
        context = node.context.handle
        assert context is not None
        self._set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, context)

    def __call__(self, timeout_s: float) -> bool:
        """Return True if a message is there, now or within the time."""
        with self._subscription.handle, self._set:
            self._set.clear_entities()
            index = self._set.add_subscription(self._subscription.handle)
            self._set.wait(max(int(timeout_s * 1e9), 0))
            return self._set.is_ready("subscription", index)


class Asked:
    """Detector of calls to a node's services."""

    def __init__(self, node: Node) -> None:
        """Take the services that the node has now."""
        self._services = list(node.services)
        context = node.context.handle
        assert context is not None
        self._set = _rclpy.WaitSet(0, 0, 0, 0, len(self._services), 0, context)

    def __call__(self) -> bool:
        """Look; does not wait."""
        with self._set:
            self._set.clear_entities()
            places = [self._set.add_service(service.handle) for service in self._services]
            self._set.wait(0)
            return any(self._set.is_ready("service", place) for place in places)


class Loop:
    """Runs the ticks of one node, once `begin` has been called."""

    def __init__(
        self,
        node: Node,
        tick: Callable[[Beat], None],
        failed: Callable[[BaseException], None],
        between: Callable[[], None] = lambda: None,
    ) -> None:
        """Start without ticks.

        Args:
            node: node with the services to serve.
            tick: called when a tick is due.
            failed: called with the error that `tick` raised; there are no ticks after that until `begin` is
                called again.
            between: called some times a second, between two ticks or without ticks; raises nothing.
        """
        self._between = between
        self.prefer: Callable[[bool], None] = lambda on: None
        """Called when ticks begin and when they have ended: a process of its own goes before others meanwhile."""
        self._node, self._tick, self._failed = node, tick, failed
        self._metronome: Metronome | None = None
        self._awaited: Awaited | None = None
        self._asked = lambda: True
        self._looked_s = self._served_s = 0.0

    def begin(self, period_s: float, subscription: Subscription) -> None:
        """Tick from now on, in step with the messages of a subscription."""
        self._awaited, self._asked = Awaited(self._node, subscription), Asked(self._node)
        self._metronome = Metronome(period_s, time.monotonic() + period_s)
        self.prefer(True)

    def end(self) -> None:
        """No more ticks."""
        if self._metronome is not None:
            self.prefer(False)
        self._metronome = self._awaited = None

    def run(self) -> None:
        """Tick and serve until the context is shut down."""
        executor = SingleThreadedExecutor()
        executor.add_node(self._node)
        while self._node.context.ok():
            if self._metronome is None or self._awaited is None:
                serve(executor, self._node, IDLE_S)
                self._between()
                continue
            self._turn(self._metronome, self._awaited)
            self._serve(executor)

    def _turn(self, metronome: Metronome, awaited: Awaited) -> None:
        """One tick, when it is due."""
        try:
            if (early_s := metronome.opens_s - time.monotonic()) > 0:
                time.sleep(early_s)
            came = awaited(metronome.closes_s - time.monotonic())
            gc.disable()  # what a tick leaves behind is collected after it
            self._tick(metronome.beat(time.monotonic(), came))
        except Exception as error:
            self.end()
            self._failed(error)
        finally:
            gc.enable()

    def _serve(self, executor: SingleThreadedExecutor) -> None:
        """Let the executor answer requests, if there is time."""
        now_s, metronome = time.monotonic(), self._metronome
        since_s = now_s - self._looked_s
        if metronome is not None and since_s < SERVE_AT_LEAST_S:
            if since_s < SERVE_EVERY_S or metronome.opens_s - now_s < SERVE_ROOM_S:
                return
        self._looked_s = now_s
        if self._asked() or now_s - self._served_s > TIDY_EVERY_S:
            self._served_s = now_s
            serve(executor, self._node, 0.0)
        self._between()
