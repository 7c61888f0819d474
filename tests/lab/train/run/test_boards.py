"""Boards of metrics: W&B offline and MLflow in a database of its own, with their real libraries."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.lab.train.run.logs import Logs

ROWS = [{"update": 1, "steps": 100, "seconds": 1.0, "loss": 2.5, "nothing": float("nan")}, {"update": 2, "steps": 200}]


def write_rows(folder: Path, board: str, first: int = 0) -> None:
    """Two rows, as a run and a run that goes on write them; NaN is left out."""
    logs = Logs(folder, first, (board,), {"algorithm": "mappo"})  # type: ignore[arg-type]
    for row in ROWS:
        logs.write({**ROWS[0], **row, "steps": row["steps"] + first})
    logs.close()


def test_mlflow_gets_metrics_and_a_resumed_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("alembic")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "ours")
    folder = tmp_path / "mine"
    folder.mkdir()
    write_rows(folder, "mlflow")
    write_rows(folder, "mlflow", 200)
    client = mlflow.MlflowClient()
    (run,) = client.search_runs([client.get_experiment_by_name("ours").experiment_id])
    assert run.info.run_name == "mine" and run.info.status == "FINISHED"
    assert run.data.params["algorithm"] == "mappo" and "nothing" not in run.data.metrics
    history = client.get_metric_history(run.info.run_id, "loss")
    assert [(row.step, row.value) for row in history] == [(100, 2.5), (200, 2.5), (300, 2.5), (400, 2.5)]


def records_of(content: bytes) -> Iterator[bytes]:
    """Records of an offline run: LevelDB's log format, blocks of 32 KiB, after a head of 7 bytes."""
    at, parts = 7, b""
    while at + 7 <= len(content):
        if (left := 32768 - at % 32768) < 7:
            at += left
            continue
        size, kind = struct.unpack_from("<HB", content, at + 4)
        parts += content[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # a whole record, or its last part
            yield parts
            parts = b""


def test_wandb_offline_gets_metrics_and_keeps_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    from wandb.proto import wandb_internal_pb2  # pyright: ignore[reportMissingImports]

    monkeypatch.setenv("WANDB_MODE", "offline")
    folder = tmp_path / "mine"
    folder.mkdir()
    write_rows(folder, "wandb")
    (file,) = folder.rglob("run-*.wandb")
    found: dict[str, list[str]] = {}
    for data in records_of(file.read_bytes()):
        record = wandb_internal_pb2.Record.FromString(data)
        for item in record.history.item:
            found.setdefault(item.key or "/".join(item.nested_key), []).append(item.value_json)
    assert found["loss"] == ["2.5", "2.5"] and found["steps"] == ["100", "200"] and "nothing" not in found
    assert (folder / "wandb_id").read_text() in file.name
