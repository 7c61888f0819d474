"""What players, and their operator, import."""

from robomarl.domains.onboard import Command, Later, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "yaw_rate", "kick"),
            Later("robomarl.domains.soccer.onboard.command_filter:PlayerFilter"),
            around=None,  # it remembers opponents out of sight
            further={"kick": ("m/s", ("body",))},
        ),
    ),
    features=("robomarl.domains.soccer.onboard.features",),
    field_task=Later("robomarl.domains.soccer.ros_nodes.playing:field_task"),
    limits=Later("robomarl.domains.soccer.onboard.opponent_memory:at_place"),
    is_game=True,
    check_fleet=Later("robomarl.domains.soccer.ros_nodes.fleet_rules:check_fleet"),
    graph=Later("robomarl.domains.soccer.ros_nodes.graph:graph"),
    rights=Later("robomarl.domains.soccer.ros_nodes.graph:rights"),
    seat=Later("robomarl.domains.soccer.ros_nodes.fleet_rules:seat"),
    sim_node=("game_node", "robomarl.domains.soccer.ros_nodes.game_node"),
    peers={"ssl": ("ssl_peer_node", "robomarl.domains.soccer.ros_nodes.ssl_peer.node")},
    adapters={"ssl": Later("robomarl.domains.soccer.ros_nodes.fleet_rules:ssl_adapter")},
    nodes=Later("robomarl.domains.soccer.ros_nodes.fleet_rules:nodes"),
    console=Later("robomarl.domains.soccer.ros_nodes.referee_client:RefereeClient"),
    rehearse=Later("robomarl.domains.soccer.up:rehearse"),
)
