"""Another operator's team: `python foreign_team.py VISION_GROUP PORT RADIO_HOST PORT`; it drives the yellow robots.

It shares no code with robomarl: it speaks the league's definitions (ssl-vision, ssl-simulation-protocol) as the
compiler of protobuf reads them. Each robot turns to the ball, drives at it, and kicks, without a look at any other
robot.
"""

import math
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc

DEFINITION = """
syntax = "proto2"; package league;
message SSL_DetectionBall {
    required float confidence = 1; optional uint32 area = 2; required float x = 3; required float y = 4;
    optional float z = 5; required float pixel_x = 6; required float pixel_y = 7;
}
message SSL_DetectionRobot {
    required float confidence = 1; optional uint32 robot_id = 2; required float x = 3; required float y = 4;
    optional float orientation = 5; required float pixel_x = 6; required float pixel_y = 7; optional float height = 8;
}
message SSL_DetectionFrame {
    required uint32 frame_number = 1; required double t_capture = 2; required double t_sent = 3;
    required uint32 camera_id = 4; repeated SSL_DetectionBall balls = 5;
    repeated SSL_DetectionRobot robots_yellow = 6; repeated SSL_DetectionRobot robots_blue = 7;
}
message SSL_WrapperPacket { optional SSL_DetectionFrame detection = 1; }
message MoveLocalVelocity { required float forward = 1; required float left = 2; required float angular = 3; }
message RobotMoveCommand { oneof command { MoveLocalVelocity local_velocity = 2; } }
message RobotCommand {
    required uint32 id = 1; optional RobotMoveCommand move_command = 2; optional float kick_speed = 3;
    optional float kick_angle = 4; optional float dribbler_speed = 5;
}
message RobotControl { repeated RobotCommand robot_commands = 1; }
"""
SPEED_M_S, TURN_RAD_S, KICK_M_S = 0.5, 3.0, 3.0


def compiled() -> Any:
    """The packets' classes by name."""
    with tempfile.TemporaryDirectory() as folder:
        file, made = Path(folder) / "league.proto", Path(folder) / "league.bin"
        file.write_text(DEFINITION)
        if protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={made}", str(file)]):
            raise SystemExit("protoc refuses the definition")
        pool = descriptor_pool.DescriptorPool()
        for each in descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file:
            pool.Add(each)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"league.{name}"))


def listening(group: str, port: int) -> socket.socket:
    """A socket that hears vision on this machine."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    link.bind((group, port))
    link.setsockopt(
        socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton("127.0.0.1")
    )
    return link


def play(vision: socket.socket, radio: tuple[str, int]) -> None:
    """One packet of commands for each picture that shows the ball, for ever."""
    classes, out = compiled(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wrapper, control = classes("SSL_WrapperPacket"), classes("RobotControl")
    while True:
        frame = wrapper.FromString(vision.recv(65536)).detection
        if not frame.balls:
            continue
        packet = control()
        for robot in frame.robots_yellow:
            x, y = frame.balls[0].x - robot.x, frame.balls[0].y - robot.y
            off = (math.atan2(y, x) - robot.orientation + math.pi) % (2 * math.pi) - math.pi
            told = packet.robot_commands.add(id=robot.robot_id, kick_speed=KICK_M_S, kick_angle=0.0, dribbler_speed=0.0)
            velocity = told.move_command.local_velocity
            velocity.forward, velocity.left = SPEED_M_S * math.cos(off), SPEED_M_S * math.sin(off)
            velocity.angular = max(-TURN_RAD_S, min(TURN_RAD_S, 4.0 * off))
        out.sendto(packet.SerializeToString(), radio)


if __name__ == "__main__":
    play(listening(sys.argv[1], int(sys.argv[2])), (sys.argv[3], int(sys.argv[4])))
