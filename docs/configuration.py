"""Writes docs/configuration.md: every key of the files that people edit, from the dataclasses that read them.

    python docs/configuration.py

What a key means is the docstring under its field, and is written there only; tests/test_docs.py fails when the page
is not what this writes.
"""

import ast
import dataclasses
import inspect
import textwrap
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from robomarl.core.config import expected
from robomarl.core.domain.registry import domains
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import KINDS
from robomarl.domains.flight.ros.payload import settings as mission_settings
from robomarl.domains.flight.ros.payload.mission import Mission
from robomarl.domains.soccer.ros import settings as game_settings
from robomarl.field.foreign_bags.layout import ForeignLayout
from robomarl.field.logs.layout import LogLayout
from robomarl.lab.foreign.contract_file import ContractFile
from robomarl.lab.sim.model.scenario import TeamScenario
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_named
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.stages.plan import BundlePlan, StageTable
from robomarl.ros import settings
from robomarl.ros.operator.launch_plan import arguments

PAGE = Path(__file__).with_name("configuration.md")
HEAD = """# Configuration

Every key of the files that one can edit without Python, with its type, its default and its meaning. A key without a
default must be there. Units are in the names: SI, radians, world frame ENU, body frame FLU. A wrong key or value is an
error of one sentence that names the file, the key and the mend. So is a number that can't be in its unit, as `yaw_rad =
180`: the sentence says what to write if it was given in degrees, mm, km/h, percent, g or ms.

`version` is the version of the file's layout. Files of older versions are read, and mean what they meant; a newer one
asks for a newer robomarl. The number rises when a key is renamed, removed or required, or comes to mean something else.

| file | version | what is new in it |
| --- | --- | --- |
| vehicle | 2 | Each figure of `safety` has a source of its own. In version 1 `sources: safety` was for all of them. |
| scenario | 2 | `radio.range_m` has to span the room. A file of version 1 with a shorter range is refused. |
| recipe | 2 | `value_horizon_s` and `credit_s`, in seconds, take the place of `discount` and `gae_lambda`. |

`python docs/configuration.py` writes this page from the dataclasses that read the files.
"""


class File(NamedTuple):
    """One kind of file."""

    title: str
    text: str
    classes: dict[str, type]
    """What reads it, by the path of the table; "" is the file itself."""


def meanings(cls: type) -> dict[str, str]:
    """Docstring of each field of a dataclass, those that it inherits included; fields without one are not in it."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if dataclasses.is_dataclass(base):
            (body,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            assert isinstance(body, ast.ClassDef)
            found |= dict(_documented(body.body))
    return found


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, text in zip(body, body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                yield name, " ".join(said.split())


def nested(hint: Any) -> tuple[type, str] | None:
    """The dataclass that such a table becomes, and what its path ends in: "[]" for one of a list of tables, ".NAME" for
    one of several by name; None for other types.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return next((found for arg in args if (found := nested(arg))), None)
    if origin is tuple and args[1:] == (Ellipsis,):
        return (found[0], "[]") if (found := nested(args[0])) else None
    if origin is dict:
        return (found[0], ".NAME") if (found := nested(args[1])) else None
    return (hint, "") if dataclasses.is_dataclass(hint) and isinstance(hint, type) else None


class Tables:
    """Writes the tables of dataclasses; a section that several files share is written once."""

    def __init__(self) -> None:
        """Begin a page."""
        self._seen: dict[type, str] = {}

    def of(self, cls: type, path: str, title: str) -> Iterator[str]:
        """The table of a dataclass's keys, then those of its sections.

        Args:
            cls: the dataclass.
            path: of the table in its file.
            title: of the file.
        """
        hints, said = typing.get_type_hints(cls, include_extras=True), meanings(cls)
        fields = [f for f in dataclasses.fields(cls) if not (issubclass(cls, Scenario) and f.name == "name")]
        inside = {f.name: found for f in fields if (found := nested(hints[f.name]))}
        yield "\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n"
        for field in fields:
            section = inside.get(field.name)
            meaning = said.get(field.name) or (section and first_paragraph(section[0])) or ""
            yield row(f"`{field.name}`", kind_of(hints[field.name], section), default(field), meaning)
        for name, (section, end) in inside.items():
            yield from self._section(section, f"{path}.{name}".lstrip(".") + end, title)

    def _section(self, section: type, path: str, title: str) -> Iterator[str]:
        if section in self._seen:
            yield f"\n**`{path}`**: as {self._seen[section]}.\n"
            return
        self._seen[section] = f"`{path}` of {title}"
        yield f"\n**`{path}`**: {first_paragraph(section)}\n"
        yield from self.of(section, path, title)


def kind_of(hint: Any, section: tuple[type, str] | None) -> str:
    """The type of a key, in a few words."""
    if section:
        return "tables, see below" if section[1] else "table, see below"
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(f"`{value}`" for value in typing.get_args(hint))
    return expected(hint).replace("a finite number", "number").replace("a whole number", "integer").removeprefix("a ")


def first_paragraph(cls: type) -> str:
    """What a section is, in the first paragraph of its docstring."""
    return " ".join((cls.__doc__ or "").split("\n\n")[0].split())


def default(field: dataclasses.Field) -> str:
    """Of a field, as one writes it; empty where the key must be there."""
    if field.default_factory is not dataclasses.MISSING:
        return written(field.default_factory())
    return "" if field.default is dataclasses.MISSING else written(field.default)


def written(value: Any) -> str:
    """A default in the words of a file."""
    if dataclasses.is_dataclass(value):
        return "its keys' own"
    if value is None or value in ("", (), ("",), {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(written(item).strip('`') for item in value)}]`"
    return f"`{value:g}`" if isinstance(value, float) and abs(value) < 1e5 else f"`{value}`"


def row(*cells: str) -> str:
    """One row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\\\|") for cell in cells) + " |\n"


def setting_table(cls: type) -> Iterator[str]:
    """Parameters of one node."""
    yield f"\n**{(cls.__doc__ or '').split(';')[0].rstrip('.')}**\n\n| parameter | default | range | meaning |\n"
    yield "| --- | --- | --- | --- |\n"
    for field in dataclasses.fields(cls):
        low, high, text = (field.metadata[key] for key in ("low", "high", "text"))
        yield row(f"`{field.name}`", default(field), "" if low is None else f"{low:g} to {high:g}", text)


def scenarios() -> Iterator[File]:
    """One for each class of scenario; domains of other packages are left out."""
    ours = [d for d in domains().values() if d.simulation_half.startswith("robomarl.")]
    read_as = {d.name: simulation_named(d.name).scenario for d in ours}
    for cls in dict.fromkeys(read_as.values()):
        names = ", ".join(name for name, other in read_as.items() if other is cls)
        yield File(
            f"Scenarios: {names}",
            '`sim/scenarios/NAME.toml`. `extends = "OTHER"` takes the keys of another, which a '
            "path (OTHER.toml) finds beside the file or in the working folder, as all files that it names.",
            {"": cls},
        )
    yield File(
        "Scenarios: a kind of team of your own",
        "What `docs/new_domain.md` builds on; a domain adds keys of its own.",
        {"": TeamScenario},
    )


def files() -> Iterator[File]:
    """All kinds of files, in the order of the page."""
    yield from scenarios()
    for kind, cls in KINDS.items():
        yield File(f"Vehicles: {kind}", f"`hardware_configs/vehicles/NAME.yaml` with `kind: {kind}`.", {"": cls})
    yield File("Fleets", "`hardware_configs/fleets/NAME.yaml`.", {"": Fleet})
    text = '`policies/recipes/NAME.toml`. `extends = "OTHER"` takes another; `docs/training.md` says more.'
    yield File("Recipes", text, {"": TrainConfig, "stage[]": StageTable, "bundle": BundlePlan})
    text = "`contract.toml` of `robomarl import`; `docs/import.md` says more."
    yield File("Policies from elsewhere", text, {"": ContractFile})
    yield File("Layouts of foreign recordings", "`--layout FILE`, TOML: who is who in them.", {"": ForeignLayout})
    text = "`hardware_configs/logs/NAME.toml` of `robomarl import-flights`; `docs/logs.md` says more."
    yield File("Layouts of flight logs", text, {"": LogLayout})
    yield File("Missions", "`ros_nodes/missions/NAME.yaml`: where a load goes, and when.", {"": Mission})


def page() -> str:
    """The whole page."""
    parts, tables = [HEAD], Tables()
    for file in files():
        parts.append(f"\n## {file.title}\n\n{file.text}\n")
        for path, cls in file.classes.items():
            parts += [f"\n**`{path}`**: {first_paragraph(cls)}\n"] if path else []
            parts += tables.of(cls, path, file.title)
    parts.append("\n## Launch arguments\n\n`ros2 launch robomarl robomarl.launch.py NAME:=VALUE`.\n")
    parts.append("\n| argument | default | meaning |\n| --- | --- | --- |\n")
    for name, argument in arguments().items():
        parts.append(row(f"`{name}`", "" if argument.default is None else written(argument.default), argument.text))
    parts.append("\n## Parameters of the nodes\n\nIn the file of `params_file:=`; see `ros_nodes/params/`.\n")
    shared = [value for module in (settings, mission_settings, game_settings) for value in vars(module).values()]
    for cls in [v for v in shared if isinstance(v, type) and dataclasses.is_dataclass(v)]:
        parts += setting_table(cls)
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
