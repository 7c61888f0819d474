"""Recognition of other programs' files that are given as a fleet file."""

import re

from robomarl.core.config.parsed import JsonObject, is_list, is_table

FLEET_KEYS = "version, name, vehicle, scenario and robots, a list of tables with name, index and folder"
_UNQUOTED = re.compile(r"\bhost:\s*([^\s'\"{,]*@)?(\[[^\]\n]*\](:\d+)?)")


def whose_file(data: object) -> str:
    """Describe a parsed YAML file that is one of another program or another kind; empty if it is not known.

    Returns:
        One sentence without the file's name.
    """
    if not is_table(data):
        return ""
    robots, mend = data.get("robots"), f"a fleet file has {FLEET_KEYS}"
    if is_list(robots) and "vehicle" in data:
        return ""
    if "robot_types" in data or (is_table(robots) and _any_has(robots, "uri", "type", "initial_position")):
        keep = "put each uri into robots[].uri of a fleet file, and start crazyswarm_node with the name of each vehicle"
        return f"this is a Crazyswarm2 file (crazyflies.yaml); {keep}; {mend}."
    if is_list(data.get("crazyflies")) or {"crazyflieTypes", "crazyflies"} & data.keys():
        return f"this is a Crazyswarm file (crazyflies.yaml or crazyflieTypes.yaml); {mend}."
    if any("ros__parameters" in str(part)[: 10**4] for part in data.values() if is_table(part)):
        return f"this is a file of ROS parameters (ros__parameters); {mend}."
    if {"limits", "safety"} <= data.keys():
        return f"this is a vehicle file; name it in `vehicle` of a fleet file; {mend}."
    if "services" in data or "hosts" in data or "all" in data:
        return f"this is a file of another program (docker compose, Ansible, or alike); {mend}."
    return ""


def unquoted_host(text: str) -> str:
    """Return the advice for `host: [::1]`, which YAML reads as a list; empty if no host begins like that."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _UNQUOTED.search(re.sub(r"(^|\s)#.*", "", line)):
            said = f"{found[1] or ''}{found[2]}"
            return f'line {number}: host = {said} is a list for YAML; put it in quotes: host: "{said}".'
    return ""


def _any_has(tables: JsonObject, *names: str) -> bool:
    return any(is_table(table) and table.keys() & set(names) for table in tables.values())
