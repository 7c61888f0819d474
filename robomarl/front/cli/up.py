"""Start a fleet's ROS 2 nodes as the launch file does, without `ros2 launch`."""

import os
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from robomarl.core.config import Natural, NonNegative, Range, Seed
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder, Written, check_folder

if TYPE_CHECKING:
    from robomarl.core.hardware.fleet import Fleet
    from robomarl.ros.operator.plan_options import PlanOptions

LAST_DOMAIN = 232
"""Largest domain of DDS, which numbers its ports by the domain."""

STAYING = (
    "mocap",
    "robots",
    "no_policies",
    "no_monitor",
    "namespace",
    "params_file",
    "use_sim_time",
    "log_level",
    "secure",
)
"""Options that are for staying up only."""


@dataclass(frozen=True)
class Args:
    """Options of `robomarl up`."""

    fleet: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FLEET")]
    """Name of a fleet in hardware_configs/fleets/, or a YAML file."""
    sim: Literal["mujoco"] | None = None
    """Simulate the robots; without it only the policy nodes start, for robots that are there."""
    vehicles: Literal["crazyflie", "crazyswarm", "px4", "px4_dds", "mavros", "ardupilot", "ssl", "base"] | None = None
    """Start the adapter of these vehicles, with URIs from the fleet file; bases (TurtleBot and others that
    take a Twist) are found by their topics. With --sim mujoco they are simulated behind their own
    protocol, and start on the ground.
    """
    mocap: Literal["named_poses", "pose", "tf"] | None = None
    """Start the node that makes odometry of motion capture, which says where robots are in this way: NamedPoseArray,
    PoseStamped of each, or tf."""
    bundle: str = ""
    """Name or folder of a bundle for all robots, instead of the one that each was flashed with."""
    root: Path = Path()
    """Folder that the robots' relative folders are below; by default the working directory."""
    flights: Natural = 0
    """Number of flights in the simulator to fly and judge before the end; 0: stay up until Ctrl-C."""
    seed: Seed = 0
    """Seed of the first simulated flight."""
    duration: NonNegative = 0.0
    """Seconds: the longest flight, the length of a match, or with --flights 0 how long to stay up; 0: no limit of its
    own."""
    autostart: bool = False
    """Arm and activate each robot once it is READY (with --flights 0); it moves at once then. By default
    robots wait for an operator (services all/arm, all/activate).
    """
    link: bool = False
    """Put the link emulator between the robots, to rehearse loss, delay and faults of sensors (with --flights 0)."""
    mission: str = ""
    """Mission (a name of ros_nodes/missions, or a YAML file) to fly from the ground to the ground with
    --sim mujoco, for a team that carries a load; its report is written below --out, then all ends.
    """
    against: str = ""
    """Bundle of the second team of a game, if it is another one than --bundle."""
    stay: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Leave start and end of a game with --sim mujoco to the referee's services, until Ctrl-C. By default
    one match is played, its report written below --out, and all ends.
    """
    lose: str = ""
    """ROBOT@SECONDS of a --mission: end that robot's policy node this long after the take-over."""
    ground: bool = False
    """Simulated robots start on the ground and take off to the hand-over altitude of the scenario or fleet file."""
    robots: tuple[str, ...] = ()
    """Robots to start policy nodes for (with --flights 0); by default the whole fleet."""
    no_policies: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Start no policy nodes (with --flights 0); robots that systemd starts have theirs. Monitor and recorder remain."""
    no_monitor: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Start no monitor (with --flights 0); one machine of a team has it."""
    namespace: str = ""
    """Namespace above the robots' own ones (with --flights 0)."""
    params_file: str = ""
    """ROS parameter file that all nodes read first (with --flights 0)."""
    use_sim_time: bool = False
    """Take the time from /clock (with --flights 0)."""
    log_level: str = "info"
    """Log level of all nodes (with --flights 0)."""
    secure: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Give nodes the enclaves that `robomarl fleet setup --secure` made (with --flights 0); they don't start
    without.
    """
    record: Annotated[str, Written("folder")] = ""
    """Folder for the recording (MCAP, rosbag2), which must not exist yet; by default runs/field/FLEET_DATE_TIME."""
    no_record: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Record nothing."""
    out: OutFolder = Path("runs/flights")
    """Folder for the flights' true logs."""
    domain_id: Annotated[int, Range(0, LAST_DOMAIN)] | None = None
    """ROS domain; by default one that nothing else on this machine uses."""


def run(args: Args) -> Figures:
    """Fly and judge, or stay up."""
    from robomarl.core.config import UsageError
    from robomarl.core.domain.registry import onboard_of
    from robomarl.core.hardware.field import scenario_content
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.ros.environment_check.check import check_environment
    from robomarl.ros.io.environment import environment

    fleet = load_fleet(args.fleet)
    check_environment({**os.environ, **environment(args.sim is not None, args.domain_id or 0)})
    domain = onboard_of(scenario_content(fleet.scenario))
    domain.check_order(fleet)
    args = replace(args, record=recording(args, fleet.name))
    if args.ground and not args.sim:
        raise UsageError("--ground needs --sim mujoco: real robots are where they are.")
    if (args.flights or args.mission) and not args.sim:
        word = "--flights" if args.flights else "--mission"
        raise UsageError(f"{word} needs --sim mujoco: only the simulator can judge a flight.")
    if args.vehicles and args.sim and not domain.is_game:
        args = replace(args, ground=True)
    judged = "--flights" if args.flights else "--mission" if args.mission else ""
    if judged and (given := [name for name in STAYING if getattr(args, name) != getattr(Args, name)]):
        raise UsageError(f"--{given[0].replace('_', '-')} is not for {judged}; leave one of them out.")
    check_loop(args, fleet)
    if args.lose and not args.mission:
        raise UsageError("--lose needs --mission.")
    figures = domain.rehearse(fleet, args)
    if figures is not None:
        return figures
    from robomarl.ros.operator.rehearsal import stay_up

    return stay_up(fleet, plan_of(fleet, args), relay, args.duration, args.fleet)


def check_loop(args: Args, fleet: "Fleet") -> None:
    """Raise `UserError` if the bundle of `--bundle` can't fly above the control of `--vehicles`."""
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.core.config import UserError
    from robomarl.ros.operator.fleet_plan import loop_under
    from robomarl.ros.preflight.inner_loop import loop_fault

    kind = loop_under(args.vehicles or "")
    if args.bundle and kind and (fault := loop_fault(load_bundle(args.bundle).contract, kind, fleet.vehicle_config)):
        raise UserError(f"--vehicles {args.vehicles}: {fault}.")


def recording(args: Args, fleet: str) -> str:
    """Return the folder of the recording; empty for none.

    Raises:
        UserError: there is to be one, and the package that writes it is not installed.
    """
    from robomarl.core.config import UserError
    from robomarl.ros.operator.plan_options import new_recording

    if args.no_record:
        return ""
    if find_spec("mcap") is None:
        raise UserError("mcap is not installed; run: pip install 'robomarl[ros]', or fly unrecorded with --no-record.")
    folder = args.record or new_recording(fleet)
    check_folder("--record", Path(folder))
    return folder


def plan_of(fleet: "Fleet", args: Args) -> "PlanOptions":
    """The `PlanOptions` that the options say.

    Raises:
        UserError: `--secure` without enclaves.
    """
    from robomarl.ros.operator.plan_options import PlanOptions

    same = set(PlanOptions.__dataclass_fields__) & set(Args.__dataclass_fields__)
    return PlanOptions(
        **{name: getattr(args, name) for name in same - {"root", "sim", "vehicles", "mocap"}},
        root=str(args.root),
        sim=args.sim is not None,
        vehicles=args.vehicles or "",
        mocap=args.mocap or "",
        log_dir=str(args.out.absolute()),
        policies=not args.no_policies,
        monitor=not args.no_monitor,
        keystore=enclaves_of(fleet.name) if args.secure else "",
    )


def enclaves_of(fleet: str) -> str:
    """Folder of the operator's keystore of a fleet.

    Raises:
        UserError: it was not made.
    """
    from robomarl.core.config import UserError
    from robomarl.ros.enclaves.keystore import keystore_of

    folder = keystore_of(fleet).folder
    if not (folder / "enclaves").is_dir():
        raise UserError(f"{folder}: has no enclaves; make them with `robomarl fleet setup {fleet} --secure`.")
    return str(folder.absolute())


def relay(name: str, line: str) -> None:
    """A node's line, on the error stream so that figures stay apart."""
    print(f"[{name}] {line}", file=sys.stderr, flush=True)
