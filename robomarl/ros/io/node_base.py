"""Common parts of all nodes: publishers and mailboxes from the topic table, and the life of a process."""

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import rclpy
import rclpy.utilities
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.publisher import Publisher

from robomarl.core.config import UserError
from robomarl.ros.environment_check.check import check_environment
from robomarl.ros.intake.mailbox import Mailbox as Mailbox
from robomarl.ros.intake.quality import message_class, qos_of
from robomarl.ros.io.processes import PARENT_ENV
from robomarl.ros.io.security import check_security, is_enforced, refused
from robomarl.ros.timing.failed import told
from robomarl.ros.timing.priority import hurry, real_time
from robomarl.ros.timing.stamp import SECOND_NS, Stamp
from robomarl.ros.topics import Topic

RCLError, RMWError = _rclpy.RCLError, _rclpy.RMWError
T = TypeVar("T")
N = TypeVar("N", bound=Node)
_PR_SET_PDEATHSIG = 1


def publisher(node: Node, topic: Topic, name: str) -> Publisher:
    """A publisher of the topic table."""
    return node.create_publisher(message_class(topic.type), name, qos_of(topic))


def now_s(node: Node) -> float:
    """Return the time [s] of the node's clock, which stamps messages."""
    return Stamp.of(*divmod(node.get_clock().now().nanoseconds, SECOND_NS))


def spin(node: Node) -> None:
    """Let rclpy's executor serve a node until the context is shut down."""
    if not node.context.ok():  # what ticks in a thread has failed already, and said so
        return
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while node.context.ok():
        serve(executor, node)


def serve(executor: SingleThreadedExecutor, node: Node, timeout_s: float | None = None) -> None:
    """Let rclpy's executor do one thing; an error in it is logged and left out, and the node goes on."""
    try:
        executor.spin_once(timeout_sec=timeout_s)
    except (KeyboardInterrupt, ExternalShutdownException):
        raise
    except Exception as error:
        if node.context.ok():  # otherwise we were told to stop, and something was on its way
            node.get_logger().error(f"left out: {told(error)}")


def run_node(
    make: Callable[[], N],
    args: list[str] | None = None,
    urgent: bool = False,
    run: Callable[[N], None] = spin,
    name: str = "",
) -> int:
    """Spin a node until it is told to stop; returns the exit status.

    Args:
        make: makes the node.
        args: command line; by default the process's own.
        urgent: go before other programs of this machine, where the system allows that.
        run: serves the node until it is told to stop.
        name: of the node in errors; "": that of `make`.
    """
    node, begun = None, False
    try:
        check_environment()
        check_security(rclpy.utilities.get_rmw_implementation_identifier())
        secured(lambda: rclpy.init(args=args))
        begun = True
        die_with_parent()
        if urgent:
            hurry()
        node = secured(make)
        if urgent and run is spin:  # who has a loop of its own is in real time as long as it ticks
            real_time()
        run(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        _end_in_silence()
    except Exception as error:
        if begun and not rclpy.ok():  # what ended it was said before, and this comes of that
            _end_in_silence()
        else:
            _tell(error, name or getattr(make, "__name__", "node"))
        return 1
    finally:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # pressed twice, or by a shell and a launcher: it ends now
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 1 if getattr(node, "failed", False) else 0


def take_node_name(known: Collection[str]) -> str:
    """Return the node to run, of those of a module: its console script was called, or the first argument names it.

    Raises:
        SystemExit: neither of both; the text names the nodes.
    """
    called = Path(sys.argv[0]).stem
    if called in known:
        return called
    if len(sys.argv) < 2 or sys.argv[1] not in known:
        raise SystemExit(f"{called}: the first argument must be one of {', '.join(known)}")
    return sys.argv.pop(1)


def _end_in_silence() -> None:
    """Silence destructors, so that objects left half built by Ctrl-C, such as an executor of rclpy, print nothing."""
    sys.unraisablehook = lambda _: None


def _tell(error: Exception, name: str) -> None:
    """Print in a sentence why a node ended."""
    if isinstance(error, ParameterException):
        print(f"{name}: {error}; mend the parameter.", file=sys.stderr)
    elif isinstance(error, UserError):
        print(error, file=sys.stderr)
    else:
        get_logger(name).fatal(told(error))


def secured(make: Callable[[], T]) -> T:
    """Return the result of `make`: a context, a node.

    Raises:
        UserError: ROS fails, with the reason in its own words; with security enforced, because the
            middleware has none.
    """
    try:
        return make()
    except RCLError as error:
        if is_enforced():
            raise refused(error) from None
        first = str(error).splitlines()[0].partition(", at /")[0].strip().rstrip(".")
        raise UserError(f"ROS did not start: {first}; mend the environment or the arguments that it names.") from None


def tidy_memory() -> None:
    """Clean up after loading: freeze present objects, and return memory that only loading needed to the system
    (glibc).
    """
    gc.collect()
    gc.freeze()  # the collector need not look at it within a tick
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def die_with_parent() -> None:
    """Ask the kernel for SIGTERM when the runner that started us is gone (Linux; nothing elsewhere)."""
    parent = os.environ.get(PARENT_ENV)
    if not parent or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent) and not Path("/proc", parent).exists():  # it was gone before we asked
        os.kill(os.getpid(), signal.SIGTERM)
