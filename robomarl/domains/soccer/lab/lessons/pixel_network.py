"""`PixelNetwork`: one network from what `PixelObserver` gives to a command, with a memory, in torch."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
import torch
from torch import Tensor, nn

from robomarl.domains.soccer.core.sight.layout import SPOT, SightLayout

SPOT_FEATURES = 9
"""Numbers that the network reads of a spot: see `_spots`."""


class PixelNetwork(nn.Module):
    """Perception's output, odometry and radio to a unit action, by a gated recurrent unit."""

    mean: Tensor
    spread: Tensor

    def __init__(self, size: int, layout: SightLayout, hidden: int = 256, actions: int = 4) -> None:
        """Make the layers.

        Args:
            size: P, length of an observation.
            layout: of the perception's output.
            hidden: width of the memory.
            actions: A.
        """
        super().__init__()
        self.layout, self.hidden, self.actions = layout, hidden, actions
        others = size - SPOT * layout.spots
        self.register_buffer("mean", torch.zeros(others))
        self.register_buffer("spread", torch.ones(others))
        self.enter = nn.Sequential(nn.Linear(SPOT_FEATURES * layout.spots + others, hidden), nn.SiLU())
        self.memory = nn.GRUCell(hidden, hidden)
        self.leave = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.SiLU(), nn.Linear(hidden, actions))

    def start(self, batch: int) -> Tensor:
        """Return the memory [B, H] before the first decision."""
        return torch.zeros(batch, self.hidden)

    def forward(self, memory: Tensor, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the memory [B, H] and the action [B, A] in [-1, 1], along the body's axes, for obs [B, P]."""
        spots, others = obs[:, : SPOT * self.layout.spots], obs[:, SPOT * self.layout.spots :]
        others = ((others - self.mean) / self.spread).clamp(-5, 5)
        seen = self.enter(torch.cat([_spots(spots, self.layout.spots), others], 1))
        memory = self.memory(seen, memory)
        return memory, torch.tanh(self.leave(torch.cat([memory, seen], 1)))


def _spots(spots: Tensor, count: int) -> Tensor:
    """[B, 9 K] of spots [B, 5 K]: probability, whether it is above a half, and what counts for so much only.

    Azimuth as cosine and sine, the inverse range, the place from the camera in units of 2 m, and both errors.
    """
    chance, azimuth, reach, azimuth_error, range_error = spots.reshape(len(spots), count, SPOT).unbind(-1)
    c, s = torch.cos(azimuth), torch.sin(azimuth)
    told = [c, s, 0.1 / (reach + 0.1), reach * c / 2, reach * s / 2, 10 * azimuth_error, 3 * range_error]
    parts = [chance, (chance > 0.5).float(), *(chance * part for part in told)]
    return torch.stack(parts, -1).reshape(len(spots), -1)
