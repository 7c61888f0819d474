"""Messages of a referee, to ROS and back."""

from diagnostic_msgs.msg import DiagnosticStatus

from robomarl.domains.soccer.ros.referee import Phase, Said
from robomarl.ros.convert import MessageError
from robomarl.ros.status_messages import number_of, status_from


def match_from(said: Said) -> DiagnosticStatus:
    """Phase and score."""
    first, second = said.goals
    values = {"first": first, "second": second, "time_s": f"{said.time_s:.2f}", "kick_offs": said.kick_offs}
    return status_from("referee", 0, said.phase, {key: str(value) for key, value in values.items()})


def match_to(message: DiagnosticStatus) -> Said:
    """Phase and score.

    Raises:
        MessageError: a value is missing, is not known, or not sound.
    """
    values = {value.key: value.value for value in message.values}  # type: ignore[union-attr]
    try:
        goals = int(values["first"]), int(values["second"])
        time_s = number_of("time_s", values["time_s"])
        return Said(Phase(message.message), goals, time_s, int(values["kick_offs"]))
    except (KeyError, ValueError) as error:
        raise MessageError(f"a referee's message lacks or misspells {error}") from None
