"""The table of wrong calls and files: what `test_wrong_calls.py` runs. Each row is words and the exit status."""

import importlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import tyro

from robomarl.core.paths import fleets_dir, scenarios_dir, vehicles_dir
from robomarl.front import cli

Row = tuple[tuple[str, ...], int]

BASE = {
    "adapt": ("adapt", "swap_4", "bag"),
    "bench": ("bench",),
    "check": ("check", "swap_4"),
    "completion": ("completion", "bash"),
    "dataset": ("dataset", "bag"),
    "demo": ("demo",),
    "doctor": ("doctor",),
    "eval": ("eval", "swap_4"),
    "export": ("export", "run"),
    "fleet": ("fleet", "status", "local_4"),
    "flash": ("flash", "swap_4", "local_4"),
    "identify": ("identify", "bag"),
    "identify-limits": ("identify-limits", "crazyflie_21"),
    "import-flights": ("import-flights", "text", "--layout", "nanobench"),
    "import": ("import", "policy.onnx", "out", "--contract", "contract.toml"),
    "init": ("init", "new"),
    "key": ("key", "list"),
    "league": ("league", "soccer_2v2", "soccer_2v2", "keeper"),
    "list": ("list",),
    "operate": ("operate", "local_4"),
    "prove": ("prove", "swap_4"),
    "pull": ("pull", "text"),
    "push": ("push", "swap_4", "new"),
    "replay": ("replay", "bag"),
    "reports": ("reports", "run"),
    "runs": ("runs", "run"),
    "sweep": ("sweep", "swap_4", "--space", "text"),
    "train": ("train", "swap_4"),
    "up": ("up", "local_4"),
    "verify": ("verify", "swap_4"),
    "view": ("view", "swap_4"),
}
"""Words that would be right, of every command."""


def misused() -> Iterator[Row]:
    """Options that there are not, that lack a value, or have one of another type: 2."""
    for command, words in BASE.items():
        yield (*words, "--nonsense"), 2
        yield (*words, "--jsno", "x.json"), 2
        yield (*words, "--json"), 2
        yield (*words, "--json", "a.json", "--json", "b.json"), 2
        module = importlib.import_module(f"robomarl.front.cli.{cli.MODULES.get(command, command.replace('-', '_'))}")
        hints = get_type_hints(module.Args, include_extras=True)
        for field in fields(module.Args):
            if not _is_positional(hints[field.name]):
                option = f"--{field.name.replace('_', '-')}"
                yield from (((*words, *wrong), 2) for wrong in _wrong_values(option, hints[field.name], field.default))


def _wrong_values(option: str, hint: Any, default: Any) -> Iterator[tuple[str, ...]]:
    kinds = set(_scalars(hint))
    if kinds == {bool}:
        yield (option, option)
        return
    if not isinstance(default, tuple):
        yield (option,)
    if kinds & {int, float} and str not in kinds:
        yield (option, "x")
    if any(get_origin(part) is not None and "Literal" in str(part) for part in (hint, *get_args(hint))) and not kinds:
        yield (option, "nonsense")


def _scalars(hint: Any) -> Iterator[type]:
    if hint in (int, float, str, bool, Path):
        yield hint
    for part in get_args(hint) if "Literal" not in str(get_origin(hint)) else ():
        yield from _scalars(part)


def _is_positional(hint: Any) -> bool:
    return any(part is tyro.conf.Positional or "Positional" in str(part) for part in get_args(hint))


FILES = ("gone", "folder", "empty", "text", "binary", "nested")
"""What is given in place of a file; `write_files` makes them."""
PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "recipe": (
        ("train", "swap_4", "--recipe", "{}.toml"),
        tuple(kind for kind in FILES if kind != "empty"),
    ),  # it has all defaults
    "scenario of train": (("train", "{}.toml"), FILES),
    "scenario": (("check", "{}.toml"), FILES),
    "scenario of eval": (("eval", "swap_4", "--scenario", "{}.toml"), FILES),
    "data": (("train", "--recipe", "swap_4_bc", "--data", "{}.parquet"), FILES),
    "init": (("train", "swap_4", "--init", "{}"), FILES),
    "policy": (("eval", "{}"), FILES),
    "policy zip": (("eval", "{}.zip"), FILES),
    "proved": (("prove", "{}"), FILES),
    "run": (("export", "{}", "out"), FILES),
    "onnx": (("import", "{}.onnx", "out", "--contract", "contract.toml"), FILES),
    "torch": (("import", "{}.pt", "out", "--contract", "contract.toml"), FILES),
    "contract": (("import", "policy.onnx", "out", "--contract", "{}.toml"), FILES),
    "bundle": (("verify", "{}"), FILES),
    "bundle zip": (("verify", "{}.zip"), FILES),
    "flashed": (("flash", "{}", "local_4"), FILES),
    "fleet": (("flash", "swap_4", "{}.yaml"), FILES),
    "fleet of up": (("up", "{}.yaml"), FILES),
    "fleet of status": (("fleet", "status", "{}.yaml"), FILES),
    "signed": (("key", "sign", "me", "{}"), FILES),
    "bag": (("replay", "{}"), FILES),
    "bag file": (("replay", "{}.mcap"), FILES),
    "identified": (("identify", "{}"), FILES),
    "adapted": (("adapt", "swap_4", "{}"), FILES),
    "recorded": (("dataset", "{}", "--out", "x.parquet"), FILES),
    "layout": (("dataset", "bag", "--bundle", "swap_4", "--layout", "{}.toml"), FILES),
    "vehicle": (("identify-limits", "{}.yaml"), FILES),
    "flight log": (("import-flights", "{}.csv", "--layout", "nanobench"), FILES),
    "layout of logs": (("import-flights", "text", "--layout", "{}.toml"), FILES),
    "runs": (("runs", "{}"), FILES),
    "player": (("league", "soccer_2v2", "keeper", "{}"), FILES),
    "plan": (("sweep", "swap_4", "--space", "{}.toml"), FILES),
    "C": (("export", "{}", "out", "--target", "c"), FILES),
    "network": (("export", "soccer_2v2", "out", "--perception", "{}.onnx"), FILES),
}
"""Words around a file that is none, and which files are tried there: 1."""


def wrong_files() -> Iterator[Row]:
    """Files that are not what they should be."""
    for words, kinds in PLACES.values():
        for kind in kinds:
            yield tuple(word.format(kind) for word in words), 1


EDITS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "scenario": (
        ("check", "{}"),
        (
            ("count = 4", "count = 0"),
            ("count = 4", "count = 4.5"),
            ("count = 4", "cuont = 4"),
            ("version = 2", "version = 9"),
            ("version = 2", "version = '2'"),
            ('task = "swap"', 'task = "swop"'),
            ('task = "swap"', "task = 3"),
            ("crazyflie_21", "crazyfly_21"),
            ("policy_hz = 50.0", "policy_hz = 0"),
            ("policy_hz = 50.0", "policy_hz = 33.0"),
            ("[rates]", "[rate]"),
            ("[rates]", "[[rates]]"),
            ("yaw_rad = 3.14159", "yaw_rad = 180"),
            ("time_limit_s = 8.0", "time_limit_s = -8.0"),
            ("time_limit_s = 8.0", "time_limit_s = 8.0\ntime_limit_s = 9.0"),
            ("mass_scale = [0.95, 1.05]", "mass_scale = [1.05, 0.95]"),
            ("mass_scale = [0.95, 1.05]", "mass_scale = 1.0"),
            ("packet_loss = [0.0, 0.3]", "packet_loss = [0.0, 30]"),
        ),
    ),
    "vehicle": (
        ("identify-limits", "{}"),
        (
            ("kind: quadrotor", "kind: hexarotor"),
            ("kind: quadrotor", "kind: [quadrotor]"),
            ("kind: quadrotor", ""),
            ("mass_kg: 0.033", "mass_kg: 33"),
            ("mass_kg: 0.033", "mass_kg: heavy"),
            ("mass_kg: 0.033", "mass_kg: .nan"),
            ("radius_m: 0.07", "radius_m: 7"),
            ("delay_s: 0.16", "delay_s: 160"),
            ("version: 2", "version: 12"),
            ("safety.delay_s:", "safety.dealy_s:"),
            ("body:", "body: 3\nbdy:"),
            (
                "\n",
                "\n\t",
            ),
        ),
    ),
    "fleet": (
        ("fleet", "status", "{}"),
        (
            ("version: 1", "version: 7"),
            ("crazyflie_21", "crazyfly_21"),
            ("index: 1", "index: 0"),
            ("index: 1", "index: -1"),
            ("index: 1", "index: one"),
            ("name: robot_1", "name: Robot 1"),
            ("name: robot_1", "name: robot_0"),
            ("robots:", "robot:"),
            ("robots:", "robots: 3\nothers:"),
            ("name: local_4", "name: ../local_4"),
        ),
    ),
}
"""A file that ships, with one place of it changed: 1."""
SHIPPED = {
    "scenario": scenarios_dir() / "swap_4.toml",
    "vehicle": vehicles_dir() / "crazyflie_21.yaml",
    "fleet": fleets_dir() / "local_4.yaml",
}


def edited(folder: Path) -> Iterator[Row]:
    """Files that ship, with a mistake in them; they are written into the folder."""
    for kind, (words, edits) in EDITS.items():
        text = SHIPPED[kind].read_text()
        for i, (old, new) in enumerate(edits):
            assert old in text, (kind, old)
            file = folder / f"{kind}_{i}{SHIPPED[kind].suffix}"
            file.write_text(text.replace(old, new))
            yield tuple(word.format(file.name) for word in words), 1


VALUES: tuple[Row, ...] = (
    *(((*BASE["train"], *words), 2) for words in (
        ("--seed", "-1"), ("--seed", "4294967296"), ("--seeds", "0"), ("--minutes", "0"), ("--minutes", "nan"),
        ("--steps", "0"), ("--count", "0"), ("--save-every-s", "-1"), ("--evaluations", "-1"), ("extra",),
        ("--seed", "1", "--seed", "2"), ("--init", "a", "--resume", "--out", "b"), ("--stage", "x", "--seed", "1.5"),
    )),
    *(((*BASE["eval"], *words), 2) for words in (
        ("--episodes", "0"), ("--episodes", "1e3"), ("--perturb", "mass_scale"), ("--perturb", "mass_scale=x"),
        ("--perturb", "=1"), ("--paired",), ("--require", "success_rate"), ("--require", "success_rate>>1"),
        ("--require", "success_rate>=x"), ("--sim", "gazebo"), ("--filter", "none"), ("--seed", "-3"),
        ("--workers", "0"),
    )),
    *(((*BASE[command], "--on", *words), 1) for command in ("eval", "prove") for words in (
        ("cluster",), ("local", "--workers", "100000"), ("ray://192.0.2.7:10001",),
        ("ray://127.0.0.1:1",),
    )),
    *(((*BASE["prove"], *words), 2) for words in (
        ("--agent-steps", "0"), ("--agent-steps", "inf"), ("--count", "1"), ("--loss", "1.5"), ("--delay-s", "100"),
        ("--rate-hz", "0"), ("--seconds", "0"), ("--filter", "all"), ("--task", "all"), ("--worst", "--scales", "-1"),
        ("--sim", "mujoco"),
    )),
    *(((*BASE["check"], *words), 2) for words in (
        ("--seconds", "0"), ("--seconds", "inf"), ("--sims", "fast"), ("--sims", "fast", "gazebo"), ("--seed", "-1"),
        ("--filter", "qp"),
    )),
    *(((*BASE["up"], *words), 2) for words in (
        ("--flights", "-1"), ("--flights", "2"), ("--domain-id", "-1"), ("--domain-id", "1000"), ("--sim", "gazebo"),
        ("--vehicles", "balloon"), ("--duration", "-1"),
    )),
    *(((*BASE["export"], *words), 2) for words in (
        ("--team-size", "0", "4"), ("--team-size", "4"), ("--target", "rust"),
    )),
    *((("fleet", *words), 2) for words in (
        (), ("statsu", "local_4"), ("status",), ("check", "local_4", "--seconds", "0"),
    )),
    *((("key", *words), 2) for words in ((), ("lst",), ("trust",), ("sign", "me"), ("threshold", "x", "local_4"))),
    (("fyl",), 2), (("",), 2), (("--nonsense",), 2), (("Train", "swap_4"), 2), ((), 2), (("train",), 2), (("eval",), 2),
    (("flash", "swap_4"), 2), (("flash",), 2), (("dataset",), 2), (("adapt", "swap_4"), 2), (("import",), 2),
    (("replay",), 2), (("identify",), 2), (("verify",), 2), (("check",), 2), (("up",), 2), (("prove",), 2),
    (("export",), 2), (("bench", "nothing"), 2), (("list", "extra"), 2), (("demo", "extra"), 2),
    (("doctor", "extra"), 2), (("init",), 2), (("view",), 2), (("operate",), 2), (("completion", "tcsh"), 2),
    (("init", "text"), 1), (("init", "new", "--task", "swap"), 1),
    (("init", "new", "--task", "My Task"), 1), (("init", "new", "--task", "numpy"), 1),
    *(((command, "nothing", *rest), 1) for command, *rest in (
        ("train",), ("eval",), ("check",), ("prove",), ("verify",), ("flash", "local_4"), ("up",), ("replay",),
        ("identify",), ("export",), ("identify-limits",), ("runs",), ("adapt", "bag"), ("dataset",),
        ("pull",), ("push", "new"), ("operate",), ("sweep", "--space", "text"), ("reports",),
        ("league", "keeper", "chaser"),
    )),
    (("import-flights",), 2), (("import-flights", "text"), 2), (("import-flights", "--layout", "nanobench"), 1),
    (("import-flights", "text", "--layout", "nanobanch"), 1),
    (("import-flights", "text", "--layout", "nanobench", "--vehicle", "crazyfly"), 1),
    (("league",), 2), *((("league", "soccer_2v2", *words), status) for words, status in (
        (("keeper",), 2), (("keeper", "keeper"), 2), (("keeper", "chaser", "--matches", "3"), 2),
        (("keeper", "chaser", "--matches", "0"), 2), (("keeper", "chaser", "--best-response", "1000"), 2),
        (("keeper", "chaser", "--attack", "keeper"), 2),
        (("keeper", "swap_4"), 1), (("keeper", "baseline"), 1), (("keeper", "kepper"), 1), (("keeper", "run@9"), 1),
    )), (("league", "swap_4", "keeper", "swap_4"), 1), (("league", "soccer_1v1", "keeper", "chaser"), 1),
    (("sweep",), 2), (("sweep", "swap_4"), 2), (("sweep", "swap_4", "--resume", "--out", "run"), 1),
    (("operate", "local_4", "--token", "short"), 2), (("operate", "local_4", "--host", "192.0.2.1"), 1),
    (("push", "swap_4"), 2), (("pull",), 2), (("pull", "nonsense://place"), 1), (("push", "swap_4", "http://x/y"), 1),
    (("train", "swap4"), 1), (("train", "swap-4"), 1), (("train", "swap_44"), 1), (("up", "local4"), 1),
    (("train", "swap_4", "--recipe", "swop_4"), 1), (("train", "swap_4", "--resume"), 1),
    (("train", "--resume", "--out", "nowhere"), 1), (("flash", "lift_3", "local_4"), 1),
    (("eval", "swap_4", "--scenario", "lift_3"), 1), (("eval", "swap_4", "--perturb", "mas_scale=1"), 2),
    (("key", "sign", "nobody", "swap_4"), 1), (("fleet", "rollback", "nothing"), 1),
    (("train", "swap_4", "--out", "text"), 1),
    (("eval", "swap_4", "--video", "x.avi"), 1), (("runs", "run", "--plot", "x.bmp"), 1),
    (("list", "--json", "folder"), 1),
    (("list", "--json", "text/x.json"), 1), (("verify", "swap_4", "--json", "text/x.json"), 1),
)  # fmt: skip
"""Values that an option can't have, words that are missing or too many, and names of nothing."""


def write_files(folder: Path) -> None:
    """What the words of the table name."""
    nested = "[" * 1500
    content = {"empty": b"", "text": b"once upon a time\n", "binary": bytes(range(256)) * 40, "nested": nested.encode()}
    for ending in ("", ".toml", ".yaml", ".zip", ".onnx", ".pt", ".mcap", ".parquet"):
        (folder / f"folder{ending}").mkdir()
        for name, data in content.items():
            (folder / f"{name}{ending}").write_bytes(data)
    with zipfile.ZipFile(folder / "binary.zip", "w") as archive:
        archive.writestr("bundle.json", json.dumps({"schema_version": 1}))
    (folder / "contract.toml").write_text('scenario = "swap_4"\n')
    (folder / "policy.onnx").write_bytes(b"\x08\x07")
    (folder / "bag").mkdir()
    (folder / "run").mkdir()
    (folder / "run" / "config.json").write_text("{}")


FAMILIES = {
    "options": lambda folder: [*misused()],
    "files": lambda folder: [*wrong_files()],
    "edits": lambda folder: [*edited(folder)],
    "values": lambda folder: [*VALUES],
}
"""The rows by what is wrong; files that they name are written into the folder, besides those of `write_files`."""
