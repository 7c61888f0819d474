"""The half of a domain that robots import: what generic code asks it, and domains of other packages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from robomarl.core.config import UserError, to_dict
from robomarl.core.domain import registry
from robomarl.core.domain.base import Domain
from robomarl.core.domain.onboard import Command, LazyImport, Onboard
from robomarl.core.domain.registry import domain_named, domains, filter_for, onboard_of
from robomarl.core.features import FEATURES
from robomarl.core.filter.body_rates import BodyRatesFilter
from robomarl.core.filter.filter import SafetyFilter, from_vehicle
from robomarl.core.filter.policy_gain_filter import GainedFilter
from robomarl.core.hardware.scenario_files import read_scenario, scenario_names
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.domains.soccer.core.command_filter import PlayerFilter
from robomarl.domains.volleyball.core.commands import RATES, ROTORS
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.fieldtask import Seat, field_task

TOY = """
from robomarl.core.domain.onboard import Onboard
from robomarl.core.features import feature

@feature(("x",), "m", "world", ("own.pos_m",))
def place_on_a_line(view, rule):
    return view.own.pos_m[..., :1]

ONBOARD = Onboard(commands=(), features=("toy_line",))
"""


REFERENCE = re.compile(r"robomarl(\.\w+)+(:\w+)?")
"""A module of the package, or an object in it."""


def references(part: object) -> Iterator[str]:
    """Every `module:NAME` and every module that a domain names, in its halves and in their parts."""
    if isinstance(part, LazyImport):
        yield part.name
    elif isinstance(part, str):
        yield from (word for word in part.split()[:1] if REFERENCE.fullmatch(word))
    elif isinstance(part, Mapping):
        yield from (name for value in part.values() for name in references(value))
    elif isinstance(part, list | tuple):
        yield from (name for value in part for name in references(value))
    elif is_dataclass(part) and not isinstance(part, type):
        yield from (name for field in fields(part) for name in references(getattr(part, field.name)))


def named_by(domain: Domain) -> set[str]:
    """References of a domain, of its halves, and of the field tasks of the scenarios that ship."""
    names = [name for name in scenario_names() if read_scenario(name)[0]["task"] in domain.tasks]
    tasks = [field_task(to_dict(load_scenario(name)), Seat(0, 2)) for name in names]
    return {*references([domain, domain.onboard, domain.simulation, domain.field, tasks])}


@pytest.mark.parametrize("name", sorted(domains()))
def test_every_reference_of_a_domain_resolves(name: str):
    pytest.importorskip("rclpy")
    found = named_by(domain_named(name))
    assert found
    for reference in found:
        module, _, attribute = reference.partition(":")
        target = import_module(module)
        assert not attribute or hasattr(target, attribute), reference


def test_references_in_parts_of_a_half_are_found():
    command, table = Command(("speed",), LazyImport("a.b:F")), {"x": LazyImport("a.b:G")}
    ours = Onboard((command,), ("robomarl.c",), adapters=table, sim_node=("node", "robomarl.d e"))
    assert {*references(ours)} - {*references(Onboard(()))} == {"a.b:F", "a.b:G", "robomarl.c", "robomarl.d"}


@pytest.mark.parametrize(
    ("task", "name"), [("swap", "flight"), ("lift", "payload"), ("soccer", "soccer"), ("navigation", "ground")]
)
def test_a_scenario_leads_to_its_domain(task: str, name: str):
    assert onboard_of({"task": task}) is domain_named(name).onboard


def test_a_task_of_a_package_that_a_robot_lacks_is_a_flying_teams():
    assert onboard_of({"task": "hover_in_a_ring"}) is domain_named("flight").onboard
    with pytest.raises(UserError, match="domain = 'cricket' is not installed"):
        onboard_of({"task": "swap", "domain": "cricket"})


@pytest.mark.parametrize("name", sorted(name for name, domain in domains().items() if domain.onboard.commands))
def test_the_filter_is_that_of_the_command(name: str):
    vehicle = load_any_vehicle("ssl_omni" if name == "soccer" else "crazyflie_21")
    for command in domain_named(name).onboard.commands:
        action = ActionSpec(tuple(ActionField(n, "", "", -1, 1) for n in command.elements))
        params = from_vehicle(vehicle, 0.02)
        if command.elements in (RATES, ROTORS):
            with pytest.raises(UserError, match="takes accelerations"):
                filter_for(action, params)
            continue
        made = filter_for(action, params)
        kinds = {"kick": PlayerFilter, "gain": GainedFilter, "rate.y": BodyRatesFilter}
        assert type(made) is kinds.get(command.elements[-1], SafetyFilter)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "toy_line.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    ours = Domain("line", ("reach_flag",), "toy_line:ONBOARD", "toy_line:NONE")
    both = {**domains(), "line": ours}
    monkeypatch.setattr(registry, "domains", lambda: both)
    yield
    FEATURES.pop("place_on_a_line", None)


@pytest.mark.usefixtures("toy")
def test_a_spec_may_name_features_of_another_packages_domain():
    assert "place_on_a_line" not in FEATURES
    assert ObservationSpec((ObservationField("place_on_a_line"),)).element_names() == ["place_on_a_line.x"]
    assert onboard_of({"task": "reach_flag"}).features == ("toy_line",)
