"""Parts of the free-flight domain that its robots and their operator import."""

from robomarl.core.domain.onboard import Command, LazyImport, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate"),
            LazyImport("robomarl.core.filter.filter:SafetyFilter"),
        ),
    ),
    check_fleet=LazyImport("robomarl.domains.flight.ros.fleet_rules:check_fleet"),
    check_order=LazyImport("robomarl.domains.flight.lab.safety.limits:check_fleet_goals"),
    rules=LazyImport("robomarl.core.filter.give_way:GiveWay"),
    sim_node=("sim_node", "robomarl.domains.flight.field.sim_node"),
    peers={
        "crazyflie": ("crazyflie_peer_node", "robomarl_peers.flying crazyflie_peer_node"),
        "crazyswarm": ("crazyswarm_peer_node", "robomarl_peers.flying crazyswarm_peer_node"),
        "px4": ("px4_peer_node", "robomarl_peers.flying px4_peer_node"),
        "mavros": ("mavros_peer_node", "robomarl_peers.flying mavros_peer_node"),
        "px4_dds": ("px4_dds_peer_node", "robomarl_peers.flying px4_dds_peer_node"),
    },
    nodes=LazyImport("robomarl.domains.flight.ros.payload.fleet_rules:nodes"),  # what a mission is told says its node
)
