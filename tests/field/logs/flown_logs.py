"""Synthetic flights in NanoBench's layout, by an integration of its own: the parameters behind them are known."""

import lzma
from pathlib import Path

import numpy as np

from robomarl.field.logs.layout import load_log_layout

LAYOUT = load_log_layout("nanobench")
STEP_S, EVERY, TOP_S = 0.002, 5, 24.0
FORCE_PER_VOLT, ROTOR_LAG_S = 3.3, 0.05
DRAG_PER_S = (0.35, 0.45, 0.2)
LOOP = {"frequency_rad_s": 16.0, "damping": 0.7, "delay_s": 0.03, "gain": 0.85}
GRAVITY = 9.81


def flown(seed: int, late_s: float = 0.0, orders: bool = True) -> dict[str, np.ndarray]:
    """Columns of one flight of 24 s that swings along x and y, with the motors off at its ends.

    Args:
        seed: seed of the swings.
        late_s: how much later the vehicle's clock is than that of motion capture.
        orders: False for orders that were not logged.
    """
    random = np.random.default_rng(seed)
    time_s = np.arange(0, TOP_S, STEP_S)
    flies = (time_s > 2) & (time_s < TOP_S - 2)
    order = sum(
        random.uniform(0.03, 0.06, (1, 2)) * np.sin(rate * time_s[:, None] + random.uniform(0, 6, (1, 2)))
        for rate in random.uniform(2, 9, 5)
    ) * flies[:, None]  # fmt: skip
    tilt, rate = _tilts(order)
    volts = 4.1 - 0.6 * flies - 0.004 * time_s
    place, speed, felt, duty = _moved(tilt, volts, flies, random)
    rows = slice(0, None, EVERY)
    quat = _quat(tilt)
    on_board = {
        **dict(zip(LAYOUT.estimate.position, place.T, strict=True)),
        **dict(zip(LAYOUT.estimate.velocity, 0.9 * speed.T, strict=True)),
        **dict(zip(LAYOUT.estimate.quaternion, quat.T, strict=True)),
        **dict(zip(LAYOUT.acceleration, felt.T / GRAVITY, strict=True)),
        **dict(zip(LAYOUT.gyro, np.c_[rate, 0 * time_s].T, strict=True)),
        **dict(zip(LAYOUT.setpoint.tilt, (np.degrees(order) * (1, -1) * orders).T, strict=True)),
        **dict.fromkeys(LAYOUT.setpoint.position, 0 * time_s),
        **dict.fromkeys(LAYOUT.motors, 65535 * duty),
        LAYOUT.battery: volts,
    }
    truth = dict(zip((*LAYOUT.truth.position, *LAYOUT.truth.quaternion), np.c_[place, quat].T, strict=True))
    shifted = {name: np.interp(time_s - late_s, time_s, values) for name, values in on_board.items()}
    return {LAYOUT.time: 1.7e9 + time_s[rows]} | {name: values[rows] for name, values in (truth | shifted).items()}


def _tilts(order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tilts and their rates [K, 2] of a loop of second order with delay, by small steps."""
    late = np.roll(order, round(LOOP["delay_s"] / STEP_S), 0)
    tilt, rate = np.zeros_like(order), np.zeros_like(order)
    for k in range(1, len(order)):
        pull = LOOP["frequency_rad_s"] ** 2 * (LOOP["gain"] * late[k - 1] - tilt[k - 1])
        rate[k] = rate[k - 1] + STEP_S * (pull - 2 * LOOP["damping"] * LOOP["frequency_rad_s"] * rate[k - 1])
        tilt[k] = tilt[k - 1] + STEP_S * rate[k]
    return tilt, rate


def _moved(
    tilt: np.ndarray, volts: np.ndarray, flies: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities, accelerometer [K, 3] and commands of the motors [K]: a spring holds it near (0, 0, 1)."""
    count = len(tilt)
    place, speed, felt, duty = (
        np.zeros((count, 3)),
        np.zeros((count, 3)),
        np.tile([0, 0, GRAVITY], (count, 1)),
        np.zeros(count),
    )
    force, wander = 0.0, np.cumsum(random.normal(0, 0.02, count))
    turns = _turns(tilt)
    for k in range(1, count):
        place[k], speed[k] = place[k - 1], speed[k - 1]
        if not flies[k]:
            place[k, 2], speed[k], force = 0.0, 0.0, 0.0
            continue
        height = 1 + 0.2 * np.sin(3 * k * STEP_S)
        lift = GRAVITY + 9 * (height - place[k, 2]) - 5 * speed[k, 2] + 0.3 * np.sin(wander[k])
        duty[k] = np.clip(lift / FORCE_PER_VOLT / volts[k], 0.05, 1)
        force += STEP_S / ROTOR_LAG_S * (FORCE_PER_VOLT * duty[k] * volts[k] - force)
        felt[k] = np.array([0, 0, force]) - np.array(DRAG_PER_S) * (turns[k].T @ speed[k]) * (1, 1, 0)
        push = turns[k] @ felt[k] - (0, 0, GRAVITY)
        speed[k] = speed[k] + STEP_S * push
        place[k] = place[k] + STEP_S * speed[k]
    return place, speed, felt, duty


def _turns(tilt: np.ndarray) -> np.ndarray:
    """[K, 3, 3] of roll and then pitch."""
    (roll, pitch), one, zero = tilt.T, np.ones(len(tilt)), np.zeros(len(tilt))
    about_x = np.array([[one, zero, zero], [zero, np.cos(roll), -np.sin(roll)], [zero, np.sin(roll), np.cos(roll)]])
    about_y = np.array([[np.cos(pitch), zero, np.sin(pitch)], [zero, one, zero], [-np.sin(pitch), zero, np.cos(pitch)]])
    return np.einsum("ijk,jlk->kil", about_y, about_x)


def _quat(tilt: np.ndarray) -> np.ndarray:
    """[K, 4] of pitch times roll."""
    roll, pitch = tilt.T / 2
    parts = (np.cos(pitch) * np.cos(roll), np.cos(pitch) * np.sin(roll), np.sin(pitch) * np.cos(roll))
    return np.stack([*parts, -np.sin(pitch) * np.sin(roll)], -1)


def written(file: Path, content: dict[str, np.ndarray]) -> Path:
    """Write columns as CSV, compressed where the file's ending is .xz."""
    rows = np.stack(list(content.values()), -1)
    text = ",".join(content) + "\n" + "\n".join(",".join(f"{value:.9f}" for value in row) for row in rows) + "\n"
    file.write_bytes(lzma.compress(text.encode()) if file.suffix == ".xz" else text.encode())
    return file
