"""Which policy of a run is the best: the one that does best on `mujoco`, not in the trainer's own simulation."""

import json
import math
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path

import jax
import numpy as np

from robomarl.core.spec import has_gain
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.run.logs import known
from robomarl.lab.train.run.run_folder import Run, RunPolicy
from robomarl.lab.train.run.storage import replace_text, save_state
from robomarl.lab.train.state import TrainState


def judged_behind(run: Run) -> str:
    """The filter behind which a run's policies are judged: that of the recipe, behind which they learned.

    By default none, so that it makes good for nothing; but a policy that sets the filter's gain is nothing without one.
    """
    if run.config.filter in ("upright", "certificate"):
        return run.config.filter
    return "full" if run.config.filter == "qp" or has_gain(run.env.commanded) else "off"


class BestPolicyKeeper:
    """Evaluates on `mujoco` now and then, see `judged_behind`, and keeps the best policy as best.npz."""

    def __init__(self, run: Run, evaluations: int, episodes: int) -> None:
        """Plan the evaluations evenly over the run; a resumed run does not repeat earlier ones.

        Args:
            run: folder, scenario and recipe; its state is not used.
            evaluations: number of evaluations.
            episodes: number of episodes of each.
        """
        config = run.config
        self._run, self._episodes = run, episodes
        self._policy: RunPolicy | None = None
        self._per_update = config.num_envs * config.unroll * run.scenario.count
        last = config.last_step // self._per_update * self._per_update
        if simulation_of(run.scenario).evaluation.score is None:
            evaluations = 0  # the newest is the best: ratings are logged, and enough matches would take too long
        parts = np.linspace(1 / evaluations, 1.0, evaluations) if evaluations else []
        self._due = [min(int(part * config.last_step), last) for part in parts]
        self._file = Path(run.folder) / "best.json"
        self._best = json.loads(self._file.read_text()) if self._file.is_file() else {"eval_success": -1.0}

    def submit(self, worker: Executor, state: Callable[[], TrainState], steps: int) -> "Future[dict[str, float]]":
        """The figures of an evaluation if one is due after this update, else NaN, which the logs leave blank.

        Args:
            worker: of a single thread, in which the evaluation runs while training goes on.
            state: makes the state after the update.
            steps: agent-steps until then.
        """
        if any(steps <= due < steps + self._per_update for due in self._due):
            return worker.submit(self._judge, state(), steps)
        return known(dict.fromkeys(("eval_success", "eval_collisions"), math.nan))

    def _judge(self, state: TrainState, steps: int) -> dict[str, float]:
        self._policy = (self._policy or RunPolicy(self._run)).with_state(jax.device_get(state))
        settings = EvalConfig(episodes=self._episodes, seed=1000, filter=judged_behind(self._run), progress=False)
        found = evaluate(self._policy, self._run.scenario, settings).figures
        figures = {"eval_success": found["success_rate"], "eval_collisions": float(found["collision_episodes"])}
        if figures["eval_success"] >= self._best["eval_success"]:
            self._best = {**figures, "steps": steps}
            save_state(self._run.folder / "best.npz", state)
            replace_text(self._file, json.dumps(self._best) + "\n")
        return figures
