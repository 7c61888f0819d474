"""Team of a recording, with its bundle and settings: read from the data that the recorder wrote into the bag."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import yaml

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError, build
from robomarl.core.paths import bundles_dir, cache_dir, vehicles_dir
from robomarl.field.replay.bag import Bag
from robomarl.fleet.store import Store
from robomarl.ros.settings import PolicySettings

PARAMETERS, NODE, BUNDLE = "parameters/", "/policy_node", "bundle_id"


class Recording(NamedTuple):
    """The team of a bag."""

    team: tuple[str, ...]
    base: str
    """Namespace of the team."""
    settings: dict[str, PolicySettings]
    """Settings of each robot's policy node."""
    bundles: dict[str, str]
    """Id of the bundle that each robot announced."""
    fleet: str
    scenario: str


def recording_of(bag: Bag, robot: str = "") -> Recording:
    """Return the team of a bag; `robot` is one of its robots where the bag is of a game.

    Raises:
        UserError: the bag does not name its team, `robot` is in no team of it, or it is of two teams and none is named.
    """
    settings = {}
    for key, text in bag.about.items():
        if key.startswith(PARAMETERS) and key.endswith(NODE):
            settings[key.removeprefix(PARAMETERS).removesuffix(NODE)] = _settings(bag, key, text)
    if not settings:
        said = (
            f"{bag.folder}: its metadata name no policy_node, so it is not a recording of a team that flew bundles; "
            "record with robomarl up or its launch file."
        )
        raise UserError(" ".join([*bag.problems, said]))
    teams = sorted({made.team for made in settings.values()})
    chosen = [team for team in teams if robot in ("", *team)]
    if len(chosen) != 1:
        told = f"{len(teams)} team{'s' * (len(teams) > 1)} ({'; '.join(', '.join(team) for team in teams)})"
        asked = f", and {robot} is in none" if robot else ""
        raise UserError(f"{bag.folder}: holds {told}{asked}; name a robot of one: --team {teams[0][0]}.")
    (team,) = chosen
    base = next(iter(settings)).rpartition("/")[0]
    by_name = {made.name: made for made in settings.values() if made.name in team}
    told = {name: bag.about.get(f"{BUNDLE}/{base}/{name}".replace("//", "/"), "") for name in team}
    about = bag.about
    return Recording(team, f"/{base}" if base else "", by_name, told, about.get("fleet", ""), about.get("scenario", ""))


def bundle_folder(recording: Recording, robot: str, given: str) -> str:
    """Return the bundle that a robot flew: the given one, the one that its folder still holds, or one of policies/.

    Raises:
        UserError: it is nowhere to be found.
    """
    if given:
        return given
    settings, wanted = recording.settings[robot], recording.bundles.get(robot, "")
    if settings.bundle and (not wanted or _id_of(Path(settings.bundle)) in ("", wanted)):
        return settings.bundle
    root = Path(settings.robot_root)
    if settings.robot_root and root.is_dir() and wanted in (store := Store(root)).ids():
        return str(store.folder(wanted))
    for folder in sorted(bundles_dir().glob("*/bundle.json")):
        if _id_of(folder.parent) == wanted:
            return str(folder.parent)
    raise UserError(
        f"{robot}: flew bundle {wanted[:12] or '(unknown)'}, which is neither in its folder here nor in policies/; "
        "name it with --bundle."
    )


def vehicle_here(recorded: str, bundle: str) -> str:
    """Return the name or path of a robot's vehicle.

    Args:
        recorded: setting of its node, a name or a path; "" for the bundle's.
        bundle: folder of the bundle that it flew. Its contract has the vehicle's whole file, which is
            taken if the recorded path is of another machine or folder.

    Raises:
        UserError: that file can't be written into the cache.
    """
    contract = load_bundle(bundle).contract.vehicle
    name = recorded or contract.name
    if name.endswith((".yaml", ".yml")):
        if Path(name).is_file():
            return name
    elif (vehicles_dir() / f"{name}.yaml").is_file() or name != contract.name:
        return name
    text = yaml.safe_dump(contract.content, sort_keys=False)
    file = cache_dir() / "recorded" / hashlib.sha256(text.encode()).hexdigest()[:32] / f"{contract.name}.yaml"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    except OSError as error:
        raise UserError(f"{file} can't be written ({error.strerror}); name another XDG_CACHE_HOME.") from None
    return str(file)


def _settings(bag: Bag, key: str, text: str) -> PolicySettings:
    """Return the settings of a policy node; those that have no part in its decisions and are not known
    here are left out.
    """
    try:
        told = json.loads(text)
        known = {field.name for field in dataclasses.fields(PolicySettings)}
        return build(PolicySettings, {name: told[name] for name in known & set(told)}, f"{bag.folder}, {key}")
    except (json.JSONDecodeError, TypeError) as error:
        raise UserError(f"{bag.folder}/metadata.yaml: {key} is no JSON object ({error}); record anew.") from None


def _id_of(folder: Path) -> str:
    try:
        return load_bundle(str(folder)).id
    except UserError:
        return ""
