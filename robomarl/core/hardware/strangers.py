"""Recognize files of other programs that are given as a fleet file, and say what they are."""

import re
from typing import Any

FLEET_KEYS = "version, name, vehicle, scenario and robots, a list of tables with name, index and folder"
_UNQUOTED = re.compile(r"\bhost:\s*([^\s'\"{,]*@)?(\[[^\]\n]*\](:\d+)?)")


def whose_file(data: Any) -> str:
    """What a parsed YAML file is, where it is one of another program or another kind; empty where it is not known.

    Returns:
        One sentence without the file's name.
    """
    if not isinstance(data, dict):
        return ""
    robots, mend = data.get("robots"), f"a fleet file has {FLEET_KEYS}"
    if isinstance(robots, list) and "vehicle" in data:
        return ""
    if "robot_types" in data or (isinstance(robots, dict) and _any_has(robots, "uri", "type", "initial_position")):
        keep = "put each uri into robots[].uri of a fleet file, and start crazyswarm_node with the name of each vehicle"
        return f"this is a Crazyswarm2 file (crazyflies.yaml); {keep}; {mend}."
    if isinstance(data.get("crazyflies"), list) or {"crazyflieTypes", "crazyflies"} & data.keys():
        return f"this is a Crazyswarm file (crazyflies.yaml or crazyflieTypes.yaml); {mend}."
    if any("ros__parameters" in str(part)[: 10**4] for part in data.values() if isinstance(part, dict)):
        return f"this is a file of ROS parameters (ros__parameters); {mend}."
    if {"limits", "safety"} <= data.keys():
        return f"this is a vehicle file; name it in `vehicle` of a fleet file; {mend}."
    if "services" in data or "hosts" in data or "all" in data:
        return f"this is a file of another program (docker compose, Ansible, or alike); {mend}."
    return ""


def unquoted_host(text: str) -> str:
    """What to say of `host: [::1]`, which YAML reads as a list; empty where no host begins like that."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _UNQUOTED.search(re.sub(r"(^|\s)#.*", "", line)):
            said = f"{found[1] or ''}{found[2]}"
            return f'line {number}: host = {said} is a list for YAML; put it in quotes: host: "{said}".'
    return ""


def _any_has(tables: dict[Any, Any], *names: str) -> bool:
    return any(isinstance(table, dict) and table.keys() & set(names) for table in tables.values())
