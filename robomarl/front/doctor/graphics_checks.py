"""Checks of drawing and of accelerators, each in a process of its own: a broken driver may end a process."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec

from robomarl.front.doctor.finding import Finding, child
from robomarl.lab.gl import BACKENDS

LIMIT_S = 60.0
FRAME = """
import mujoco
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><light pos='0 0 2'/><geom size='.1' rgba='1 0 0 1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
with mujoco.Renderer(model, 48, 64) as renderer:
    renderer.update_scene(data)
    assert renderer.render().any(), "the frame is black"
"""
DEVICES = """
import json, jax
print(json.dumps([jax.__version__, jax.default_backend(), [device.device_kind for device in jax.devices()]]))
"""


def drawing() -> Iterator[Finding]:
    """Yield the row of one frame that MuJoCo renders without a screen, for films and the views of a camera."""
    if find_spec("mujoco") is None:
        yield Finding("GL", "note", "not tried: mujoco is not installed", "pip install 'robomarl[train]'")
        return
    asked, problem = os.environ.get("MUJOCO_GL", "").lower(), ""
    for name in [backend for backend in BACKENDS if asked in ("", backend)]:
        end = child(["-c", FRAME], {"MUJOCO_GL": name, "PYOPENGL_PLATFORM": name}, LIMIT_S)
        if end.ok:
            yield Finding("GL", "ok", f"MuJoCo renders a frame with {name}")
            return
        problem = f"{name}: {end.problem}"
    found = f"MuJoCo can't render ({problem or f'MUJOCO_GL={asked} needs a screen'}); films are drawn from above"
    fix = f"unset MUJOCO_GL, or set it to one of: {', '.join(BACKENDS)}" if asked else "sudo apt install libegl1"
    yield Finding("GL", "note", found, fix)


def accelerator() -> Iterator[Finding]:
    """Yield the rows of GPUs that the driver lists, and of the device that JAX computes on."""
    cards = gpus()
    yield Finding("GPU", "ok", ", ".join(cards) or "none found (nvidia-smi); training runs on the CPU")
    if find_spec("jax") is None:
        yield Finding("JAX", "missing", "not installed", "pip install 'robomarl[train]'")
        return
    end = child(["-c", DEVICES], {}, LIMIT_S)
    if not end.ok:
        fix = "pip install --force-reinstall 'robomarl[train]'; with a broken GPU driver: export JAX_PLATFORMS=cpu"
        yield Finding("JAX", "missing", f"can't compute ({end.problem})", fix)
        return
    release, backend, kinds = json.loads(end.output.splitlines()[-1])
    found = f"{release} on {backend} ({', '.join(dict.fromkeys(kinds))})"
    if cards and backend == "cpu":
        fix = "pip install 'robomarl[cuda]', and unset JAX_PLATFORMS"
        yield Finding("JAX", "note", f"{found}: the GPU is not used", fix)
    else:
        yield Finding("JAX", "ok", found)


def gpus() -> list[str]:
    """Return the names of NVIDIA GPUs; [] without the driver's program."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    words = [program, "--query-gpu=name", "--format=csv,noheader"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []
