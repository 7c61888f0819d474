"""`find_gl`: the GL library that MuJoCo can draw with on this machine, without a screen."""

import functools
import os
import subprocess
import sys

BACKENDS = ("egl", "osmesa")
"""MuJoCo's GL libraries that need no screen, the faster one first."""
PROBE = "from mujoco.{0} import GLContext; c = GLContext(32, 32); c.make_current(); c.free()"


@functools.cache
def find_gl() -> str:
    """Name of a GL library that works here, or "". Tried in another process: a broken driver may kill it."""
    asked = os.environ.get("MUJOCO_GL", "").lower()
    for name in [b for b in BACKENDS if asked in ("", b)]:
        environment = {**os.environ, "MUJOCO_GL": name, "PYOPENGL_PLATFORM": name}
        command = [sys.executable, "-c", PROBE.format(name)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return name
    return ""
