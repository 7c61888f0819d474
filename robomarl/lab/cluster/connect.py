"""Ray, on this machine or at an address: begun, checked, and left as it was."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import ray
from ray._private import ray_constants

from robomarl import __version__
from robomarl.core.config import UserError
from robomarl.lab.memory import available_bytes

LOCAL = "local"
CLIENT_PORT, ANSWER_S = 10001, 5.0
"""Port of Ray's clients, and time in which a cluster has to answer."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
WORKER_BYTES = 1_200_000_000
"""Memory of a worker with a training of a recipe that ships [bytes]; measured: 0.9 GB with `swap_4`."""


@dataclass(frozen=True)
class Cluster:
    """Place that computes tasks: this machine or a Ray cluster."""

    on: str = LOCAL
    """local, or ray://HOST:PORT."""
    workers: int = 0
    """Tasks at a time; 0: one a core, as far as there is memory."""


@contextmanager
def connected(cluster: Cluster, worker_bytes: int = WORKER_BYTES) -> Iterator[int]:
    """Connect to Ray, and yield the number of tasks at a time.

    Args:
        cluster: place and number of workers.
        worker_bytes: memory of one worker [bytes].

    Raises:
        UserError: there is not enough memory, no cluster at the address, one that anybody may use, or one whose
            robomarl or JAX has another version.
    """
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to the makers of Ray
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")  # Tune's own tables, beside our progress bar
    if cluster.on == LOCAL:
        workers = _workers_here(cluster.workers, worker_bytes)
        _stay_on_loopback()
        ray.init(
            LOCAL,  # without this word Ray joins a cluster that it finds running on the machine
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _node_ip_address=LOOPBACK[0],
        )
    else:
        _check_address(cluster.on)
        _use_token()
        _connect(cluster.on)
    try:
        if cluster.on != LOCAL:
            _check_versions(cluster.on)
            workers = cluster.workers or int(ray.cluster_resources().get("CPU", 1))
        yield workers
    finally:
        ray.shutdown()


def check_place(cluster: Cluster, worker_bytes: int = WORKER_BYTES) -> None:
    """Raise the errors of `connected` that need no connection: too little memory, an address that is none or open."""
    if cluster.on == LOCAL:
        _workers_here(cluster.workers, worker_bytes)
    else:
        _check_address(cluster.on)


def _stay_on_loopback() -> None:
    """Let no process of Ray listen on another address; Ray replaces 127.0.0.1 by the machine's, and listens on all."""
    os.environ[ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR] = "0"  # for the processes that Ray begins
    ray_constants.ENABLE_RAY_CLUSTER = False


def _workers_here(asked: int, worker_bytes: int) -> int:
    """Number of workers on this machine; raises `UserError` where its memory does not hold the asked ones."""
    free = available_bytes()
    held = max(1, free // worker_bytes)
    if asked > held:
        need, have = asked * worker_bytes / 1e9, free / 1e9
        raise UserError(f"--workers {asked} need about {need:.1f} GB, and {have:.1f} GB are free; name {held} or less.")
    return asked or max(1, min(os.cpu_count() or 1, held))


def _check_address(address: str) -> None:
    """Raises `UserError` where the address is none, or would let anybody run programs."""
    parts = urlsplit(address)
    if parts.scheme != "ray" or not parts.hostname:
        raise UserError(f"--on {address!r} is no place; write local or ray://HOST:10001, for sweeps also slurm.")
    if parts.hostname not in LOOPBACK and os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        reason = "whoever reaches an open cluster runs programs there"
        raise UserError(f"--on {address}: {reason}; start it with RAY_AUTH_MODE=token, and set that here too.")


def _use_token() -> None:
    """Show the token of this machine to the cluster, if there is one; by itself Ray's client does not."""
    named = "RAY_AUTH_TOKEN" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ
    if named or (Path.home() / ".ray" / "auth_token").is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def _connect(address: str) -> None:
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or CLIENT_PORT), ANSWER_S).close()  # Ray waits 60 s
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        mend = "start one there, or set its RAY_AUTH_TOKEN"
        raise UserError(f"--on {address}: no cluster answers ({str(error).splitlines()[0]}); {mend}.") from None


def _check_versions(address: str) -> None:
    """Raises `UserError` where the workers have another robomarl or JAX."""
    here = versions()
    there: dict[str, str] = ray.get(ray.remote(versions).remote())
    for name, version in here.items():
        if there[name] != version:
            raise UserError(f"--on {address}: {name} is {there[name]} there and {version} here; install {version}.")


def versions() -> dict[str, str]:
    """Versions that decide whether results agree in every bit."""
    import jax

    return {"robomarl": __version__, "jax": jax.__version__}
