"""What ground robots, and their operator, import."""

from robomarl.domains.onboard import Later, Onboard

ONBOARD = Onboard(
    commands=(),  # acceleration and yaw rate, as of robots that fly
    features=("robomarl.domains.ground.onboard.features",),
    field_task=Later("robomarl.domains.ground.ros_nodes.floor:field_task"),
    graph=Later("robomarl.domains.ground.ros_nodes.floor:graph"),
    check_fleet=Later("robomarl.domains.ground.onboard.fleet_rules:check_fleet"),
)
