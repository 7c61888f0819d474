"""`NodeSpec`: one process of a plan, however it is started. No ROS here."""

import json
from dataclasses import dataclass, field
from typing import Any

PACKAGE = "robomarl"
Parameters = dict[str, Any]
"""Parameters of a node by name; values are those of ROS: texts, numbers and lists of them."""


@dataclass(frozen=True)
class NodeSpec:
    """One process."""

    executable: str
    """Console script, for `ros2 run PACKAGE EXECUTABLE` and launch files."""
    module: str
    """Python module of the program, for machines without `ros2`, and the word that it takes if it has several nodes."""
    name: str
    """Name of the node."""
    namespace: str
    """Absolute, or empty for the root."""
    parameters: Parameters
    lifecycle: bool = False
    """Configured as soon as its process has started, each time; that moves nothing."""
    respawn: bool = False
    """Started again when it ends by itself: a robot then waits in STANDBY, the team's heartbeat goes on."""
    respawn_s: float = 2.0
    """Time from its end to its restart [s]."""
    remaps: tuple[tuple[str, str], ...] = ()
    params_file: str = ""
    log_level: str = "info"
    environment: dict[str, str] = field(default_factory=dict)
    """Added to that of the parent."""
    enclave: str = ""
    """Enclave with the key and permissions of the process (SROS2); "" without."""
    package: str = PACKAGE
    """ROS package of the console script."""

    @property
    def full_name(self) -> str:
        """Absolute name of the node."""
        return f"{self.namespace}/{self.name}"

    def command(self) -> list[str]:
        """Command line of the process, after Python's `-m`."""
        return [*self.module.split(), *self.arguments()]

    def arguments(self) -> list[str]:
        """Command line of the process, after the program."""
        rules = [f"__node:={self.name}", *([f"__ns:={self.namespace}"] if self.namespace else [])]
        rules += [f"{a}:={b}" for a, b in self.remaps]
        words = ["--ros-args", *(word for rule in rules for word in ("-r", rule))]
        words += ["--log-level", self.log_level]
        words += ["--enclave", self.enclave] if self.enclave else []
        words += ["--params-file", self.params_file] if self.params_file else []
        pairs = [f"{name}:={_yaml(value)}" for name, value in self.parameters.items()]
        return words + [word for pair in pairs for word in ("-p", pair)]


def _yaml(value: object) -> str:
    """A parameter value as ROS reads it on the command line: JSON is YAML."""
    return json.dumps(value)
