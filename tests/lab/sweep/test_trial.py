"""What a trial reports: the mean of its metric over the last updates, each of which counts once."""

from pathlib import Path

import pytest

from robomarl.lab.sweep.trial import SweepTrial, _Window, last_row


def rows(numbers: range) -> list[dict[str, float]]:
    return [{"update": n, "steps": 100.0 * n, "success": n / 10} for n in numbers]


@pytest.mark.parametrize("logged", [4, 5, 7, 9])
def test_updates_behind_the_checkpoint_that_are_done_again_count_once(tmp_path: Path, logged: int):
    trial = SweepTrial(0, tmp_path, "swap_2", "", {}, 0, "success")
    lines = [
        "update,steps,success",
        *(f"{r['update']},{r['steps']},{r['success']}" for r in rows(range(1, logged + 1))),
    ]
    (tmp_path / "metrics.csv").write_text("\n".join([*lines, "1"]))  # the last row was being written
    assert last_row(tmp_path)["update"] == str(logged)
    window = _Window(trial, lambda report: None, 10_000)
    for row in rows(range(5, 10)):  # the checkpoint is that of update 4
        window.update(None, [row])  # type: ignore[arg-type]
    assert window.now.metric == pytest.approx(sum(range(1, 10)) / 90) and window.now.steps == 900
