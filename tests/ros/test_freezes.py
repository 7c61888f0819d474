"""One process of a flying team stands still for a while: every flight ends in the one way that docs/faults.md states.

Flights, and how they end, are those of `benchmarks.nodes.freezes`; the second half of the page of faults is made here.
"""

import math

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from benchmarks.nodes.freezes import FREEZES_S, NODES, STATED, flown

pytestmark = [pytest.mark.ros, pytest.mark.alone]
ON = "the flight goes on"
ROWS = {
    "policy": (
        f"its vehicle hovers from `hover_after_s` on; {ON}, with a memory that begins again",
        *("its vehicle hovers; the team-mates HOLD; when the process goes on it lands the robot: LAND, then STOP",),
        *("its vehicle hovers, then lands by itself; the team-mates HOLD; the process goes on to STOP",) * 2,
        "its vehicle hovers, then lands by itself; the team-mates HOLD",
    ),
    "monitor": (ON, *("all robots LAND, then STOP; an order that waited for answers meanwhile is called off",) * 3,
                "all robots LAND, then STOP"),
    "recorder": (f"{ON}; the recording has a gap", *(f"{ON}; the recording has a gap",) * 3, f"{ON} unrecorded"),
    "sim": (
        f"all robots brake blindly; the vehicles hover from `hover_after_s` on; {ON}",
        "all robots brake blindly, then STOP; the vehicles hover, then land by themselves",
        *("all robots STOP; the vehicles land by themselves when they go on",) * 2,
        "all robots STOP",
    ),
    "adapter": (
        f"all its robots brake blindly; its vehicles go on as they were told, then hold for half a second; {ON}",
        *("all its robots STOP; its vehicles do what they do without a radio: a Crazyflie stops its motors after 1 s",)
        * 4,
    ),
    "link": (
        f"as if the sensors were silent: all robots brake blindly; {ON}",
        *("as if the sensors were silent: all robots STOP; the vehicles hover, then land by themselves",) * 4,
    ),
    "all": (
        f"each process as above; {ON}",
        "each process as above: LAND, then STOP",
        *("each process as above: STOP; the vehicles hover, then land by themselves",) * 2,
        "the vehicles hover, then land by themselves",
    ),
}  # fmt: skip
WORDS = {
    "policy": "policy node of one robot",
    "monitor": "monitor",
    "recorder": "recorder",
    "sim": "vehicles (the simulator)",
    "adapter": "adapter (of Crazyflies)",
    "link": "link emulator",
    "all": "all at once (a machine that is suspended)",
}
HEAD = """
## Freezes

A process that stands still (SIGSTOP, a debugger, a machine that is suspended) and goes on later finds a full queue, and
has not seen the silence. It therefore judges the silence before it reads: a process that was away for longer than a
limit does what it would have done at that limit. What waited in its queue is as old as its sender's clock says, and no
older than the absence. The clock of all limits is `CLOCK_BOOTTIME` where there is one: unlike `CLOCK_MONOTONIC` it goes
on while a machine is suspended, as vehicles and other machines do.

Vehicle and policy node agree on which of them flies: the vehicle hovers after `hover_after_s` (0.25 s) and lands after
`land_after_s` (2 s; under a load its motors stop after `motors_off_after_s`). A node that was away for longer than that
less 0.1 s, which a command may need on its way, is in STOP and leaves the landing to the vehicle. Before that the
heartbeat counts: after `heartbeat_after_s` (0.8 s) the node lands. A team-mate's silence counts after
`robot_lost_after_s` (0.8 s); what one robot has lost counts for all of its team, so that a silence about as long as the
limit does not divide it. Without an estimate a robot is in STOP after `delay_s` + `silent_after_s` (0.16 + 0.75 s).

`python -m benchmarks.nodes.freezes` flies each row and says whether the flight ended so, with no contact, every robot
on the ground or at its place. `pytest tests/ros/test_freezes.py` flies two of them, with `-m slow` all.
On 2026-11-27 the monitor was frozen in 45 flights, the recorder in 40 and the simulator in 36, 6 to 10 for each row:
all ended as stated, without a contact, and no robots were nearer to each other than 0.838 m.

| process | frozen for | what happens, in every flight |
| --- | --- | --- |
"""


def page() -> str:
    """The second half of docs/faults.md."""
    assert ROWS.keys() == WORDS.keys() == NODES.keys() == STATED.keys()
    rows = [(WORDS[p], s, text) for p, texts in ROWS.items() for s, text in zip(FREEZES_S, texts, strict=True)]
    return HEAD + "".join(f"| {who} | {'ever' if math.isinf(s) else f'{s:g} s'} | {text} |\n" for who, s, text in rows)


def test_a_policy_node_that_stood_still_does_not_fly_in_the_middle_of_its_vehicles_landing():
    found = list(flown("policy", [1.0, 5.0], 1, seed=1))
    assert all(outcome.as_stated for outcome in found), [outcome.line for outcome in found]


@pytest.mark.slow
@pytest.mark.parametrize("process", NODES)
def test_a_process_that_stood_still_ends_as_stated(process: str):
    if process == "adapter":
        pytest.importorskip("cflib")
    found = list(flown(process, list(FREEZES_S[: len(STATED[process])]), 1, seed=2))
    assert all(outcome.as_stated for outcome in found), [outcome.line for outcome in found]
