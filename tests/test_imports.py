"""Who may import whom: the floors of the house, and what the robot must do without."""

import ast
import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

# A module's floor is the first part of its path that is a floor's name.
MAY_IMPORT = {
    "core": ["core"],
    "fleet": ["core", "fleet"],
    "ros": ["core", "fleet", "ros"],
    "vehicles": ["core", "ros", "vehicles"],
    "lab": ["core", "lab"],
    "field": ["core", "fleet", "ros", "vehicles", "lab", "field"],
    "front": ["core", "fleet", "ros", "vehicles", "lab", "field", "front"],
}
ON_ROBOTS = ["core", "fleet", "ros", "vehicles"]
WITH_ROS = ["ros", "vehicles", "field"]
WITHOUT_ROS = ["robomarl.field.identify", "robomarl.field.limits"]
"""What the floor of the field has that needs no ROS."""

SIMULATION = ["jax", "jaxlib", "flax", "brax", "mujoco", "torch"]
ROS = ["rclpy", "geometry_msgs", "nav_msgs", "sensor_msgs", "std_msgs", "std_srvs"]
# Packages of vehicles and of other projects, that nobody has to install to use robomarl.
OPTIONAL = ["torch", "pettingzoo", "jaxmarl", "gymnasium"]
HEAVY = [
    *SIMULATION,
    *ROS,
    "matplotlib",
    "numpy",
    "onnx",
    "onnxruntime",
    "optax",
    "scipy",
    "tensorboardX",
    "tyro",
]


class Import(NamedTuple):
    """One import statement's target."""

    name: str
    line: int
    in_function: bool


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(root: Path) -> dict[str, Path]:
    return {module_name(path, root): path for path in sorted((root / "robomarl").rglob("*.py"))}


def targets(node: ast.AST, package: str) -> list[str]:
    """Full names that an import statement in `package` asks for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package.split(".")
    base = ".".join(above[: len(above) - node.level + 1]) if node.level else ""
    origin = ".".join(part for part in (base, node.module) if part)
    return [f"{origin}.{alias.name}" for alias in node.names]


def imports(source: str, package: str) -> Iterator[Import]:
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {child for function in functions for child in ast.walk(function)}
    for node in ast.walk(tree):
        for name in targets(node, package):
            yield Import(name, getattr(node, "lineno", 0), node in inside)


@cache
def imports_of(name: str, path: Path) -> tuple[Import, ...]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return tuple(imports(path.read_text(), package))


def floor_of(name: str) -> str | None:
    """Floor of `robomarl.lab.sim.env`; the package's front door and the names of domains belong to none."""
    return next((part for part in name.split(".")[1:] if part in MAY_IMPORT), None)


def wrong_imports(name: str, found: Iterable[Import]) -> list[str]:
    floor = floor_of(name)
    if floor is None:
        return []
    wrong = []
    for target, line, _ in found:
        other = floor_of(target) if target.startswith("robomarl.") else None
        if other and other not in MAY_IMPORT[floor]:
            wrong.append(f"{name}:{line} ({floor}) imports {target} ({other})")
    return wrong


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("robomarl.core.filter.filter", "import robomarl.lab.sim.env", True),
        ("robomarl.core.filter.filter", "from robomarl import lab", True),
        ("robomarl.core.filter.filter", "from ...lab import sim", True),
        ("robomarl.core.filter.filter", "def f():\n    from robomarl.lab.sim import env", True),
        ("robomarl.core.filter.filter", "from . import qp\nfrom ..view import LocalView\nimport numpy", False),
        ("robomarl.ros.policy_node", "import robomarl.front.report", True),
        ("robomarl.ros.policy_node", "from robomarl.domains.flight.field import sim_node", True),
        ("robomarl.domains.flight.field.sim_node", "import robomarl.lab.sim.engines", False),
        ("robomarl.domains.soccer.core.command_filter", "import robomarl.domains.soccer.lab.game", True),
        ("robomarl.domains.soccer.ros.playing", "import robomarl.domains.soccer.lab.game", True),
        ("robomarl.core.bundle.runtime", "from robomarl.lab import export", True),
        ("robomarl.lab.export", "from robomarl.lab.train.run import run_folder", False),
        ("robomarl.lab.train.mappo", "import robomarl.field.replay", True),
        ("robomarl.front.cli.train", "def run():\n    import robomarl.lab.train.mappo", False),
        ("robomarl.front.cli.train", "from robomarl import __version__", False),
    ],
)
def test_wrong_imports_are_found(module: str, source: str, wrong: bool):
    found = imports(source, module.rpartition(".")[0])
    assert bool(wrong_imports(module, found)) is wrong


def test_every_module_has_a_floor(root: Path):
    known = modules(root)
    outside = {"robomarl", "robomarl.__main__", "robomarl.domains"}
    homeless = [name for name in known if name not in outside and floor_of(name) is None]
    assert not [name for name in homeless if known[name].name != "__init__.py" or name.count(".") > 2], homeless


def edges(root: Path) -> dict[str, set[str]]:
    """Modules that each module imports, in functions and for types too."""
    known = modules(root)
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for target in imports_of(name, path):
            parts = target.name.split(".")
            inside = [".".join(parts[:size]) for size in range(len(parts), 1, -1)]
            found[name] |= {next((module for module in inside if module in known), name)} - {name}
    return found


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other: what is left once every module without an import, or that nobody
    imports, is taken away again and again."""
    left = {name: set(targets) for name, targets in graph.items()}
    while True:
        imported = set().union(*left.values()) if left else set()
        ends = {name for name, targets in left.items() if not targets & left.keys() or name not in imported}
        if not ends:
            return [sorted(left)] if left else []
        left = {name: targets - ends for name, targets in left.items() if name not in ends}


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_no_modules_import_each_other(root: Path):
    """Not inside functions, and not for their types."""
    assert cycles(edges(root)) == []


def test_domains_do_not_import_each_other(root: Path):
    of = {name: name.split(".")[2] for name in modules(root) if name.startswith("robomarl.domains.")}
    found = [(a, b) for a, targets in edges(root).items() for b in targets if of.get(a, "") != of.get(b, of.get(a, ""))]
    assert [pair for pair in found if pair[0] in of and pair[1] in of] == []


def test_imports_point_one_way(root: Path):
    wrong = [w for name, path in modules(root).items() for w in wrong_imports(name, imports_of(name, path))]
    assert not wrong, "\n".join(["imports against the floors:", *wrong])


def test_peers_are_found_by_entry_point_alone(root: Path):
    """Not even a string names their package, so robots and labs do without it."""
    naming = [name for name, path in modules(root).items() if "robomarl_peers" in path.read_text()]
    assert naming == []


TRY_IMPORTS = """
import importlib, json, sys
blocked, names = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(blocked))
failures = {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as error:
        failures[name] = [getattr(error, "name", None) or "", f"{type(error).__name__}: {error}"]
print(json.dumps(failures))
"""


def failed_imports(blocked: list[str], names: list[str], cwd: Path) -> dict[str, list[str]]:
    """Imports `names` in an interpreter without `blocked`: per failure what was missing, and the error."""
    command = [sys.executable, "-c", TRY_IMPORTS, json.dumps([blocked, names])]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # mujoco.mjx prints when it is imported


def is_optional(module: str, missing: str) -> bool:
    """Whether `module` may lack `missing`: a vehicle's messages in its adapter, or another project."""
    package = missing.split(".")[0]
    is_message = package.endswith(("_msgs", "_interfaces")) and package not in ROS
    return package in OPTIONAL or (is_message and floor_of(module) == "vehicles")


def importable(root: Path) -> list[str]:
    return [name for name in modules(root) if not name.endswith("__main__")]


def of_nodes(module: str) -> bool:
    """Whether it may import ROS."""
    return floor_of(module) in WITH_ROS and not module.startswith(tuple(WITHOUT_ROS))


def test_blocked_imports_fail(tmp_path: Path):
    (tmp_path / "onboard_a.py").write_text("import json")
    (tmp_path / "onboard_b.py").write_text("import mujoco.mjx")
    failures = failed_imports(SIMULATION, ["onboard_a", "onboard_b"], tmp_path)
    assert list(failures) == ["onboard_b"]


def test_the_robot_needs_no_simulation(root: Path):
    has_ros = importlib.util.find_spec("rclpy") is not None
    onboard = [name for name in importable(root) if floor_of(name) in ON_ROBOTS]
    names = [name for name in onboard if has_ros or not of_nodes(name)]
    failures = failed_imports(SIMULATION, names, root)
    real = {name: error for name, (missing, error) in failures.items() if not is_optional(name, missing)}
    assert not real, f"a robot has none of {SIMULATION}: {real}"


def test_only_the_nodes_need_ros(root: Path):
    names = [name for name in importable(root) if not of_nodes(name)]
    failures = failed_imports(ROS, names, root)
    real = {name: error for name, (missing, error) in failures.items() if not is_optional(name, missing)}
    assert not real, f"without ROS: {real}"


def requirement_names(requirements: list[str]) -> set[str]:
    starts = [requirement.split(";")[0].split("[")[0] for requirement in requirements]
    return {start.split(">")[0].split("=")[0].split("<")[0].strip().lower() for start in starts}


def distribution(package: str) -> str:
    """Name under which an imported package is declared."""
    known = {"yaml": "pyyaml", "PIL": "pillow", "google": "protobuf", "mlflow": "mlflow-skinny", "z3": "z3-solver"}
    if package in ("rclpy", "ament_index_python") or package.endswith(("_msgs", "_srvs", "_interfaces")):
        return "ros-" + package.replace("_", "-")
    return known.get(package, package.replace("_", "-")).lower()


def third_party(name: str, path: Path) -> set[str]:
    packages = {found.name.split(".")[0] for found in imports_of(name, path)}
    return {distribution(package) for package in packages - sys.stdlib_module_names - {"robomarl", "_typeshed"}}


def test_what_is_imported_is_declared(root: Path):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    core = requirement_names(project["dependencies"])
    declared = core.union(*(requirement_names(extra) for extra in project["optional-dependencies"].values()))
    undeclared = []
    for name, path in modules(root).items():
        is_core = floor_of(name) in ("core", "fleet")
        missing = third_party(name, path) - (core if is_core else declared) - set(OPTIONAL)
        adapters = floor_of(name) == "vehicles"
        undeclared += [f"{name}: {m}" for m in sorted(missing) if not (adapters and m.startswith("ros-"))]
    assert not undeclared, f"not in pyproject.toml, or not among what a robot installs: {undeclared}"


SHOW_HELP = """
import json, sys
from robomarl.front.cli import main
heavy = set(json.loads(sys.argv[1]))
sys.argv = ["robomarl", "--help"]
try:
    code = main()
except SystemExit as stop:
    code = stop.code
print(json.dumps([code or 0, sorted(heavy & set(sys.modules))]))
"""


def test_help_loads_nothing_heavy(root: Path):
    command = [sys.executable, "-c", SHOW_HELP, json.dumps(HEAVY)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code, heavy = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    assert not heavy, f"robomarl --help loads {heavy}"
