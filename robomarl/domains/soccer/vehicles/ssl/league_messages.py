"""The league's messages, as classes of `protobuf` that are made when they are first needed. No ROS
here.

Names, numbers and types of the fields are facts of the interfaces: of vision from
RoboCup-SSL/ssl-vision (GPL-3.0), of robots from RoboCup-SSL/ssl-simulation-protocol (which has no
file of a licence); the README of the latter has the ports. Neither a compiler nor generated code
is needed. Fields that are read or written here are listed; other fields are left alone.

The definition of answers changed in 2021: a robot's number became a plain number (a message `RobotId`
before), and the words of an error moved from field 3 to field 2. Both are read.
"""

from functools import cache
from typing import Any, NamedTuple

from robomarl.core.config import UserError

Packet = Any
"""A message of protobuf, or a part of one. Its class is made when the program runs, so no type checker knows its
fields.
"""
PacketKind = Any
"""Class of a `Packet`."""
PACKAGE = "robomarl.ssl"
FIELDS = {
    "SSL_DetectionBall": """
        1 required float confidence; 2 optional uint32 area; 3 required float x; 4 required float y; 5 optional float z;
        6 required float pixel_x; 7 required float pixel_y""",
    "SSL_DetectionRobot": """
        1 required float confidence; 2 optional uint32 robot_id; 3 required float x; 4 required float y;
        5 optional float orientation; 6 required float pixel_x; 7 required float pixel_y; 8 optional float height""",
    "SSL_DetectionFrame": """
        1 required uint32 frame_number; 2 required double t_capture; 3 required double t_sent;
        4 required uint32 camera_id; 5 repeated SSL_DetectionBall balls; 6 repeated SSL_DetectionRobot robots_yellow;
        7 repeated SSL_DetectionRobot robots_blue""",
    "SSL_GeometryFieldSize": """
        1 required int32 field_length; 2 required int32 field_width; 3 required int32 goal_width;
        4 required int32 goal_depth; 5 required int32 boundary_width""",
    "SSL_GeometryData": "1 required SSL_GeometryFieldSize field",
    "SSL_WrapperPacket": "1 optional SSL_DetectionFrame detection; 2 optional SSL_GeometryData geometry",
    "MoveLocalVelocity": "1 required float forward; 2 required float left; 3 required float angular",
    "RobotMoveCommand": "2 optional MoveLocalVelocity local_velocity",
    "RobotCommand": """
        1 required uint32 id; 2 optional RobotMoveCommand move_command; 3 optional float kick_speed;
        4 optional float kick_angle; 5 optional float dribbler_speed""",
    "RobotControl": "1 repeated RobotCommand robot_commands",
    "SimulatorError": "1 optional string code; 2 optional string message; 3 optional string earlier_message",
    "RobotId": "1 optional uint32 id",
    "RobotFeedback": "1 optional uint32 id; 2 optional bool dribbler_ball_contact",
    "RobotControlResponse": "1 repeated SimulatorError errors; 2 repeated RobotFeedback feedback",
}
"""Fields by message: number, label, type and name of each; lengths of vision are in millimetres, angles in radians."""


class LeagueMessages(NamedTuple):
    """The classes of whole packets."""

    wrapper: PacketKind
    """`SSL_WrapperPacket`, of vision."""
    control: PacketKind
    """`RobotControl`, to robots of one colour."""
    response: PacketKind
    """`RobotControlResponse`."""
    robot_id: PacketKind
    """`RobotId`, of answers before 2021."""

    def number_of(self, feedback: Packet) -> int | None:
        """Return the number of the robot of a `RobotFeedback`; None if it has none that can be read."""
        from google.protobuf.message import DecodeError
        from google.protobuf.unknown_fields import UnknownFieldSet

        if feedback.HasField("id"):
            return feedback.id
        earlier = [f.data for f in UnknownFieldSet(feedback) if f.field_number == 1 and isinstance(f.data, bytes)]
        try:
            robot = self.robot_id.FromString(earlier[-1]) if earlier else None
        except DecodeError:
            return None
        return robot.id if robot is not None and robot.HasField("id") else None


def words_of(error: Packet) -> str:
    """Return the words of a `SimulatorError`."""
    return error.message or error.earlier_message or error.code or "an error without words"


@cache
def league_messages() -> LeagueMessages:
    """Make the classes.

    Raises:
        UserError: protobuf is not installed.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise UserError("protobuf is not installed; pip install 'robomarl[ssl]'.") from None
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="robomarl_ssl.proto", package=PACKAGE, syntax="proto2")
    for message, text in FIELDS.items():
        made = file.message_type.add(name=message)
        for number, label, kind, name in (field.split() for field in text.split(";")):
            field = made.field.add(name=name, number=int(number), label=kinds.Label.Value(f"LABEL_{label.upper()}"))
            if kind in FIELDS:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                field.type = kinds.Type.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = ("SSL_WrapperPacket", "RobotControl", "RobotControlResponse", "RobotId")
    found = (pool.FindMessageTypeByName(f"{PACKAGE}.{name}") for name in names)
    return LeagueMessages(*map(message_factory.GetMessageClass, found))
