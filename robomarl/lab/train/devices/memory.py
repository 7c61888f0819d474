"""Memory of a compiled update, compared with the memory of its devices before it runs."""

import jax
from jax.stages import Compiled

from robomarl.core.config import UserError
from robomarl.lab.memory import available_bytes
from robomarl.lab.train.state import PlayAndLearn, Update


def check_memory(update: Update, seeds: int, free: int) -> None:
    """Check that seeds that train side by side fit into the memory of each device.

    Args:
        update: compiled for all seeds.
        seeds: their number.
        free: memory of a device [bytes], `device_bytes`.

    Raises:
        UserError: they do not; it names a number that does.
    """
    need = needed_bytes(update)
    if seeds == 1 or need <= free:
        return
    fit, said = int(seeds * free // need), f"--seeds {seeds} need about {need / 1e9:.3g} GB"
    mend = f"train {fit} at a time" if fit else "lower num_envs or unroll of the recipe"
    raise UserError(f"{said} side by side, and {free / 1e9:.3g} GB are free; {mend}.")


def needed_bytes(update: Update) -> int:
    """Return the memory of the update's largest program: inputs, results and temporary arrays."""
    parts = vars(update).values() if isinstance(update, PlayAndLearn) else (update,)
    return max((program_bytes(part) for part in parts if isinstance(part, Compiled)), default=0)


def program_bytes(program: Compiled) -> int:
    """Memory of one program on each device; 0 where its compiler does not say."""
    found = program.memory_analysis()
    if found is None:
        return 0
    return found.argument_size_in_bytes + found.output_size_in_bytes + found.temp_size_in_bytes


def device_bytes() -> int:
    """Free memory of the first device; on a CPU that of the machine."""
    figures = jax.devices()[0].memory_stats()
    if figures and "bytes_limit" in figures:
        return figures["bytes_limit"] - figures.get("bytes_in_use", 0)
    return available_bytes()
