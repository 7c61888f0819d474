"""DDS security (SROS2): with it enforced, a node that can't have it does not start. No ROS here.

Whether a middleware has security is known only when it makes its first node; it then says so in words of its own.
"""

import os
from collections.abc import Mapping

from robomarl.core.config import UserError

WITH_SECURITY = ("rmw_fastrtps_cpp", "rmw_fastrtps_dynamic_cpp", "rmw_cyclonedds_cpp", "rmw_connextdds")
"""Middlewares that refuse to make a node without security when it is enforced."""

VALUES = {"ROS_SECURITY_ENABLE": ("", "true", "false"), "ROS_SECURITY_STRATEGY": ("", "Enforce", "Permissive")}
"""Values that ROS knows (rcl, security.c); the empty text counts as unset."""


def is_enforced(environment: Mapping[str, str] = os.environ) -> bool:
    """SROS2 is switched on, and nodes without it must not start."""
    return (environment.get("ROS_SECURITY_ENABLE"), environment.get("ROS_SECURITY_STRATEGY")) == ("true", "Enforce")


def check_security(middleware: str, environment: Mapping[str, str] = os.environ) -> None:
    """Check the environment and the middleware before the first node is made.

    ROS compares these values letter by letter, and reads any unknown value as "no security".

    Raises:
        UserError: ROS would not know a value, or security is enforced and the middleware is not known
            to enforce it.
    """
    for name, allowed in VALUES.items():
        if (value := environment.get(name, "")) not in allowed:
            words = " or ".join(allowed[1:])
            raise UserError(f"{name}={value}: ROS would start this node without security; write {words}, or unset it.")
    if is_enforced(environment) and middleware not in WITH_SECURITY:
        raise refused(f"it is not known that {middleware} enforces it")


def refused(why: object) -> UserError:
    """The error for a node that must not start."""
    first = str(why).splitlines()[0].strip().rstrip(".")
    return UserError(
        f"ROS_SECURITY_STRATEGY=Enforce: {first}; install a middleware with DDS security and make this node's "
        "enclave (docs in ros_nodes/README.md), or unset ROS_SECURITY_ENABLE."
    )
