"""`SightNetwork`: the perception network in torch, from a strip to the numbers of `SightLayout`.

Convolutions lead to a grid of 8 x 24 cells, each of 4 rows and a 24th of the columns. Each cell says whether the foot
of the ball, of a mate or of an opponent is in it, where in it, and how surely. A coarser grid gives the pose and adds
what is around.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from robomarl.core.camera.strip import GroundStrip
from robomarl.domains.soccer.core.sight.layout import SightLayout

CELL = 4
"""Rows of a cell of the grid."""
ACROSS = 24
"""Cells of the grid in a row."""
KINDS = 3
"""Ball, mate, opponent."""
PARTS = 5
"""Logit, offsets of row and column in cells, logarithms of their standard deviations."""
LEAST_LOG, MOST_LOG = -4.0, 2.0
"""Bounds of the logarithms of standard deviations."""


class SightNetwork(nn.Module):
    """Convolutions over the strip; see the module."""

    def __init__(self, strip: GroundStrip, wide: int = 32) -> None:
        """Make the layers.

        Args:
            strip: the picture's shape.
            wide: channels of the grid; training and inference take time with its square.
        """
        super().__init__()
        self.grid = strip.rows // CELL, ACROSS
        deep, skip = wide * 3 // 2, strip.columns // ACROSS // 2
        first = nn.Conv2d(3, wide, (3, skip * 3 // 2), (2, skip), (1, skip // 2), bias=False)
        self.first = nn.Sequential(first, nn.BatchNorm2d(wide), nn.ReLU(inplace=True))
        self.fine = nn.Sequential(_step(wide, wide, 2), _step(wide, wide, 1), Refinement(wide))
        self.coarse = nn.Sequential(_step(wide, deep, 2), _step(deep, deep, 1), Refinement(deep))
        self.beside = nn.Sequential(nn.Conv2d(deep, wide, 1), nn.Upsample(scale_factor=2))
        self.cells = nn.Sequential(_step(wide, wide, 1), nn.Conv2d(wide, KINDS * PARTS, 1))
        flat = (self.grid[0] // 4) * (self.grid[1] // 4) * 48
        self.pose = nn.Sequential(_step(deep, 48, 2), nn.Flatten(), nn.Linear(flat, 128), nn.ReLU(), nn.Linear(128, 6))
        self.nothing = nn.Parameter(torch.zeros(1))

    def forward(self, strip: Tensor) -> tuple[Tensor, Tensor]:
        """Return cells [B, 3, 5, rows, columns] and pose [B, 6] of strips [B, R, C, 3] uint8."""
        picture = strip.permute(0, 3, 1, 2).float()
        mean = picture.mean((2, 3), keepdim=True)
        spread = ((picture - mean) ** 2).mean((1, 2, 3), keepdim=True).sqrt()
        fine = self.fine(self.first((picture - mean) / (spread + 8.0)))
        coarse = self.coarse(fine)
        cells = self.cells(fine + self.beside(coarse))
        return cells.reshape(-1, KINDS, PARTS, *self.grid), self.pose(coarse)


class Refinement(nn.Module):
    """A convolution whose output is added to its input; a new one adds nothing."""

    def __init__(self, wide: int) -> None:
        """Make the layer."""
        super().__init__()
        self.convolution = nn.Conv2d(wide, wide, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(wide)
        nn.init.zeros_(self.norm.weight)

    def forward(self, grid: Tensor) -> Tensor:
        """Return the grid [B, wide, rows, columns] with what the convolution adds."""
        return functional.relu(grid + self.norm(self.convolution(grid)))


def _step(inputs: int, outputs: int, stride: int) -> nn.Module:
    """Return a convolution of 3 x 3 with batch norm and ReLU."""
    convolution = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class SightGraph(nn.Module):
    """The network with its output decoded to the vector of `SightLayout`: what is exported."""

    def __init__(self, network: SightNetwork, strip: GroundStrip, layout: SightLayout) -> None:
        """Take the parts."""
        super().__init__()
        self.network, self.strip, self.layout = network, strip, layout
        self.log_row = math.log(strip.far_m / strip.near_m) / strip.ground_rows
        self.cell_rad = strip.azimuth_rad / ACROSS

    def forward(self, strip: Tensor) -> Tensor:
        """Return [1, S] for one strip [1, R, C, 3] uint8."""
        cells, pose = self.network(strip)
        maps = cells.reshape(1, KINDS, PARTS, -1)
        ball_logits = maps[:, 0, 0]
        chances = torch.softmax(torch.cat([self.network.nothing.reshape(1, 1), ball_logits], 1), 1)
        ball = self._spots(maps[:, 0], torch.argmax(ball_logits, 1, keepdim=True), 1 - chances[:, :1])
        parts = [ball]
        for kind, count in ((2, self.layout.opponents), (1, self.layout.mates)):
            logits = cells[:, kind, :1]
            peak = functional.max_pool2d(logits, 3, 1, 1) <= logits
            score = torch.where(peak, torch.sigmoid(logits), torch.zeros_like(logits)).reshape(1, -1)
            best, where = torch.topk(score, count, 1)
            parts.append(self._spots(maps[:, kind], where, best))
        double = pose[:, 2:4] / (pose[:, 2:4].norm(dim=1, keepdim=True) + 1e-6)
        errors = torch.exp(pose[:, 4:].clamp(LEAST_LOG - 1, MOST_LOG))
        return torch.cat([torch.cat(parts, 1).reshape(1, -1), pose[:, :2], double, errors], 1)

    def _spots(self, maps: Tensor, where: Tensor, chance: Tensor) -> Tensor:
        """Return [1, K, 5] spots of the cells `where` [1, K] of one kind's maps [1, 5, cells]."""
        wide = self.network.grid[1]
        row_off, column_off, row_log, column_log = (torch.gather(maps[:, i], 1, where) for i in range(1, PARTS))
        cell_row = torch.div(where, wide, rounding_mode="floor").float()
        row = CELL * (cell_row + 0.5 + row_off)
        column = where.float() - wide * cell_row + 0.5 + column_off
        log_range = math.log(self.strip.far_m) - (row - self.strip.above_rows) * self.log_row
        azimuth = self.strip.azimuth_rad / 2 - column * self.cell_rad
        row_error, column_error = (torch.exp(part.clamp(LEAST_LOG, MOST_LOG)) for part in (row_log, column_log))
        spots = [chance, azimuth, torch.exp(log_range), column_error * self.cell_rad, CELL * row_error * self.log_row]
        return torch.stack(spots, 2)


def sight_loss(cells: Tensor, pose: Tensor, nothing: Tensor, labels: dict[str, Tensor]) -> Tensor:
    """Return the mean negative logarithm of the labels' likelihood.

    Args:
        cells: [B, 3, 5, rows, columns] of the network.
        pose: [B, 6] of the network.
        nothing: [1] logit of a picture without a ball.
        labels: seen [B, T] (1, 0, -1: ignore), kind [B, T], row and column [B, T] in cells, pose [B, 4].
    """
    size, wide = cells.shape[0], cells.shape[-1]
    maps = cells.reshape(size, KINDS, PARTS, -1)
    at_row = labels["row"].floor().clamp(0, cells.shape[-2] - 1)
    at_column = labels["column"].floor().clamp(0, wide - 1)
    where = (at_row * wide + at_column).long()
    seen, kind = labels["seen"], labels["kind"].long()
    picked = maps[torch.arange(size)[:, None], kind, :, where]
    loss = _ball_loss(maps[:, 0, 0], nothing, seen[:, 0], where[:, 0]) + _robot_loss(maps[:, 1:, 0], seen, kind, where)
    places = ((labels["row"] - at_row - 0.5, 1), (labels["column"] - at_column - 0.5, 2))
    fit = sum(
        _gauss(picked[..., part], truth, picked[..., part + 2].clamp(LEAST_LOG, MOST_LOG)) for truth, part in places
    )
    loss = loss + (fit * (seen == 1)).sum() / size
    truth, logs = labels["pose"], pose[:, 4:].clamp(LEAST_LOG - 1, MOST_LOG)
    centre = _gauss(pose[:, :2], truth[:, :2], logs[:, :1]).sum(1)
    turned = _gauss(pose[:, 2:4] / 2, truth[:, 2:] / 2, logs[:, 1:]).sum(1)
    return loss + 0.5 * (centre + turned).mean()


def _gauss(value: Tensor, truth: Tensor, log: Tensor) -> Tensor:
    """Negative logarithm of a normal density, but for a constant; a large error counts by its size only."""
    miss = ((value - truth) * torch.exp(-log)).abs()
    return torch.where(miss < 3, 0.5 * miss * miss, 3 * miss - 4.5) + log


def _ball_loss(logits: Tensor, nothing: Tensor, seen: Tensor, where: Tensor) -> Tensor:
    all_logits = torch.cat([nothing.expand(len(logits), 1), logits], 1)
    target = torch.where(seen == 1, where + 1, torch.zeros_like(where))
    loss = functional.cross_entropy(all_logits, target, reduction="none")
    return (loss * (seen >= 0)).mean()


def _robot_loss(logits: Tensor, seen: Tensor, kind: Tensor, where: Tensor) -> Tensor:
    """Binary cross-entropy over all cells, without those of robots that hardly show."""
    size = len(logits)
    target, weight = torch.zeros_like(logits), torch.ones_like(logits)
    rows = torch.arange(size)[:, None].expand_as(where)[:, 1:]
    index = rows, kind[:, 1:] - 1, where[:, 1:]
    weight[index] = torch.where(seen[:, 1:] < 0, 0.0, weight[index])
    found = seen[:, 1:] == 1
    chosen = tuple(part[found] for part in index)
    target[chosen], weight[chosen] = 1.0, 1.0
    loss = functional.binary_cross_entropy_with_logits(logits, target, weight, reduction="none")
    return loss.sum() / size
