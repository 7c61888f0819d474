"""Run by a robot's own interpreter: which kernel it has, and a flight's decisions in C and in numpy, as JSON.

python decisions.py     needs nothing but robomarl's wheel and what a robot installs
"""

import importlib
import json
import platform

import numpy as np

from robomarl.core.filter.filter import SafetyFilter, from_vehicle
from robomarl.core.filter.kernel.build import MODULE
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import LocalView, blank_view

ROBOTS, TICKS = 100, 30


def decisions() -> dict:
    params = from_vehicle(load_vehicle("crazyflie_21"), period_s=0.02, min_mates=3)
    random, auto = np.random.default_rng(0), SafetyFilter(params)
    numpy, found = SafetyFilter(params, backend="numpy"), []
    ours, theirs = auto.init((ROBOTS,)), numpy.init((ROBOTS,))
    for _ in range(TICKS):
        view, nominal = draw(random), random.normal(size=(ROBOTS, 4)) * 3
        (ours, result), (theirs, expected) = auto(ours, view, nominal), numpy(theirs, view, nominal)
        found.append((np.abs(result.command - expected.command).max(), (result.reason != expected.reason).sum()))
    return {
        "machine": platform.machine(),
        "backend": auto.backend,
        "file": str(importlib.import_module(MODULE).__file__),
        "apart": float(max(apart for apart, _ in found)),
        "other_reasons": int(sum(other for _, other in found)),
        "reasons": sorted(set(np.asarray(result.reason).tolist())),
        "active": float(np.mean(result.active)),
        "command": result.command.tolist(),
    }


def draw(random: np.random.Generator) -> LocalView:
    """A crowd: mates within a few metres, most of them heard."""
    view = blank_view(3, batch=(ROBOTS,))
    view.own.pos_m[:] = random.normal(size=(ROBOTS, 3)) * 0.5 + [0, 0, 1.5]
    view.own.vel_m_s[:] = random.normal(size=(ROBOTS, 3)) * 0.5
    view.own.age_s[:] = 0.0
    view.heard.mask[:] = random.random((ROBOTS, 3)) < 0.95
    view.heard.pos_m[:] = random.normal(size=(ROBOTS, 3, 3)) * 2 + [0, 0, 1.5]
    view.heard.vel_m_s[:] = random.normal(size=(ROBOTS, 3, 3)) * 0.5
    view.heard.age_s[:] = random.random((ROBOTS, 3)) * 0.05
    view.heard.plan.pos_m[:] = view.heard.pos_m
    view.heard.plan.vel_m_s[:] = view.heard.vel_m_s
    return view


if __name__ == "__main__":
    print(json.dumps(decisions()))
