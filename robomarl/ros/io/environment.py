"""`environment`: variables that nodes need in their environment: transport, domain, enclaves. No ROS here."""

import os
from pathlib import Path

from robomarl.core.config import UserError

PROFILES_ENV, PROFILES = "FASTDDS_DEFAULT_PROFILES_FILE", Path(__file__).with_name("fastdds.xml")
"""Variable that names the profiles of Fast DDS, and our file; a file that the user has set is kept."""
OLD_PROFILES_ENV = "FASTRTPS_DEFAULT_PROFILES_FILE"
"""Name of that variable before Fast DDS 3, which does not read the old name."""
MAX_DOMAIN = 101
"""Larger domain ids use ports that Linux gives to other programs."""


def environment(sim: bool, domain_id: int | None = None, keystore: str = "") -> dict[str, str]:
    """Return the variables that all nodes, and programs that talk to them, need in their environment.

    Args:
        sim: True if the robots are simulated: nothing leaves this machine.
        domain_id: ROS domain; None: the environment's.
        keystore: folder of the enclaves; "": an open network.

    Raises:
        UserError: the domain id is out of range.
    """
    if domain_id is not None and not 0 <= domain_id <= MAX_DOMAIN:
        raise UserError(f"--domain-id {domain_id} is out of range; it must be from 0 to {MAX_DOMAIN}.")
    # Shared memory made discovery take seconds now and then when several nodes ran on one machine.
    made = {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if not os.environ.get(PROFILES_ENV):
        made[PROFILES_ENV] = os.environ.get(OLD_PROFILES_ENV) or str(PROFILES)
    if sim:
        made["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    if domain_id is not None:
        made["ROS_DOMAIN_ID"] = str(domain_id)
    if keystore:
        made |= secured_environment(keystore)
    return made


def secured_environment(keystore: str) -> dict[str, str]:
    """Return the variables that give a node an enclave, and keep it from starting without one."""
    return {"ROS_SECURITY_KEYSTORE": keystore, "ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Enforce"}
