"""What players, and their operator, import."""

from robomarl.domains.onboard import Command, Later, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "yaw_rate", "kick"),
            Later("robomarl.domains.soccer.onboard.command_filter:PlayerFilter"),
        ),
    ),
    features=("robomarl.domains.soccer.onboard.features",),
    field_task=Later("robomarl.domains.soccer.ros_nodes.playing:field_task"),
    limits=Later("robomarl.domains.soccer.onboard.opponent_memory:at_place"),
)
