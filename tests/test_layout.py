"""The rules of the tree that no linter knows: where files go, how large they get, what stays out of them."""

import ast
import re
import tomllib
import warnings
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import robomarl

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40
MAX_MODULES = 15
TWICE = {"State", "Strangers", "World"}
"""Class names that two modules define; the list only gets shorter. `Args` is what every command calls its options."""
DATA_FOLDERS = ["sim", "policies", "ros_nodes", "hardware_configs"]

# Put together here, so that this file does not hold what it looks for.
MACHINE_PATH = re.compile(r"(?<![\w./-])/" + "work/")
REGISTRY_HOST = re.compile("|".join([r"pypi\." + "org", r"pythonhosted\." + "org", r"npmjs\." + "org", r"deb\.debian"]))


def code(root: Path) -> dict[str, str]:
    """Source by path, of all Python but the tests."""
    folders = ("robomarl", "peers/robomarl_peers", "benchmarks")
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return {path.relative_to(root).as_posix(): path.read_text() for path in paths}


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, less the docstring's."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node, clean=False) is None:
        return lines
    docstring = node.body[0]
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def long_functions(source: str) -> list[tuple[str, int]]:
    nodes = ast.walk(ast.parse(source))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    sized = [(function.name, function_lines(function)) for function in functions]
    return [(name, lines) for name, lines in sized if lines > MAX_FUNCTION_LINES]


def test_long_functions_are_found_and_docstrings_are_free():
    docstring = '        """One.\n\n        Two.\n        """\n'
    fits = "class A:\n    def method(self):\n" + docstring + "        x = 1\n" * 39
    assert long_functions(fits) == []
    assert long_functions(fits + "        x = 2\n") == [("method", 41)]


def test_files_are_short(root: Path):
    sizes = {path: len(source.splitlines()) for path, source in code(root).items()}
    too_long = {path: lines for path, lines in sizes.items() if lines > MAX_FILE_LINES}
    assert not too_long, f"over {MAX_FILE_LINES} lines: {too_long}"


def test_folders_are_small(root: Path):
    """A command a file is what makes `cli/` larger."""
    sizes = Counter(Path(path).parent.as_posix() for path in code(root))
    assert sizes.pop("robomarl/front/cli") > MAX_MODULES
    assert not {folder: size for folder, size in sizes.items() if size > MAX_MODULES}


def test_functions_are_short(root: Path):
    found = {path: long_functions(source) for path, source in code(root).items()}
    too_long = {path: functions for path, functions in found.items() if functions}
    assert not too_long, f"over {MAX_FUNCTION_LINES} lines without docstring: {too_long}"


def classes(sources: dict[str, str]) -> Counter[str]:
    """How often each class name is defined, `Args` of the commands left out."""
    nodes = (node for source in sources.values() for node in ast.walk(ast.parse(source)))
    return Counter(node.name for node in nodes if isinstance(node, ast.ClassDef) and node.name != "Args")


def test_a_class_name_means_one_thing(root: Path):
    package = {path: source for path, source in code(root).items() if not path.startswith("benchmarks/")}
    assert {name for name, count in classes(package).items() if count > 1} == TWICE


def test_class_names_that_are_defined_twice_are_found():
    sources = {"a.py": "class Team:\n    pass\n", "b.py": "def f():\n    class Team(tuple):\n        pass\n"}
    assert classes(sources) == {"Team": 2}


def test_every_folder_with_python_is_a_package(root: Path):
    paths = code(root)
    folders = {path.rpartition("/")[0] for path in paths}
    missing = sorted(folder for folder in folders if f"{folder}/__init__.py" not in paths)
    assert not missing, f"without __init__.py, so not in the wheel: {missing}"


@pytest.mark.parametrize("folder", DATA_FOLDERS)
def test_data_folders_are_no_packages(root: Path, folder: str):
    found = [str(path.relative_to(root)) for path in (root / folder).rglob("__init__.py")]
    assert not found, f"would shadow robomarl.{folder} as a package of its own: {found}"


def test_launch_files_have_names_of_their_own(tracked_files: list[Path]):
    """`ros2 launch robomarl NAME` looks through all of the package's share folder."""
    names = Counter(path.name for path in tracked_files if path.name.endswith(".launch.py"))
    assert not [name for name, count in names.items() if count > 1]


def test_no_machine_or_registry_is_named(root: Path, tracked_files: list[Path]):
    found = []
    for path in tracked_files:
        try:
            text = (root / path).read_text()
        except UnicodeDecodeError:
            continue
        hits = [match.group() for rule in (MACHINE_PATH, REGISTRY_HOST) if (match := rule.search(text))]
        found += [f"{path}: {hit}" for hit in hits]
    assert not found, f"these hold on one machine only: {found}"


@pytest.mark.parametrize(
    ("text", "named"),
    [("see /" + "work/main", True), ("docs/work/plan.md", False), ("https://pypi." + "org/simple", True)],
)
def test_machine_and_registry_names_are_found(text: str, named: bool):
    assert bool(MACHINE_PATH.search(text) or REGISTRY_HOST.search(text)) is named


def test_the_version_is_the_same_everywhere(root: Path):
    assert ElementTree.parse(root / "package.xml").findtext("version") == robomarl.__version__
    assert f"## {robomarl.__version__}" in (root / "CHANGELOG.md").read_text()
    assert ElementTree.parse(root / "peers/package.xml").findtext("version") == robomarl.__version__
    peers = tomllib.loads((root / "peers/pyproject.toml").read_text())["project"]
    assert peers["version"] == robomarl.__version__


def test_mujoco_and_mjx_have_the_same_minor_version(root: Path):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    train = [requirement.replace("-mjx", "") for requirement in project["optional-dependencies"]["train"]]
    assert len([requirement for requirement in train if requirement.startswith("mujoco")]) == 2
    assert len({requirement for requirement in train if requirement.startswith("mujoco")}) == 1


@pytest.mark.parametrize("module", ["robomarl", "robomarl.lab.sim.env", "tests.lab.sim.test_env"])
def test_our_warnings_are_errors(module: str):
    with pytest.raises(DeprecationWarning):
        warnings.warn_explicit("old", DeprecationWarning, "file.py", 1, module)


@pytest.mark.parametrize("module", ["robomarl_plugin", "jax._src.core", "rclpy.node"])
def test_other_packages_warnings_are_not(module: str):
    warnings.warn_explicit("old", DeprecationWarning, "file.py", 1, module)
