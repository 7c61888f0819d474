"""`examine`: all checks of `robomarl doctor`, side by side; and their table."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from robomarl.front.doctor.finding import Examination, Finding, findings_of
from robomarl.front.doctor.graphics_checks import accelerator, drawing
from robomarl.front.doctor.machine_checks import clock, cores_and_memory, disks, ssh
from robomarl.front.doctor.python_checks import extras, filter_kernel, python_version, robomarl_itself
from robomarl.front.doctor.ros_checks import loopback, ros_installed, ros_variables

LOOPBACK = Examination("DDS loopback", loopback, True)
EXAMINATIONS = (
    Examination("Python", python_version, True),
    Examination("robomarl", robomarl_itself, True),
    Examination("extras", extras),
    Examination("C kernel", filter_kernel),
    Examination("ROS 2", ros_installed, True),
    Examination("ROS variables", ros_variables),
    LOOPBACK,
    Examination("GL", drawing),
    Examination("GPU", accelerator),
    Examination("cores and memory", cores_and_memory),
    Examination("clock", clock),
    Examination("disks", disks, True),
    Examination("ssh", ssh),
)
"""All checks, in the order of the table."""


def examine(checks: Sequence[Examination], quick: bool = False) -> Iterator[Finding]:
    """Run the checks side by side, and yield their rows in the checks' order as soon as they are known.

    Args:
        checks: checks to run.
        quick: leave out the message over loopback, which may take `ros_checks.LIMIT_S`.
    """
    chosen = [check for check in checks if not (quick and check is LOOPBACK)]
    with ThreadPoolExecutor(len(chosen)) as pool:
        for future in [pool.submit(findings_of, check) for check in chosen]:
            yield from future.result()


def line(row: Finding) -> str:
    """Return a row of the table."""
    text = f"{row.state:<8}{row.name:<30} {row.found}"
    return f"{text} -> {row.fix}" if row.fix else text
