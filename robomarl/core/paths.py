"""Locations of the data folders: in the checkout, or beside the installed package."""

import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def checkout_dir() -> Path | None:
    """Root of the checkout that this package is in; None where robomarl is installed without one."""
    checkout = _PACKAGE.parent
    return checkout if (checkout / "package.xml").is_file() else None


def share_dir() -> Path:
    """Folder that holds `sim/`, `policies/`, `ros_nodes/` and `hardware_configs/`.

    Links are followed first: an editable install and `colcon build --symlink-install` lead to the checkout.
    """
    checkout = checkout_dir()
    if checkout is not None:
        return checkout
    for prefix in (*_PACKAGE.parents, Path(sys.prefix)):
        installed = prefix / "share" / "robomarl"
        if installed.is_dir():
            return installed
    raise FileNotFoundError(
        f"no share/robomarl above {_PACKAGE} or in {sys.prefix}: reinstall robomarl, or run its checkout"
    )


def scenarios_dir() -> Path:
    """Scenario files, `NAME.toml`."""
    return share_dir() / "sim" / "scenarios"


def bundles_dir() -> Path:
    """Trained bundles that ship with robomarl, one folder each."""
    return share_dir() / "policies"


def missions_dir() -> Path:
    """Missions of teams that carry a load, `NAME.yaml`."""
    return share_dir() / "ros_nodes" / "missions"


def vehicles_dir() -> Path:
    """Vehicle files, `NAME.yaml`."""
    return share_dir() / "hardware_configs" / "vehicles"


def cache_dir() -> Path:
    """Folder of files that can be made again: compiled programs, files out of bundles. It need not be there yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "robomarl"


def fleets_dir() -> Path:
    """Fleet files, `NAME.yaml`."""
    return share_dir() / "hardware_configs" / "fleets"
