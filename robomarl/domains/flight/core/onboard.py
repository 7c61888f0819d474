"""Parts of the free-flight domain that its robots and their operator import."""

from robomarl.core.domain.onboard import Command, LazyImport, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate"),
            LazyImport("robomarl.core.filter.filter:SafetyFilter"),
        ),
    ),
    inner_loop="attitude",
    check_fleet=LazyImport("robomarl.domains.flight.ros.fleet_rules:check_fleet"),
    check_order=LazyImport("robomarl.domains.flight.lab.safety.limits:check_fleet_goals"),
    rules=LazyImport("robomarl.core.filter.give_way:GiveWay"),
    sim_node=("sim_node", "robomarl.domains.flight.field.sim_node"),
    peers=("crazyflie", "crazyswarm", "px4", "mavros", "px4_dds"),
    nodes=LazyImport("robomarl.domains.flight.ros.payload.fleet_rules:nodes"),  # what a mission is told says its node
)
