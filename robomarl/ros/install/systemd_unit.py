"""Script and systemd unit that start a robot's policy node, from the plan that `up` and the launch files use too."""

import re
import shlex
from dataclasses import dataclass, replace

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import FOLDER, Fleet, RobotConfig
from robomarl.ros.enclaves.keystore import Keystore
from robomarl.ros.enclaves.rights import VEHICLE
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions

KEYSTORE = "keystore"
"""Folder of a robot's own enclaves, in its folder."""
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*[$]?")


@dataclass(frozen=True)
class Network:
    """Network settings for the robots' nodes."""

    domain_id: int | None = None
    """ROS domain; None: the domain in the robot's environment."""
    keystore: Keystore | None = None
    """The operator's, with the enclaves of the team; None: an open network."""

    def files(self, robot: str) -> dict[str, bytes]:
        """Return the robot's part of the keystore by path in its folder: its own enclaves, and no signing key."""
        if self.keystore is None:
            return {}
        found = self.keystore.files([f"/{robot}/policy_node", f"/{robot}/{VEHICLE}"])
        return {f"{KEYSTORE}/{path}": data for path, data in found.items()}


def start_script(fleet: Fleet, robot: RobotConfig, network: Network = Network()) -> str:  # noqa: B008
    """Return a shell script that becomes the policy node, with the ROS 2 that is installed on the robot.

    Args:
        fleet: the team.
        robot: the robot, with its absolute folder on the robot.
        network: domain and enclaves.
    """
    spec = _spec(fleet, robot, network)
    words = ["-m", "robomarl.ros.environment_check.start", *spec.command()]
    lines = [
        "#!/bin/bash",
        "# Made by `robomarl fleet setup`. Starts the node; it moves nothing before it is activated.",
        "for file in /opt/ros/*/setup.bash; do",
        '    if [ -f "$file" ]; then . "$file"; fi',
        "done",
        *(f"export {name}={shlex.quote(value)}" for name, value in sorted(spec.environment.items())),
        "# Of the environment that is used now: a later setup does not change it under a node that runs.",
        f'python="$(readlink -f {shlex.quote(robot.folder)}/venv)/bin/python"',
        'exec "$python" ' + " ".join(map(shlex.quote, words)),
    ]
    return "\n".join(lines) + "\n"


def unit_file(fleet: Fleet, robot: RobotConfig, user: str) -> str:
    """Return the systemd unit around `start_script`; the operator enables it to start the node at every
    boot.

    Raises:
        UserError: the folder or the user name that the robot reported is not valid.
    """
    if not FOLDER.fullmatch(robot.folder):
        raise UserError(f"{robot.name}: says that its folder is {robot.folder!r}, which is no plain path; move it.")
    if not _USER.fullmatch(user):
        raise UserError(f"{robot.name}: says that its user is {user!r}, which is no name; log in as another.")
    folder = robot.folder.replace("%", "%%")
    return f"""# Made by `robomarl fleet setup`, not enabled. To start it now and with the robot:
# sudo systemctl enable --now {folder}/{unit_name(robot)}
[Unit]
Description=robomarl policy node of {robot.name}, fleet {fleet.name}
After=network-online.target
Wants=network-online.target

[Service]
Type=simple
User={user}
WorkingDirectory={folder}
ExecStart=/bin/bash "{folder}/policy_node.sh"
Restart=on-failure
RestartSec=2
Nice=-10
LimitRTPRIO=1
TimeoutStopSec=5

[Install]
WantedBy=multi-user.target
"""


def unit_name(robot: RobotConfig) -> str:
    """File name of the unit."""
    return f"robomarl-{robot.name}.service"


def _spec(fleet: Fleet, robot: RobotConfig, network: Network) -> NodeSpec:
    team = tuple(robot if r.name == robot.name else r for r in fleet.robots)
    keystore = f"{robot.folder}/{KEYSTORE}" if network.keystore else ""
    options = PlanOptions(robots=(robot.name,), domain_id=network.domain_id, keystore=keystore)
    return plan_fleet(replace(fleet, robots=team), options)[0]
