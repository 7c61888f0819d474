"""Plot of the measured frontier, and of the flight that the model contains worst."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robomarl.field.limits.fit import directions, pieces_of, rate_along, swept
from robomarl.field.limits.measure import Figures, MeasureConfig, Rig
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.plants.excite import excitations
from robomarl.lab.plants.flight import Flights, fly

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(
    file: Path,
    rigs: Sequence[tuple[Rig, Sequence[Condition]]],
    found: Sequence[Figures],
    config: MeasureConfig,
    at: int,
) -> None:
    """Write the picture.

    Args:
        file: of any format that matplotlib knows.
        rigs: the plants and their conditions.
        found: figures of all of these conditions.
        config: how they were measured.
        at: which delay was chosen.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _frontier(left, found, config, at)
    worst = max(found, key=lambda f: f.error_m_s2[at])
    rig = next(rig for rig, conditions in rigs if worst.condition in conditions)
    _worst_flight(right, rig, worst, at)
    figure.savefig(file, dpi=120)


def _frontier(axes: "Axes", found: Sequence[Figures], config: MeasureConfig, at: int) -> None:
    for name in dict.fromkeys(f.condition.variation for f in found):
        errors = np.max([f.error_m_s2 for f in found if f.condition.variation == name], 0)
        axes.plot(config.delays_s, errors, marker=".", label=name)
    axes.axvline(config.delays_s[at], color="0.6", linestyle=":")
    axes.set(xlabel="delay_s [s]", ylabel="accel_error_m_s2 needed [m/s²]", ylim=(0, None))
    axes.legend()


def _worst_flight(axes: "Axes", rig: Rig, worst: Figures, at: int) -> None:
    """Plot the velocity of the worst flight in the worst direction, with the range that the window's commands
    explain.
    """
    config = rig.config
    period_s, window = rig.flying.period_s, config.window(config.delays_s[at])
    flights = fly(rig.flying, worst.condition, excitations(rig.limits, period_s, rig.planar, config.excite), rig.limits)
    pieces, unit = pieces_of(window, period_s), directions(rig.planar)
    needs = [rate_along(flights, n, pieces, config.tolerance_m_s) - n @ worst.bias_m_s2 for n in unit]
    n = unit[int(np.argmax(needs))]
    single = [_only(flights, i) for i in range(flights.command.shape[1])]
    flight = max(single, key=lambda f: rate_along(f, n, pieces, config.tolerance_m_s))
    time_s = np.arange(len(flight.vel_m_s)) * period_s
    along = (flight.command @ n)[:, 0]
    for sign, label in ((1, "most and least that the commands explain"), (-1, None)):
        gain = sign * np.cumsum(swept(sign * flight.command @ n, pieces)[:, 0])
        axes.plot(time_s, np.append(0, gain) + (n @ worst.bias_m_s2) * time_s, color="tab:blue", lw=0.8, label=label)
    axes.plot(time_s, (flight.vel_m_s - flight.vel_m_s[0])[:, 0] @ n, color="black", label="velocity")
    axes.step(time_s[:-1], along, where="post", color="tab:orange", lw=0.8, label="command [m/s²]")
    direction = ", ".join(f"{x:.2g}" for x in n)
    axes.set(title=f"{worst.condition.variation}, along ({direction})", xlabel="time [s]", ylabel="m/s")
    axes.legend(fontsize="small")


def _only(flights: Flights, i: int) -> Flights:
    return flights._replace(
        command=flights.command[:, [i]], pos_m=flights.pos_m[:, [i]], vel_m_s=flights.vel_m_s[:, [i]]
    )
