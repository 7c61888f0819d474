"""What ground robots, and their operator, import."""

from robomarl.domains.onboard import Command, Later, Onboard

SENT = ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate")
"""Robots on the ground take what robots that fly take; a policy may set the gain of its robot's filter besides."""
ONBOARD = Onboard(
    commands=(
        Command(SENT, Later("robomarl.safety.filter:SafetyFilter")),
        Command(
            (*SENT, "gain"), Later("robomarl.safety.gained:GainedFilter"), Later("robomarl.safety.gained:filter_gained")
        ),
    ),
    features=("robomarl.domains.ground.onboard.features",),
    field_task=Later("robomarl.domains.ground.ros_nodes.floor:field_task"),
    graph=Later("robomarl.domains.ground.ros_nodes.floor:graph"),
    check_fleet=Later("robomarl.domains.ground.onboard.fleet_rules:check_fleet"),
)
