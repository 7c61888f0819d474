"""Who may import whom: the layers of the design, and what the robot must do without."""

import ast
import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

# Where a module belongs: the longest prefix that fits counts.
LAYERS = {
    "base": [
        *("types", "geometry", "spec", "view", "features", "config", "tables", "paths", "scalars", "vectors"),
        *("log", "track", "domains.base", "domains.onboard", "domains.registry", "domains.simulation"),
        "domains.payload.onboard.features",
        *("domains.soccer.onboard.features", "domains.soccer.onboard.log"),
        *("domains.ground.onboard.features", "domains.ground.onboard.sensed"),
    ],
    "data": ["dataset"],  # which robots do without
    "hardware": ["hardware_configs"],
    "onboard": [
        *("safety", "goals", "policies", "domains.flight.control"),
        *(f"domains.{name}.onboard" for name in ("flight", "payload", "soccer", "ground")),
    ],
    "robot": [
        *("fleet", "ros_nodes", "domains.flight.ros_nodes.fleet_rules"),
        *("domains.payload.ros_nodes", "domains.soccer.ros_nodes", "domains.ground.ros_nodes"),
    ],
    "report": ["report", "domains.payload.report", "domains.soccer.report"],
    # `safety.falsify` is not run on robots, and searches with a library that they do without.
    "sim": ["sim", "domains", "safety.falsify", "safety.jax_filter", "safety.qp.jax_static"],
    "sim_node": [
        *("ros_nodes.model_node", "ros_nodes.team_sim_node"),
        "domains.flight.ros_nodes",
        *("domains.payload.ros_nodes.sim_sensors", "domains.ground.ros_nodes.sim_floor"),
        *("domains.soccer.ros_nodes.game_node", "domains.soccer.ros_nodes.sim_game"),
        "domains.soccer.ros_nodes.ssl_peer",
    ],
    "train": [
        *("train", "evaluate", "domains.payload.controllers.mixed_team"),
        *("domains.flight.evaluation", "domains.flight.safety.attack"),
        *("domains.soccer.evaluation.evaluate", "domains.soccer.evaluation.rows"),
        *(f"domains.{name}.simulation" for name in ("flight", "payload", "soccer", "ground")),
        "domains.ground.evaluation",
    ],
    "export": ["policies.export", "policies.c_export", "policies.foreign"],
    "front": [
        "cli",
        "__main__",
        "domains.payload.fleet_rules",
        *(f"domains.{name}.up" for name in ("payload", "soccer")),
    ],
}
ONBOARD = ["base", "hardware", "onboard"]
MAY_IMPORT = {
    "base": ["base"],
    "data": ["base", "data"],
    "hardware": ["base", "hardware"],
    "onboard": ONBOARD,
    "robot": [*ONBOARD, "data", "robot"],
    "report": [*ONBOARD, "robot", "report", "sim"],
    "sim": [*ONBOARD, "sim"],
    "sim_node": [*ONBOARD, "robot", "sim", "sim_node"],
    "train": [*ONBOARD, "data", "sim", "train"],
    "export": [*ONBOARD, "sim", "train", "export"],
    "front": ["base", "hardware", "front"],  # and anything inside functions
}
LAYER_OF = {prefix: layer for layer, prefixes in LAYERS.items() for prefix in prefixes}

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


def imports_of(name: str, path: Path) -> Iterator[Import]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return imports(path.read_text(), package)


def layer_of(name: str) -> str | None:
    """Layer of `robomarl.sim.env`; none for `robomarl` itself and for modules that nobody put into one."""
    parts = name.split(".")[1:]
    prefixes = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
    return next((LAYER_OF[prefix] for prefix in prefixes if prefix in LAYER_OF), None)


def wrong_imports(name: str, found: Iterator[Import]) -> list[str]:
    layer = layer_of(name)
    if layer is None:
        return []
    wrong = []
    for target, line, in_function in found:
        other = layer_of(target) if target.startswith("robomarl.") else None
        if other and other not in MAY_IMPORT[layer] and not (layer == "front" and in_function):
            wrong.append(f"{name}:{line} ({layer}) imports {target} ({other})")
    return wrong


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("robomarl.safety.filter", "import robomarl.sim.env", True),
        ("robomarl.safety.filter", "from robomarl import sim", True),
        ("robomarl.safety.filter", "from ..sim import env", True),
        ("robomarl.safety.filter", "def f():\n    from robomarl.sim import env", True),
        ("robomarl.safety.filter", "from . import qp\nfrom ..view import LocalView\nimport numpy", False),
        ("robomarl.ros_nodes.policy_node", "import robomarl.report", True),
        ("robomarl.ros_nodes.policy_node", "from robomarl.domains.flight.ros_nodes import sim_node", True),
        ("robomarl.domains.flight.ros_nodes.sim_node", "import robomarl.sim.engines", False),
        ("robomarl.domains.soccer.onboard.command_filter", "import robomarl.domains.soccer.game", True),
        ("robomarl.domains.soccer.ros_nodes.playing", "import robomarl.domains.soccer.game", True),
        ("robomarl.domains.soccer.ros_nodes.sim_game", "import robomarl.domains.soccer.game", False),
        ("robomarl.policies.runtime", "from robomarl.policies import export", True),
        ("robomarl.policies.export", "from robomarl.train.run import run_folder as checkpoint", False),
        ("robomarl.train.mappo", "import robomarl.policies.export", True),
        ("robomarl.cli.train", "import robomarl.train.mappo", True),
        ("robomarl.cli.train", "def run():\n    import robomarl.train.mappo", False),
        ("robomarl.cli.train", "from robomarl import __version__", False),
    ],
)
def test_wrong_imports_are_found(module: str, source: str, wrong: bool):
    found = imports(source, module.rpartition(".")[0])
    assert bool(wrong_imports(module, found)) is wrong


def test_every_module_has_a_layer(root: Path):
    homeless = [name for name in modules(root) if name != "robomarl" and layer_of(name) is None]
    assert not homeless, f"say in LAYERS where these belong: {homeless}"


def test_imports_point_one_way(root: Path):
    wrong = [w for name, path in modules(root).items() for w in wrong_imports(name, imports_of(name, path))]
    assert not wrong, "\n".join(["imports against the direction of the design:", *wrong])


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
    return package in OPTIONAL or (is_message and module.startswith("robomarl.ros_nodes.adapters."))


def importable(root: Path) -> list[str]:
    return [name for name in modules(root) if not name.endswith("__main__")]


def of_nodes(module: str) -> bool:
    """Whether it is a module of the nodes, generic or of a domain: they may import ROS."""
    return "ros_nodes" in module.split(".")


def test_blocked_imports_fail(tmp_path: Path):
    (tmp_path / "onboard_a.py").write_text("import json")
    (tmp_path / "onboard_b.py").write_text("import mujoco.mjx")
    failures = failed_imports(SIMULATION, ["onboard_a", "onboard_b"], tmp_path)
    assert list(failures) == ["onboard_b"]


def test_the_robot_needs_no_simulation(root: Path):
    has_ros = importlib.util.find_spec("rclpy") is not None
    onboard = [name for name in importable(root) if layer_of(name) in [*ONBOARD, "robot"]]
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
    known = {"yaml": "pyyaml", "PIL": "pillow", "google": "protobuf"}
    if package in ("rclpy", "ament_index_python") or package.endswith(("_msgs", "_srvs", "_interfaces")):
        return "ros-" + package.replace("_", "-")
    return known.get(package, package.replace("_", "-")).lower()


def third_party(name: str, path: Path) -> set[str]:
    packages = {found.name.split(".")[0] for found in imports_of(name, path)}
    return {distribution(package) for package in packages - sys.stdlib_module_names - {"robomarl"}}


def test_what_is_imported_is_declared(root: Path):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    core = requirement_names(project["dependencies"])
    declared = core.union(*(requirement_names(extra) for extra in project["optional-dependencies"].values()))
    undeclared = []
    for name, path in modules(root).items():
        is_core = layer_of(name) in ONBOARD or name.startswith("robomarl.fleet")
        missing = third_party(name, path) - (core if is_core else declared) - set(OPTIONAL)
        adapters = name.startswith("robomarl.ros_nodes.adapters.")
        undeclared += [f"{name}: {m}" for m in sorted(missing) if not (adapters and m.startswith("ros-"))]
    assert not undeclared, f"not in pyproject.toml, or not among what a robot installs: {undeclared}"


SHOW_HELP = """
import json, sys
from robomarl.cli import main
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
