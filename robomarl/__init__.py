"""robomarl: from a scenario file to a field test of a robot team.

What one needs first is here, as in `from robomarl import load_pilot`, and is imported when it is named: a robot gets no
JAX by that. Everything else is in the sub-packages; docs/architecture.md says which is for what.

- What a robot decides with: `load_pilot`, `load_policy`, `Pilot`, `SafetyFilter`, `SafetyParams`, `FilterResult`.
- What it knows: `LocalView`, `blank_view`, `Goal`.
- Files that people edit: `load_any_vehicle`, `load_fleet`, `load_scenario`; `UserError` says what is wrong in one.
- What is simulated and trained in: `make_env`. This and `load_scenario` need the extra `train`.
- A kind of team of one's own: `Domain`, `Onboard`, `Command`, `Simulation`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomarl.core.bundle.pilot import Pilot as Pilot
    from robomarl.core.bundle.pilot import load_pilot as load_pilot
    from robomarl.core.bundle.runtime import load_policy as load_policy
    from robomarl.core.config import UserError as UserError
    from robomarl.core.domain.base import Domain as Domain
    from robomarl.core.domain.onboard import Command as Command
    from robomarl.core.domain.onboard import Onboard as Onboard
    from robomarl.core.filter.filter import SafetyFilter as SafetyFilter
    from robomarl.core.filter.params import SafetyParams as SafetyParams
    from robomarl.core.hardware.fleet import load_fleet as load_fleet
    from robomarl.core.hardware.vehicle import load_any_vehicle as load_any_vehicle
    from robomarl.core.types import FilterResult as FilterResult
    from robomarl.core.view import Goal as Goal
    from robomarl.core.view import LocalView as LocalView
    from robomarl.core.view import blank_view as blank_view
    from robomarl.lab.sim.env import make_env as make_env
    from robomarl.lab.sim.scenario import load_scenario as load_scenario
    from robomarl.lab.simulation import Simulation as Simulation

__version__ = "0.2.0"

_MODULES = {
    "core.config": ("UserError",),
    "core.domain.base": ("Domain",),
    "core.domain.onboard": ("Command", "Onboard"),
    "lab.simulation": ("Simulation",),
    "core.hardware.fleet": ("load_fleet",),
    "core.hardware.vehicle": ("load_any_vehicle",),
    "core.bundle.pilot": ("Pilot", "load_pilot"),
    "core.bundle.runtime": ("load_policy",),
    "core.filter.filter": ("SafetyFilter",),
    "core.filter.params": ("SafetyParams",),
    "lab.sim.env": ("make_env",),
    "lab.sim.scenario": ("load_scenario",),
    "core.types": ("FilterResult",),
    "core.view": ("Goal", "LocalView", "blank_view"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'robomarl' has no attribute {name!r}; it has {', '.join(_MODULE_OF)}")
    return getattr(import_module(f"robomarl.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
