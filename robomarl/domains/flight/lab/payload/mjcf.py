"""The load and its cables in the MuJoCo model: one more free body, and a spatial tendon of limited length for each."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for its enumerations and for MjSpec.
import mujoco
import numpy as np

from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig
from robomarl.domains.flight.lab.payload.start import outward

LIMIT_SOLREF = (0.012, 1.0)
"""Time constant [s] and damping ratio of a cable's limit: above twice the physics step, as MuJoCo asks for."""
LIMIT_SOLIMP = (0.98, 0.99, 0.001, 0.5, 2.0)
"""How hard the limit is: a cable stretches by a tenth of a millimetre at rest."""
LOAD_RGBA, CABLE_RGBA = (0.62, 0.47, 0.30, 1.0), (0.12, 0.12, 0.14, 1.0)


def add_load(spec: mujoco.MjSpec, load: LoadConfig, cables: CableConfig) -> None:
    """Add the body `load` (its frame at the centre of mass) and the tendons `cable0`, `cable1`, ...

    The vehicles' reference places become those of the start, which MuJoCo scales the tendons' limits with.
    """
    com, height = np.array(load.com_m), 1.0
    body = spec.worldbody.add_body(name="load", pos=[0, 0, height])
    body.mass, body.inertia = load.mass_kg, np.array(load.inertia_kg_m2)
    body.ipos, body.iquat, body.explicitinertial = np.zeros(3), np.array([1.0, 0, 0, 0]), True
    body.add_freejoint(name="load")
    low, high = np.array(load.box_low_m), np.array(load.box_high_m)
    box = body.add_geom(name="load", type=mujoco.mjtGeom.mjGEOM_BOX, size=(high - low) / 2, pos=(low + high) / 2 - com)
    box.mass, box.rgba = 0.0, np.array(LOAD_RGBA)
    for i, (point, lean) in enumerate(zip(cables.load_points_m, outward(cables), strict=True)):
        body.add_site(name=f"load_point{i}", pos=np.array(point) - com, size=[0.005] * 3)
        vehicle = spec.body(f"robot{i}")
        vehicle.add_site(name=f"robot{i}_tie", pos=cables.vehicle_point_m, size=[0.005] * 3)
        vehicle.pos = np.array([0, 0, height]) + np.array(point) - com + lean * cables.length_m
        _add_cable(spec, i, cables.length_m)


def _add_cable(spec: mujoco.MjSpec, index: int, length_m: float) -> None:
    cable = spec.add_tendon(name=f"cable{index}", limited=True, range=[0, length_m])
    cable.solref_limit, cable.width, cable.rgba = np.array(LIMIT_SOLREF), 0.004, np.array(CABLE_RGBA)
    cable.solimp_limit = np.array(LIMIT_SOLIMP)
    cable.wrap_site(f"robot{index}_tie")
    cable.wrap_site(f"load_point{index}")
    spec.add_sensor(
        name=f"tension{index}",
        type=mujoco.mjtSensor.mjSENS_TENDONLIMITFRC,
        objtype=mujoco.mjtObj.mjOBJ_TENDON,
        objname=f"cable{index}",
    )
