"""The mean of the weights of runs that went on from one another: the gains of each, with less of its
losses.

Wortsman et al., "Model soups", ICML 2022. It works if the weights are near each other, as after
fine-tuning; the mean of runs that began apart is worth nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robomarl.lab.train.run.run_folder import Run, read_weights
from robomarl.lab.train.run.weights import with_weights


def averaged(run: Run, sources: Sequence[str]) -> Run:
    """Return the run with the mean of its weights and statistics and those of further runs.

    Args:
        run: the run that provides everything else.
        sources: run folders, or bundles by name or path.

    Raises:
        UserError: a source is neither, or has another network.
    """
    if not sources:
        return run
    others = [read_weights(source, run.scenario.name) for source in sources]
    for source, weights in zip(sources, others, strict=True):
        with_weights(run.state, weights, f"--average {source}")
    mean = mean_of([run.weights, *others])
    names = tuple(Path(source).name for source in sources)
    return replace(run, state=with_weights(run.state, mean, run.name), averaged=names)


def mean_of(weights: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The mean of named arrays; those that the first has not are left out."""
    first, *others = weights
    return {name: _mean([mine, *(w[name] for w in others if name in w)]) for name, mine in first.items()}


def _mean(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean of the arrays with the shape of the first; a critic of another team size has a different one."""
    alike = [row for row in rows if row.shape == rows[0].shape]
    return np.mean(alike, 0, dtype=np.float64).astype(rows[0].dtype)
