"""Values of parameters as MAVLink carries them: PX4 puts the bytes of an integer into the float, ArduPilot converts."""

import struct

from robomarl.vehicles.autopilot.kinds import ARDUPILOT, AutopilotKind

LETTERS = {1: "B", 2: "b", 3: "H", 4: "h", 5: "I", 6: "i"}
"""Format letters by MAV_PARAM_TYPE of integers; 9 is a float."""
REAL = 9


def decoded(value: float, kind: int, autopilot: AutopilotKind | None) -> float:
    """A value of PARAM_VALUE; `autopilot` None counts as PX4."""
    if kind not in LETTERS or autopilot is ARDUPILOT:
        return value
    size = struct.calcsize(LETTERS[kind])
    return float(struct.unpack("<" + LETTERS[kind], struct.pack("<f", value)[:size])[0])
