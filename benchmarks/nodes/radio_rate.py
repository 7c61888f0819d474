"""`bench radio`: four Crazyflies on one radio: the smallest rate of exchanges at which `swap_4` flies.

The simulated vehicles share a radio (`SharedRadio`), the node of their adapter sends each 50 full states and
hears 50 estimates and 10 statuses a second. Each rate is flown by real processes.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import Row
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.flights import fly
from robomarl.ros.operator.plan_options import PlanOptions

RATES_HZ = (600, 300, 270, 250, 200)
FLIGHTS = 5
SIM = """
/sim:
  ros__parameters:
    radio_hz: {}.0
"""


def rows(rates_hz: tuple[int, ...] = RATES_HZ, flights: int = FLIGHTS) -> list[Row]:
    """Share of flights that succeed, by rate, and contacts."""
    found = []
    for rate_hz in rates_hz:
        succeeded, contacts, why = flown(rate_hz, flights)
        case = f"swap_4, four Crazyflies, {rate_hz} exchanges/s" + (f" ({why})" if why else "")
        found.append(Row(case, "flights that succeed", succeeded / flights, ""))
        found.append(Row(case, "contacts", contacts, ""))
    return found


def flown(rate_hz: int, flights: int) -> tuple[int, int, str]:
    """Flights that succeeded, contacts, and why the team did not come up."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "radio.yaml")
        file.write_text(SIM.format(rate_hz))
        about = {"sim": True, "ground": True, "vehicles": "crazyflie", "bundle": "policies/swap_4"}
        plan = PlanOptions(**about, seed=100, params_file=str(file))
        try:
            result = fly(load_fleet("local_4"), plan, flights)
        except UserError as error:
            return 0, 0, str(error).split(",")[0]
    return sum(f.success for f in result.flights), sum(f.collisions for f in result.flights), ""
