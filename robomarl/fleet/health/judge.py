"""Health of a robot on its current bundle. This half runs on the robot.

If a policy node runs, it reports itself: it configures on the bundle and ticks. If none runs, a
process of its own does the steps of a node's start: the bundle read from the disk, golden values,
the filter, real decisions.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.fleet.checks.isolated_check import start_bundle
from robomarl.fleet.health.node_status import BusyError, NodeStatus, read_status

NODE_S = 30.0
"""Longest that a node may take to come up with a bundle."""
TICKS = 20
"""Number of ticks that a node must have made with the bundle."""
LOOK_S = 0.1


@dataclass(frozen=True)
class RobotHealth:
    """Health of a robot, and the source of the verdict."""

    healthy: bool
    by: str
    """`node` or `check`."""
    reason: str = ""
    """Why not."""


def await_health(root: Path, folder: Path, bundle_id: str, switched: bool) -> RobotHealth:
    """Wait for the node's report, or check in its place.

    Args:
        root: folder of the robot.
        folder: folder of the bundle.
        bundle_id: id of the bundle to be flown.
        switched: it has become current just now, and is not confirmed: a node goes along; see
            `Follower`.
    """
    end, status = time.monotonic() + NODE_S, None
    while time.monotonic() < end:
        try:
            status = read_status(root)
            if status is None or not (switched or status.bundle_id):
                return _started(folder, bundle_id)
        except BusyError:
            continue  # it loads, which is what is waited for
        except UserError as error:
            return RobotHealth(False, "node", str(error))
        if (verdict := _verdict(status, bundle_id)) is not None:
            return verdict
        if not switched and status.bundle_id != bundle_id:
            return RobotHealth(
                False, "node", f"its policy node has bundle {status.bundle_id[:12]}; configure it again."
            )
        time.sleep(LOOK_S)
    stands = f"it is {status.state} with {status.bundle_id[:12] or 'no bundle'}" if status else "it does not answer"
    late = f"{root}: its policy node did not come up with bundle {bundle_id[:12]} in {NODE_S:g} s, {stands}; "
    return RobotHealth(False, "node", f"{late}look at its log.")


def _verdict(status: NodeStatus, bundle_id: str) -> RobotHealth | None:
    if status.problem and bundle_id in (status.tried_id, status.bundle_id):
        return RobotHealth(False, "node", f"its policy node does not come up with the bundle: {status.problem}")
    if status.bundle_id == bundle_id and status.ticks >= TICKS:
        return RobotHealth(True, "node")
    return None


def _started(folder: Path, bundle_id: str) -> RobotHealth:
    verdict = start_bundle(folder)
    if verdict.ok and verdict.id != bundle_id:
        return RobotHealth(False, "check", f"{folder}: holds bundle {verdict.id[:12]}; flash it again.")
    return RobotHealth(verdict.ok, "check", " ".join(verdict.problems))
