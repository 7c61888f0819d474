"""What the robots of a team with a payload, and their operator, import."""

from robomarl.core.domain.onboard import Command, Later, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "acceleration.z", "rate.x", "rate.y"),
            Later("robomarl.core.filter.body_rates:BodyRatesFilter"),
            Later("robomarl.core.filter.body_rates:filter_carrier"),
        ),
    ),
    features=("robomarl.domains.flight.core.payload.features",),
    field_task=Later("robomarl.domains.flight.ros.payload.carrying:field_task"),
    check_robot=Later("robomarl.domains.flight.ros.payload.carrying:check_robot"),
    check_fleet=Later("robomarl.domains.flight.ros.fleet_rules:check_fleet"),
    check_order=Later("robomarl.domains.flight.lab.payload.fleet_rules:check_load"),
    graph=Later("robomarl.domains.flight.ros.payload.graph:graph"),
    rights=Later("robomarl.domains.flight.ros.payload.graph:rights"),
    sim_node=("sim_node", "robomarl.domains.flight.field.sim_node"),
    nodes=Later("robomarl.domains.flight.ros.payload.fleet_rules:nodes"),
    rehearse=Later("robomarl.domains.flight.front.payload.up:rehearse"),
)
