"""The mean of the weights of runs that went on from one another: what each gained, with less of what it lost.

Wortsman et al., "Model soups", ICML 2022. It works where the weights are near each other, as after fine-tuning; of runs
that began apart the mean is worth nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robomarl.lab.train.run.run_folder import Run, read_weights
from robomarl.lab.train.run.weights import with_weights


def averaged(run: Run, sources: Sequence[str]) -> Run:
    """The run with the mean of its weights and statistics and of those of others.

    Args:
        run: the one that everything else is taken from.
        sources: run folders, or bundles by name or path.

    Raises:
        UserError: one of them is neither, or has another network.
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
    """Of those that have the shape of the first: a critic of another team size has not."""
    alike = [row for row in rows if row.shape == rows[0].shape]
    return np.mean(alike, 0, dtype=np.float64).astype(rows[0].dtype)
