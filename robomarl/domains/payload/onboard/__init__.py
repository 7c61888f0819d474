"""What the robots of a team with a payload, and their operator, import."""

from robomarl.domains.onboard import Command, Later, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "acceleration.z", "rate.x", "rate.y"),
            Later("robomarl.safety.body_rates:BodyRatesFilter"),
            Later("robomarl.safety.body_rates:filter_carrier"),
        ),
    ),
    features=("robomarl.domains.payload.onboard.features",),
    field_task=Later("robomarl.domains.payload.ros_nodes.carrying:field_task"),
    check_robot=Later("robomarl.domains.payload.ros_nodes.carrying:check_robot"),
    check_fleet=Later("robomarl.domains.flight.ros_nodes.fleet_rules:check_fleet"),
    check_order=Later("robomarl.domains.payload.fleet_rules:check_load"),
    graph=Later("robomarl.domains.payload.ros_nodes.graph:graph"),
    rights=Later("robomarl.domains.payload.ros_nodes.graph:rights"),
    sim_node=("sim_node", "robomarl.domains.flight.ros_nodes.sim_node"),
    nodes=Later("robomarl.domains.payload.ros_nodes.fleet_rules:nodes"),
    rehearse=Later("robomarl.domains.payload.up:rehearse"),
)
