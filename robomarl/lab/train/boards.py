"""Boards of metrics beside the CSV of a run: TensorBoard always, Weights & Biases and MLflow if asked for.

Each library reads its own settings: WANDB_PROJECT, WANDB_MODE=offline, WANDB_BASE_URL; MLFLOW_TRACKING_URI,
MLFLOW_EXPERIMENT_NAME. The run folder keeps the id that the board gave it, so that a resumed run goes on there.
"""

import os
import secrets
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol

from robomarl.core.config import UserError, printable

BoardName = Literal["wandb", "mlflow"]
PROJECT = "robomarl"
"""Project of W&B, or experiment of MLflow, unless the environment names another one."""


class Board(Protocol):
    """One place that shows the metrics of a run."""

    def write(self, values: Mapping[str, float], step: int) -> None:
        """Add finite metrics by name, after this number of agent-steps."""

    def close(self) -> None:
        """Send what is left."""


def check_boards(names: tuple[BoardName, ...]) -> None:
    """Import the libraries before there is a run folder; raises `ModuleNotFoundError` if one is not installed."""
    for name in names:
        import_module(name)


def open_boards(names: tuple[BoardName, ...], folder: Path, about: Mapping[str, object], first: int) -> list[Board]:
    """Open TensorBoard and the named boards.

    Args:
        names: boards beside TensorBoard.
        folder: run folder; its name is that of the run.
        about: the recipe, shown beside the metrics.
        first: agent-steps of a resumed run, from which TensorBoard drops what is there; 0 for a new one.

    Raises:
        UserError: a board refuses, in its own words.
    """
    boards: list[Board] = [TensorBoard(folder, first)]
    makers = {"wandb": WandbBoard, "mlflow": MlflowBoard}
    for name in names:
        try:
            boards.append(makers[name](folder, about))
        except ModuleNotFoundError:
            raise
        except Exception as error:  # each library has its own classes of errors
            words = printable(str(error)).splitlines()
            why = words[0][:200] if words else type(error).__name__
            mends = {"wandb": "run `wandb login`, or set WANDB_MODE=offline", "mlflow": "set MLFLOW_TRACKING_URI"}
            raise UserError(f"--log {name}: {why}; {mends[name]}.") from None
    return boards


class TensorBoard:
    """Event files in `tb/` of the run folder."""

    def __init__(self, folder: Path, first: int) -> None:
        """Open the files; see `open_boards`."""
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tb"), purge_step=first + 1 if first else None)

    def write(self, values: Mapping[str, float], step: int) -> None:
        """Add metrics."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Close the files."""
        self._writer.close()


class WandbBoard:
    """A run of Weights & Biases."""

    def __init__(self, folder: Path, about: Mapping[str, object]) -> None:
        """Begin the run, or go on with that of the folder; see `open_boards`."""
        import wandb  # pyright: ignore[reportMissingImports]

        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=folder.name,
            id=kept_id(folder / "wandb_id", lambda: secrets.token_hex(4)),
            resume="allow",
            dir=str(folder),
            config=dict(about),
            reinit="create_new",  # several seeds train side by side
            settings=wandb.Settings(silent=True, console="off"),
        )
        self._run.define_metric("*", step_metric="steps")

    def write(self, values: Mapping[str, float], step: int) -> None:
        """Add metrics; a thread of the library sends them."""
        self._run.log({**values, "steps": step})

    def close(self) -> None:
        """Wait until all is sent."""
        self._run.finish()


class MlflowBoard:
    """A run of MLflow."""

    def __init__(self, folder: Path, about: Mapping[str, object]) -> None:
        """Begin the run, or go on with that of the folder; see `open_boards`."""
        from mlflow import MlflowClient  # pyright: ignore[reportMissingImports]

        self._client = MlflowClient()
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        found = self._client.get_experiment_by_name(name)
        experiment = found.experiment_id if found else self._client.create_experiment(name)
        file = folder / "mlflow_id"
        is_new = not file.exists()
        self._id = kept_id(file, lambda: self._client.create_run(experiment, run_name=folder.name).info.run_id)
        for key, value in about.items() if is_new else ():
            self._client.log_param(self._id, key, str(value)[:500])
        self._client.update_run(self._id, status="RUNNING")

    def write(self, values: Mapping[str, float], step: int) -> None:
        """Add metrics, in one request."""
        from mlflow.entities import Metric  # pyright: ignore[reportMissingImports]

        now_ms = int(time.time() * 1e3)
        rows = [Metric(name.replace(":", "_"), value, now_ms, step) for name, value in values.items()]
        self._client.log_batch(self._id, metrics=rows)

    def close(self) -> None:
        """Mark the run as finished."""
        self._client.set_terminated(self._id)


def kept_id(file: Path, make: Callable[[], str]) -> str:
    """Return the id in a file; make one and write it there if there is none."""
    if not file.exists():
        file.write_text(make())
    return file.read_text()
