"""The section `randomize` of teams that fly, with a load or without."""

from dataclasses import dataclass

from robomarl.lab.sim.randomize import Interval, Randomize

ABOVE_ZERO = ("mass_scale", "thrust_scale", "rotor_tau_scale", "load_mass_scale", "cable_scale")
LOAD_NAMES = ("load_mass_scale", "load_com_m", "cable_scale", "attachment_m", "cut_s", "motors_off_s", "foreign")
"""Parameters that only scenarios with a load have."""


@dataclass(frozen=True)
class RandomizeConfig(Randomize):
    """Uniform ranges [low, high], drawn for each robot and episode (`wind`, `gust`: for the team)."""

    mass_scale: Interval = (1.0, 1.0)
    """True over nominal mass."""
    thrust_scale: Interval = (1.0, 1.0)
    """True over nominal thrust."""
    rotor_tau_scale: Interval = (1.0, 1.0)
    """True over nominal motor time constant."""
    delay_s: Interval = (0.0, 0.0)
    """Delay from the decision to the low-level controller."""
    noise_scale: Interval = (1.0, 1.0)
    """Factor on `sensing`."""
    packet_loss: Interval = (0.0, 0.0)
    """Probability that a message does not arrive, per receiver."""
    wind_m_s: Interval = (0.0, 0.0)
    """Size of the steady horizontal wind."""
    gust_m_s: Interval = (0.0, 0.0)
    """Standard deviation of the gusts."""
    load_mass_scale: Interval = (1.0, 1.0)
    """True over nominal mass of the load."""
    load_com_m: Interval = (0.0, 0.0)
    """Horizontal offset of the load's centre of mass, in any direction."""
    cable_scale: Interval = (1.0, 1.0)
    """True over nominal length, for each cable."""
    attachment_m: Interval = (0.0, 0.0)
    """Horizontal offset of each cable's point on the load, in any direction."""
    cut_s: Interval = (0.0, 0.0)
    """Time at which the cable of a vehicle picked at random is cut; 0 means never."""
    motors_off_s: Interval = (0.0, 0.0)
    """Time at which the motors of a vehicle picked at random stop, cable attached; 0 means never."""
    foreign: Interval = (0.0, 0.0)
    """Vehicles, from the last one down, that fly under another controller: the scenario's baseline."""

    def __post_init__(self) -> None:
        """Check the intervals."""
        super().__post_init__()
        for name in ABOVE_ZERO:
            if getattr(self, name)[0] <= 0:
                raise ValueError(f"{name} must be larger than 0.")
