"""`bench tick --case load`: a carrier's decision at 100 Hz and its low-level controller at 300 Hz, on one core."""

import time
from typing import Any

import numpy as np

from benchmarks import Row, percentiles

BLOCKS, BLOCK, WARM_UP = 20, 200, 20
BUNDLE = "lift_3"


def rows() -> list[Row]:
    """The shipped bundle of three carriers on its golden views."""
    from robomarl.core.bundle.runtime import load_policy

    return measure(load_policy(BUNDLE))


def measure(policy: Any) -> list[Row]:
    """A loop at the controller's rate: every few passes there is a decision in it, and that is the longest one."""
    from robomarl.core.bundle.pilot import Pilot
    from robomarl.core.bundle.runtime import read_golden
    from robomarl.core.domain.registry import filter_for

    sequences = read_golden(policy.bundle)
    pilot = Pilot(policy, filter_for(policy.action, policy.contract.safety))
    views, steps = views_of(sequences), sequences.obs.shape[1]
    controller, per_decision = Controller(policy.contract), calls_per_decision(policy.contract)
    carry = pilot.init(views[0])
    samples: dict[str, list[float]] = {"pass": [], "processor": [], "decision": [], "controller": []}
    for block in range(BLOCKS):
        for i in range(BLOCK + WARM_UP):
            view = views[(block + i) % steps]
            busy, started = time.thread_time_ns(), time.perf_counter_ns()
            carry, result = pilot.step(carry, view)
            decided = time.perf_counter_ns()
            controller.call(view.own, result.command)
            passed, worked = time.perf_counter_ns(), time.thread_time_ns()
            for _ in range(per_decision - 1):
                controller.call(view.own, result.command)
            if i >= WARM_UP:
                samples["pass"].append((passed - started) / 1e9)
                samples["processor"].append((worked - busy) / 1e9)
                samples["decision"].append((decided - started) / 1e9)
                samples["controller"].append((passed - decided) / 1e9)
    names = {
        "pass": "load: view to rotor thrusts, the longest pass",
        "processor": "load: the same, processor time",
        "decision": "load: observation, policy, filter",
        "controller": "load: low-level controller, one call",
    }
    return [row for key, name in names.items() for row in percentiles(samples[key], name)]


def views_of(sequences: Any) -> list[Any]:
    """What the first robot sees in the first sequence, in double precision, as nodes put it together."""
    from robomarl.core.bundle.golden import map_view

    views = [
        map_view(lambda leaf, t=t: np.array(leaf[0, t, 0], np.float64), sequences.views)
        for t in range(sequences.obs.shape[1])
    ]
    return [view._replace(heard=view.heard._replace(mask=view.heard.mask.astype(bool))) for view in views]


def calls_per_decision(contract: Any) -> int:
    """Calls of the low-level controller from one decision to the next."""
    rates = contract.scenario.content["rates"]
    return round(rates["physics_hz"] / rates["policy_hz"])


class Controller:
    """One vehicle's low-level controller, as a companion computer calls it."""

    def __init__(self, contract: Any) -> None:
        """Take the vehicle that the bundle is for."""
        from robomarl.core.hardware.vehicle import load_vehicle

        self._vehicle = load_vehicle(contract.vehicle.name)
        self._dt_s = 1 / contract.scenario.content["rates"]["physics_hz"]
        self._control: Any = None
        hover = self._vehicle.body.mass_kg * 9.81 / 4
        self._rotors: Any = (hover, hover, hover, hover)

    def call(self, own: Any, command: np.ndarray) -> None:
        """From the estimate and a command [5] to rotor thrusts; motors follow at once."""
        from robomarl.domains.flight.core.control.indi import Reading, control_rotors, rest_control

        quat, vel, omega = own.quat_wxyz.tolist(), own.vel_m_s.tolist(), own.omega_rad_s.tolist()
        reading = Reading(quat, vel, omega, self._rotors)
        if self._control is None:
            self._control = rest_control(reading, (0.0, 0.0, 0.0))
        self._control, thrusts = control_rotors(
            self._vehicle, self._control, reading, tuple(command.tolist()), self._dt_s
        )
        self._rotors = thrusts
