"""`bench radio`: four Crazyflies on one radio: the rates of exchanges at which a swap of four flies.

The simulated vehicles share a radio (`SharedRadio`), the node of their adapter sends each 50 full states and
hears 50 estimates and 10 statuses a second, and with a corrected estimate 50 values of the accelerometer besides. Each
rate is flown by real processes.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import Row
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.flights import fly
from robomarl.ros.operator.plan_options import PlanOptions

RATES_HZ = (600, 300, 270, 250, 200)
CORRECTED_HZ = (600, 500, 460, 400)
"""Rates for a corrected estimate, which needs 440 exchanges a second of four vehicles at least."""
FLIGHTS = 5
BUNDLES = {"": "swap_4", "firmware_corrected": "swap_4_firmware"}
"""Bundles by the fleet's estimator."""
SIM = """
/sim:
  ros__parameters:
    radio_hz: {}.0
"""


def rows(
    rates_hz: tuple[int, ...] = RATES_HZ, flights: int = FLIGHTS, corrected_hz: tuple[int, ...] = CORRECTED_HZ
) -> list[Row]:
    """Share of flights that succeed, by rate, and contacts: on estimates as they are, and on corrected ones."""
    found = []
    cases = [("", rate_hz) for rate_hz in rates_hz] + [("firmware_corrected", rate_hz) for rate_hz in corrected_hz]
    for estimator, rate_hz in cases:
        succeeded, contacts, why = flown(rate_hz, flights, estimator)
        case = f"{BUNDLES[estimator]}, four Crazyflies, {rate_hz} exchanges/s" + (f" ({why})" if why else "")
        found.append(Row(case, "flights that succeed", succeeded / flights, ""))
        found.append(Row(case, "contacts", contacts, ""))
    return found


def flown(rate_hz: int, flights: int, estimator: str = "") -> tuple[int, int, str]:
    """Flights that succeeded, contacts, and why the team did not come up."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "radio.yaml")
        file.write_text(SIM.format(rate_hz))
        about = {"sim": True, "ground": True, "vehicles": "crazyflie", "bundle": f"policies/{BUNDLES[estimator]}"}
        plan = PlanOptions(**about, seed=100, params_file=str(file))
        try:
            result = fly(replace(load_fleet("local_4"), estimator=estimator), plan, flights)
        except UserError as error:
            return 0, 0, str(error).split(",")[0]
    return sum(f.success for f in result.flights), sum(f.collisions for f in result.flights), ""
