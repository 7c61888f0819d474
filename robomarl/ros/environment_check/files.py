"""Files and folders that variables of ROS and its middleware name. No ROS here."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from robomarl.ros.io.environment import OLD_PROFILES_ENV, PROFILES_ENV

PROFILE_ROOTS = ("dds", "profiles")
"""Outermost elements of a file that Fast DDS reads."""


def file_problems(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each variable with a file or folder that is missing, can't be read, or can't be written."""
    for name in (PROFILES_ENV, OLD_PROFILES_ENV):
        if value := environment.get(name, ""):
            yield from (f"{name}={value}: {why}" for why in _profiles(Path(value)))
    if value := environment.get("CYCLONEDDS_URI", ""):
        yield from (f"CYCLONEDDS_URI={value}: {why}" for why in _cyclone(value))
    yield from _keystore(environment)
    yield from _log_folder(environment)


def _profiles(file: Path) -> Iterator[str]:
    """Yield problems of a profiles file; Fast DDS itself only prints an error and continues without the file."""
    try:
        root = ElementTree.parse(file).getroot()
    except OSError as error:
        yield f"can't be read ({error.strerror}); name the file of profiles, or unset it."
    except ElementTree.ParseError as error:
        yield f"is no XML ({error}); mend the file, or unset it."
    else:
        if root.tag.rpartition("}")[2] not in PROFILE_ROOTS:
            yield f"has no profiles of Fast DDS: it begins with <{root.tag}>, not <dds>; mend the file, or unset it."


def _cyclone(value: str) -> Iterator[str]:
    """Yield problems of CYCLONEDDS_URI: inline XML, which is not checked, or a list of files separated by commas."""
    if value.lstrip().startswith("<"):
        return
    for part in filter(None, value.split(",")):
        if not Path(part.removeprefix("file://")).is_file():
            yield f"{part} is not a file; name the file, or unset it."


def _keystore(environment: Mapping[str, str]) -> Iterator[str]:
    if environment.get("ROS_SECURITY_ENABLE", "") != "true":
        return
    folder = environment.get("ROS_SECURITY_KEYSTORE", "")
    if not folder:
        yield "ROS_SECURITY_ENABLE=true: ROS_SECURITY_KEYSTORE is not set; name the folder of the keys, or unset both."
    elif not Path(folder).is_dir():
        made = "`robomarl fleet setup --secure` makes one"
        yield f"ROS_SECURITY_KEYSTORE={folder}: there is no such folder; name the folder of the keys ({made})."


def _log_folder(environment: Mapping[str, str]) -> Iterator[str]:
    """ROS makes its folder of logs when it starts, and does not start without."""
    places = {"ROS_LOG_DIR": "", "ROS_HOME": "log", "HOME": ".ros/log"}
    name = next((name for name in places if environment.get(name)), "")
    if not name:
        yield "HOME is not set, so ROS has no folder for its logs; set ROS_LOG_DIR to a folder that can be written."
        return
    named = environment[name]
    home = environment.get("HOME", "") if named.startswith("~") else ""  # as ROS does
    folder = Path(home + named.removeprefix("~") if home else named, places[name])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield (
            f"{name}={environment[name]}: ROS can't write its logs into {folder} ({error.strerror}); "
            "set ROS_LOG_DIR to a folder that can be written."
        )
