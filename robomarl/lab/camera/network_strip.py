"""`strip_of`: the ground strip that a perception network reads."""

from dataclasses import replace

from robomarl.core.bundle.bundle import PERCEPTION_FILE
from robomarl.core.bundle.runtime import open_session
from robomarl.core.camera.strip import GroundStrip
from robomarl.core.config import UserError


def strip_of(network: bytes) -> GroundStrip:
    """Return the strip of a network's input [B, R, C, 3]: the rows are those of every strip, the columns its own.

    Raises:
        UserError: it has another input.
    """
    usual = GroundStrip()
    found = [(one.name, one.shape) for one in open_session(network, PERCEPTION_FILE).get_inputs()]
    match found:
        case [(_, [_, usual.rows, int(columns), 3])]:
            return replace(usual, columns=columns)
    told = ", ".join(f"{name} {shape}" for name, shape in found)
    raise UserError(
        f"--perception: the network has inputs {told}, not one `strip` [B, {usual.rows}, C, 3]; name one that sees."
    )
