"""Parts of the payload domain that its robots and their operator import."""

from robomarl.core.domain.onboard import Command, LazyImport, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "acceleration.z", "rate.x", "rate.y"),
            LazyImport("robomarl.core.filter.body_rates:BodyRatesFilter"),
            LazyImport("robomarl.core.filter.body_rates:filter_carrier"),
            LazyImport("robomarl.domains.flight.core.payload.certified_carrier:CertifiedCarrier"),
        ),
    ),
    features=("robomarl.domains.flight.core.payload.features",),
    inner_loop="torque_inversion",
    field_task=LazyImport("robomarl.domains.flight.ros.payload.carrying:field_task"),
    check_robot=LazyImport("robomarl.domains.flight.ros.payload.carrying:check_robot"),
    check_fleet=LazyImport("robomarl.domains.flight.ros.fleet_rules:check_fleet"),
    check_order=LazyImport("robomarl.domains.flight.lab.safety.limits:check_fleet_load"),
    graph=LazyImport("robomarl.domains.flight.ros.payload.topics:graph"),
    rights=LazyImport("robomarl.domains.flight.ros.payload.topics:rights"),
    sim_node=("sim_node", "robomarl.domains.flight.field.sim_node"),
    nodes=LazyImport("robomarl.domains.flight.ros.payload.fleet_rules:nodes"),
    rehearse=LazyImport("robomarl.domains.flight.front.payload.up:rehearse"),
)
