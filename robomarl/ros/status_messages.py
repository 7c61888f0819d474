"""Status messages and back: diagnostics (REP-107), announcements of robots, results of their ticks."""

from collections.abc import Callable, Sequence
from functools import partial

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Float64MultiArray

from robomarl.ros.convert import MessageError, header, rows_to
from robomarl.ros.intake.sound import fault_of
from robomarl.ros.recording.tick_record import HEAD, WHOLE
from robomarl.ros.recording.watch import Told
from robomarl.ros.robot.health import DiagnosticEntry
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement


def diagnostics_from(statuses: Sequence[DiagnosticEntry], stamp_s: float) -> DiagnosticArray:
    """Entries of `/diagnostics`; levels are those of DiagnosticStatus, 0 is good."""
    return DiagnosticArray(header=header(stamp_s), status=[status_from(*status) for status in statuses])


def diagnostics_to(message: DiagnosticArray) -> list[DiagnosticEntry]:
    """Return the entries of `/diagnostics`."""
    return [
        DiagnosticEntry(status.name, status.level[0], status.message, {v.key: v.value for v in status.values})  # type: ignore[union-attr]
        for status in message.status  # type: ignore[union-attr]
    ]


def announcement_from(said: Announcement) -> DiagnosticStatus:
    """Return the message that announces a robot and its state."""
    values = {"bundle": said.bundle_id, "contract": said.contract, "vehicle": said.vehicle, "index": str(said.index)}
    values |= {"robomarl": said.robomarl} if said.robomarl else {}
    values |= {"handover_m": repr(said.handover_m)} if said.handover_m else {}
    values |= {"gave_up": " ".join(said.gave_up)} if said.gave_up else {}
    values |= {"why": said.why, "ordered": "yes" if said.ordered else ""} if said.why else {}
    return status_from(said.robot, 0, said.state.name, values)


def announcement_reader(robot: str) -> Callable[[DiagnosticStatus], Announcement]:
    """Return a reader as `announcement_to` for the announcements of one robot."""
    return partial(announcement_to, robot=robot)


def announcement_to(message: DiagnosticStatus, robot: str = "") -> Announcement:
    """Return the announcement of a robot; `robot` is the owner of the topic, "" accepts any.

    Raises:
        MessageError: a value is missing, is not known or not sound, or another robot sent it.
    """
    if robot and message.name != robot:
        raise MessageError(f"name is {message.name!r}, on the topic of {robot!r}")
    values = {value.key: value.value for value in message.values}  # type: ignore[union-attr]
    try:
        texts = (values["bundle"], values["contract"], values["vehicle"])
        why, ordered = values.get("why", ""), bool(values.get("ordered"))
        seat = (int(values["index"]), State[message.message])
        runs = (values.get("robomarl", ""), number_of("handover_m", values.get("handover_m", "0")))
        return Announcement(message.name, *texts, *seat, why, ordered, *runs, tuple(values.get("gave_up", "").split()))
    except (KeyError, ValueError) as error:
        raise MessageError(f"an announcement lacks or misspells {error}") from None


def number_of(name: str, text: str) -> float:
    """A number that is told as text.

    Raises:
        MessageError: it is not sound.
        ValueError: it is none.
    """
    if fault := fault_of((number := float(text),), name):
        raise MessageError(fault)
    return number


def recording_from(name: str, told: Told) -> DiagnosticStatus:
    """Return a recorder's report on its recording as a message."""
    return status_from(name, told.level, told.text, dict(told.robots))


def recording_to(message: DiagnosticStatus) -> Told:
    """Return a recorder's report on its recording."""
    values = {value.key: value.value for value in message.values}  # type: ignore[union-attr]
    return Told(message.level[0], message.message, values)


def status_from(name: str, level: int, message: str, values: dict[str, str]) -> DiagnosticStatus:
    """One entry; the level is that of DiagnosticStatus, 0 is good."""
    made = DiagnosticStatus(name=name, level=bytes([level]), message=message)
    made.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    return made


def ticks_to(message: Float64MultiArray) -> list[dict[str, float]]:
    """Rows of the `tick` topic; see `robomarl.ros.recording.tick_record`.

    Raises:
        MessageError: as `convert.rows_to`, they are of something else, or not finite where a number always is.
    """
    rows = rows_to(message)
    if rows and (missing := [name for name in HEAD if name not in rows[0]]):
        raise MessageError(f"no ticks: {missing[0]!r} is missing")
    if found := next((name for row in rows for name in WHOLE if not row[name].is_integer()), ""):
        raise MessageError(f"no ticks: {found!r} is not a whole number")
    return rows
