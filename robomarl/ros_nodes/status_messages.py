"""Status messages and back: diagnostics (REP-107), how a robot announces itself, what its ticks did."""

from collections.abc import Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Float64MultiArray

from robomarl.ros_nodes.convert import MessageError, header, rows_to
from robomarl.ros_nodes.recording.tick_record import HEAD
from robomarl.ros_nodes.recording.watch import Told
from robomarl.ros_nodes.robot.health import DiagnosticEntry
from robomarl.ros_nodes.robot.state_machine import State
from robomarl.ros_nodes.robot.team_agreement import Announcement


def diagnostics_from(statuses: Sequence[DiagnosticEntry], stamp_s: float) -> DiagnosticArray:
    """Entries of `/diagnostics`; levels are those of DiagnosticStatus, 0 is good."""
    return DiagnosticArray(header=header(stamp_s), status=[status_from(*status) for status in statuses])


def announcement_from(said: Announcement) -> DiagnosticStatus:
    """Who a robot is and what it does."""
    values = {"bundle": said.bundle_id, "contract": said.contract, "vehicle": said.vehicle, "index": str(said.index)}
    values |= {"robomarl": said.robomarl} if said.robomarl else {}
    values |= {"handover_m": repr(said.handover_m)} if said.handover_m else {}
    values |= {"why": said.why, "ordered": "yes" if said.ordered else ""} if said.why else {}
    return status_from(said.robot, 0, said.state.name, values)


def announcement_to(message: DiagnosticStatus) -> Announcement:
    """Who a robot is and what it does.

    Raises:
        MessageError: a value is missing, or is not known.
    """
    values = {value.key: value.value for value in message.values}  # type: ignore[union-attr]
    try:
        texts = (values["bundle"], values["contract"], values["vehicle"])
        why, ordered = values.get("why", ""), bool(values.get("ordered"))
        seat = (int(values["index"]), State[message.message])
        runs = (values.get("robomarl", ""), float(values.get("handover_m", 0.0)))
        return Announcement(message.name, *texts, *seat, why, ordered, *runs)
    except (KeyError, ValueError) as error:
        raise MessageError(f"an announcement lacks or misspells {error}") from None


def recording_from(name: str, told: Told) -> DiagnosticStatus:
    """What a recorder says of its recording."""
    return status_from(name, told.level, told.text, dict(told.robots))


def recording_to(message: DiagnosticStatus) -> Told:
    """What a recorder says of its recording."""
    values = {value.key: value.value for value in message.values}  # type: ignore[union-attr]
    return Told(message.level[0], message.message, values)


def status_from(name: str, level: int, message: str, values: dict[str, str]) -> DiagnosticStatus:
    """One entry; the level is that of DiagnosticStatus, 0 is good."""
    made = DiagnosticStatus(name=name, level=bytes([level]), message=message)
    made.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    return made


def ticks_to(message: Float64MultiArray) -> list[dict[str, float]]:
    """Rows of the `tick` topic; see `robomarl.ros_nodes.recording.tick_record`.

    Raises:
        MessageError: as `convert.rows_to`, or they are of something else.
    """
    rows = rows_to(message)
    if rows and (missing := [name for name in HEAD if name not in rows[0]]):
        raise MessageError(f"no ticks: {missing[0]!r} is missing")
    return rows
