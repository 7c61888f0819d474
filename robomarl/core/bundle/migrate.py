"""Older layouts of `bundle.json` become the newest one, by name. The file, its seal and the id stay as they are."""

from collections.abc import Callable

from robomarl.core.bundle.contract import SCHEMA_VERSION, conditions
from robomarl.core.config import UserError, to_dict
from robomarl.core.config.parsed import JsonObject, table_in

NEW_IN_2 = {
    *("sim_hz", "radio", "randomization", "roles", "neighbour_order", "conventions", "actions_seen", "experts"),
    *("decision_hz", "inner_loop", "image"),
}
"""Keys that a file of version 1 does not have: one that has lost some only says that it is one."""


def migrate(data: JsonObject, where: str) -> JsonObject:
    """The content of a `bundle.json` of any known version, as the newest version says it.

    Args:
        data: parsed and with its seal checked.
        where: the file, for errors.

    Raises:
        UserError: a version that is not known, newer than this code, or a file that is not of its version.
    """
    version = check_version(data, where)
    if version == SCHEMA_VERSION and data.get("actions_seen") == []:
        raise UserError(f"{where}: actions_seen is empty, which only schema_version 1 leaves out; export it anew.")
    while version != SCHEMA_VERSION:
        if version not in STEPS:
            known = ", ".join(map(str, [*sorted(STEPS), SCHEMA_VERSION]))
            raise UserError(f"{where}: schema_version {version} is not known (known: {known}); export it anew.")
        try:
            data = STEPS[version](data)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise UserError(
                f"{where}: is not of schema_version {version} as it says ({error}); export it anew."
            ) from None
        version = check_version(data, where)
    return data


def check_version(data: JsonObject, where: str) -> int:
    """The version that a `bundle.json` says it is of.

    Raises:
        UserError: it says none, or a newer one than this code reads.
    """
    version = data.get("schema_version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise UserError(f"{where}: schema_version is missing or no number; fetch the bundle again.")
    if version > SCHEMA_VERSION:
        raise UserError(
            f"{where}: schema_version {version} is newer than {SCHEMA_VERSION}, which this robomarl reads; "
            "update robomarl."
        )
    return version


def _from_1(data: JsonObject) -> JsonObject:
    """Version 1 left radio and randomization to the scenario's content, and conventions to the code of its time."""
    if new := sorted(NEW_IN_2 & data.keys()):
        raise ValueError(f"{new[0]!r} is of version 2")
    scenario = table_in(table_in(data, "scenario"), "content")
    said = {**to_dict(conditions(scenario)), "neighbour_order": "nearest_first"}
    fixed = {"conventions": {"world": "ENU", "body": "FLU", "quaternion": "wxyz", "angle": "rad"}}
    return {**said, **fixed, "roles": [], "actions_seen": [], **data, "schema_version": 2}


STEPS: dict[int, Callable[[JsonObject], JsonObject]] = {1: _from_1}
"""Migration of each older version to the next one."""
