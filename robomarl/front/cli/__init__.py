"""The command line: `robomarl COMMAND`. Nothing heavy is imported before the command is known.

Each command is a module of this package with a frozen dataclass `Args`, which tyro turns into
options, and `run(args)`, which returns the figures for `--json FILE` and raises `UserError` for
mistakes that the user can fix.
"""

import importlib
import json
import math
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomarl.core.config.parsed import JsonObject

COMMANDS = {
    "demo": "the main job on this machine: train, export, verify, flash, fly through ROS 2, report",
    "doctor": "check this machine: Python, extras, ROS 2, graphics, clock, disks; each with its fix",
    "init": "make a project of your own: a task, a scenario, a recipe, a fleet, a test",
    "list": "scenarios, bundles, vehicles and fleets",
    "train": "train a scenario's policies",
    "sweep": "train trials with different recipes and seeds, here or on a cluster, and compare them",
    "league": "let bundles, scripts and runs of one game play each other, and rate them",
    "runs": "list and compare training runs",
    "reports": "one page of all reports: demos, training runs, replays, safety campaigns",
    "eval": "fly episodes with runs or bundles and count",
    "check": "compare the engines on one scenario",
    "export": "make a bundle from a run; or C of a bundle",
    "import": "make a bundle from a policy that was trained elsewhere: ONNX, PyTorch",
    "verify": "check a bundle: hashes, contract, golden values, latency here",
    "flash": "put a bundle on the robots of a fleet",
    "fleet": "look after a fleet's robots: check, status, rollback, verify, prune, log, setup",
    "push": "put a bundle at an address: a folder, an S3-like store, a hub of models",
    "pull": "fetch a bundle from an address, checked before it is there",
    "key": "keys: who may put bundles on the robots",
    "up": "start a fleet's ROS 2 nodes",
    "view": "watch a scenario, policy, run, recording or running fleet in the browser",
    "operate": "run a field test from the browser: states, events, E-stop, preflight, orders, goals",
    "replay": "a recorded field test through the same bundle, tick by tick, and its report",
    "identify": "vehicles and weather of recordings, with 95 % intervals",
    "adapt": "a better bundle for the vehicles and the weather of recordings",
    "dataset": "what robots saw and did in recordings, as Parquet",
    "import-flights": "flight logs of others beside the bounds that a vehicle file declares",
    "identify-limits": "measure delay, errors and brakes of a vehicle for its safety figures",
    "prove": "the safety campaign: adversaries, delay, noise, loss",
    "bench": "the benchmarks",
    "completion": "complete commands, options and names by the Tab key in bash, zsh or fish",
}
"""Commands and their descriptions in `robomarl --help`."""

MODULES = {"import": "import_policy"}
"""Modules with another name than their command: `import` is a word of Python."""

CLAIM_FAILED, MISUSED, STOPPED = 1, 2, 130
"""Exit statuses; README.md has the table with their meaning for each command."""
NOBODY_READS = 128 + 13
"""Exit status where the reader of our output has gone, as in `robomarl list | head`: that of a SIGPIPE in a shell."""


def main(argv: list[str] | None = None) -> int:
    """Run one command, and return the exit status: 0 only if it succeeded and its claim holds."""
    try:
        try:
            return dispatch([*(sys.argv[1:] if argv is None else argv)])
        finally:
            sys.stdout.flush()  # here, and not when Python ends, which would print a traceback
    except KeyboardInterrupt:  # before a command was known, or after its end
        print("\nrobomarl: stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        if has_reader(sys.stdout.fileno()):
            raise  # another pipe broke
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    finally:
        if argv is None:  # the process ends: Ctrl-C once more must not change its status
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def has_reader(descriptor: int) -> bool:
    """Return True if data written to the descriptor still gets somewhere, and False once the far end of a
    pipe is closed.
    """
    poll = select.poll()
    poll.register(descriptor, 0)
    return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def dispatch(words: list[str]) -> int:
    """Find the command that the words name, and run it; returns the exit status."""
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return 0 if words else MISUSED
    if words[0] == "--version":
        from robomarl import __version__

        print(f"robomarl {__version__}")
        return 0
    if words[0] not in COMMANDS:
        from robomarl.core.config import suggest

        print(f"robomarl: unknown command {words[0]!r}; {suggest(words[0], COMMANDS)}", file=sys.stderr)
        return MISUSED
    return run_command(words[0], words[1:])


def run_command(name: str, words: list[str]) -> int:
    """Parse one command's options, run it, write its figures; returns the exit status."""
    from robomarl.core.config import UsageError, UserError
    from robomarl.front.cli.ends import check_ends
    from robomarl.front.cli.failures import told
    from robomarl.front.cli.misuse import parse
    from robomarl.front.cli.quiet import quiet_libraries
    from robomarl.front.cli.ranges import check_ranges

    quiet_libraries()
    json_file = None
    try:
        words, json_file = take_json(words)
        module = importlib.import_module(f"robomarl.front.cli.{MODULES.get(name, name.replace('-', '_'))}")
        args = parse(module, name, words)
        check_ranges(args)
        check_ends(args, json_file)
        figures = module.run(args)
        if json_file is not None:
            write_json(json_file, figures)
        return status_of(figures)
    except UserError as error:
        if json_file is not None and error.figures is not None:
            write_json(json_file, error.figures)
        print(f"robomarl {name}: {error}", file=sys.stderr)
        return MISUSED if isinstance(error, UsageError) else CLAIM_FAILED
    except BrokenPipeError:
        raise  # `main` knows whether it is ours
    except Exception as error:
        print(f"robomarl {name}: {told(error, name, words)}", file=sys.stderr)
        return CLAIM_FAILED
    except KeyboardInterrupt:
        print(f"\nrobomarl {name}: stopped.", file=sys.stderr)
        return STOPPED


def status_of(figures: "JsonObject | None") -> int:
    """Return the exit status of a command that came to its end with these figures.

    Args:
        figures: a claim is `passed` or `ok`; `interrupted` says that Ctrl-C ended the work early and
            the result so far has been saved. None, or none of these keys: the work is done.
    """
    figures = figures or {}
    if figures.get("interrupted"):
        return STOPPED
    return 0 if figures.get("passed", figures.get("ok", True)) else CLAIM_FAILED


def take_json(words: list[str]) -> tuple[list[str], Path | None]:
    """Split `--json FILE`, which every command takes, from the remaining words."""
    from robomarl.core.config import UsageError

    if sum(word.partition("=")[0] == "--json" for word in words) > 1:
        raise UsageError("--json is there more than once; write it once.")
    for i, word in enumerate(words):
        if word == "--json" and i + 1 == len(words):
            raise UsageError("--json needs the name of the file to write.")
        if word == "--json":
            return words[:i] + words[i + 2 :], Path(words[i + 1])
        if word.startswith("--json="):
            return words[:i] + words[i + 1 :], Path(word.removeprefix("--json="))
    return words, None


def write_json(file: Path, figures: "JsonObject | None") -> None:
    """Write the figures as one JSON object, null for NaN and infinity; raises `UserError` if that fails."""
    from robomarl.core.config import UserError

    try:
        file.write_text(json.dumps(_as_json(dict(figures or {})), indent=2, allow_nan=False) + "\n")
    except OSError as error:  # the disk is full by now
        raise UserError(f"{file}: can't be written ({error.strerror}); name another file.") from None


def _as_json(value: Any) -> object:
    """The value of JSON's own kinds, which have no NaN and no infinity."""
    if isinstance(value, dict):
        return {key: _as_json(part) for key, part in value.items()}
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Sequence):
        return [_as_json(part) for part in value]
    number = float(value)
    return number if math.isfinite(number) else None


def usage() -> str:
    """Return the text that `robomarl --help` prints."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    head = "usage: robomarl COMMAND [options]      (robomarl COMMAND --help says more)\n\ncommands:"
    return "\n".join([head, *lines, "\nEvery command takes --json FILE and then writes its figures there."])
