"""Packets of the league: their bytes by hand, and what is left of packets that have more in them."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("google.protobuf")
pytest.importorskip("rclpy")

from robomarl.core.config import UserError
from robomarl.domains.soccer.vehicles.ssl.addresses import Shirt, place_of, shirts_of, simulated_uris
from robomarl.domains.soccer.vehicles.ssl.league_messages import league_messages, words_of
from robomarl.domains.soccer.vehicles.ssl.seat import RadioWords, radio_packet


def varint(number: int) -> bytes:
    return bytes([number & 0x7F | 0x80, *varint(number >> 7)]) if number > 0x7F else bytes([number])


def number(field: int, value: float) -> bytes:
    """A 32-bit float."""
    return varint(field << 3 | 5) + struct.pack("<f", value)


def long(field: int, value: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", value)


def whole(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def inner(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def test_a_command_is_written_as_the_leagues_definition_says():
    """`RobotControl` > `RobotCommand` > `RobotMoveCommand.local_velocity` > forward, left, angular."""
    velocity = number(1, 1.5) + number(2, -0.25) + number(3, 3.0)
    move = inner(2, inner(2, velocity))
    expected = inner(1, whole(1, 7) + move + number(3, 4.0) + number(4, 0.0) + number(5, 0.0))
    made = radio_packet(league_messages(), [RadioWords(Shirt("blue", 7), np.array([1.5, -0.25, 3.0]), 4.0)])
    assert made == expected


def test_pictures_are_read_and_what_is_new_in_them_is_left_alone():
    ball = number(1, 0.9) + whole(2, 80) + number(3, -1234.5) + number(4, 20.0) + number(6, 1.0) + number(7, 2.0)
    robot = number(1, 1.0) + whole(2, 11) + number(3, 100.0) + number(4, 200.0) + number(5, -3.0)
    robot += number(6, 0.0) + number(7, 0.0) + number(8, 150.0)
    head = whole(1, 12) + long(2, 1e9 + 0.25) + long(3, 1e9 + 0.5) + whole(4, 3)
    frame = head + inner(5, ball) + inner(6, robot) + long(8, 7.0)  # the last one is newer than our table
    size = b"".join(whole(k + 1, v) for k, v in enumerate((9000, 6000, 1000, 180, 300)))
    packet = league_messages().wrapper.FromString(inner(1, frame) + inner(2, inner(1, size)) + whole(3, 2))
    seen = packet.detection
    assert (seen.camera_id, seen.t_capture, len(seen.robots_blue)) == (3, 1e9 + 0.25, 0)
    assert seen.balls[0].x == pytest.approx(-1234.5) and not seen.balls[0].HasField("z")
    assert (seen.robots_yellow[0].robot_id, seen.robots_yellow[0].orientation) == (11, -3.0)
    assert (packet.geometry.field.field_length, packet.geometry.field.goal_width) == (9000, 1000)


DEFINITIONS = {
    "since_2021": """
        message SimulatorError { optional string code = 1; optional string message = 2; }
        message RobotFeedback { required uint32 id = 1; optional bool dribbler_ball_contact = 2; }
    """,
    "before_2021": """
        enum Team { UNKNOWN = 0; YELLOW = 1; BLUE = 2; }
        enum SimulatorCapability { SIMULATOR_CAPABILITY_UNKNOWN = 1; SIMULATOR_CAPABILITY_MOVE_WHEEL_VELOCITY = 2; }
        message SimulatorError {
            optional string code = 1; optional SimulatorCapability unsupported_capability = 2;
            optional string message = 3;
        }
        message RobotId { optional uint32 id = 1; optional Team team = 2; }
        message RobotFeedbackCustom { }
        message RobotFeedback {
            required RobotId id = 1; optional bool dribbler_ball_contact = 2; optional RobotFeedbackCustom custom = 3;
        }
    """,
}
"""Answers as ssl-simulation-protocol defines them now, and as it did before 2021."""
ANSWER = "message RobotControlResponse { repeated SimulatorError errors = 1; repeated RobotFeedback feedback = 2; }"


def compiled(folder: Path, version: str) -> Any:
    """The class of answers that the compiler of protobuf makes of a definition."""
    protoc = pytest.importorskip("grpc_tools.protoc")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = folder / f"{version}.proto"
    file.write_text(f'syntax = "proto2"; package {version}; {DEFINITIONS[version]} {ANSWER}')
    made = folder / f"{version}.bin"
    assert protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={made}", str(file)]) == 0
    pool = descriptor_pool.DescriptorPool()
    for each in descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file:
        pool.Add(each)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{version}.RobotControlResponse"))


@pytest.mark.parametrize("version", DEFINITIONS)
@pytest.mark.parametrize("robot", [0, 5, 15, 300])
def test_answers_of_both_definitions_say_which_robot_has_the_ball(tmp_path: Path, version: str, robot: int):
    theirs = compiled(tmp_path, version)()
    said = theirs.feedback.add(dribbler_ball_contact=True)
    if version == "since_2021":
        said.id = robot
    else:
        said.id.id, said.id.team, theirs.errors.add().unsupported_capability = robot, 2, 2
    theirs.errors.add(code="E1", message="no such robot")
    theirs.errors.add(code="E2")
    answer = league_messages().response.FromString(theirs.SerializeToString())
    assert league_messages().number_of(answer.feedback[0]) == robot
    assert answer.feedback[0].dribbler_ball_contact
    assert [words_of(error) for error in answer.errors][-2:] == ["no such robot", "E2"]


def test_an_answer_that_names_no_robot_is_no_robots():
    for named in (b"", inner(1, whole(2, 2)), inner(1, b"\xff"), number(1, 5.0)):
        answer = league_messages().response.FromString(inner(2, named + whole(2, 1)))
        assert league_messages().number_of(answer.feedback[0]) is None


def test_robots_are_named_by_colour_and_number():
    assert shirts_of(("ssl:blue/3", "ssl:yellow/0"), ("a", "b")) == [Shirt("blue", 3), Shirt("yellow", 0)]
    assert simulated_uris(4) == ("ssl:blue/0", "ssl:blue/1", "ssl:yellow/0", "ssl:yellow/1")
    for uris, why in (
        (("ssl:red/3", "ssl:blue/0"), "'ssl:red/3' of a must be ssl:COLOUR/NUMBER"),
        (("ssl:blue/16", "ssl:blue/0"), "numbers end at 15"),
        (("ssl:blue/0", "ssl:blue/0"), "a and b are both blue 0"),
        (("ssl:blue/0",), "1 URIs for 2 robots"),
    ):
        with pytest.raises(UserError, match=why):
            shirts_of(uris, ("a", "b"))
    with pytest.raises(UserError, match="must be ADDRESS:PORT"):
        place_of("224.5.23.2", "vision")
