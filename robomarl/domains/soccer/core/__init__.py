"""What players, and their operator, import."""

from robomarl.core.domain.onboard import Command, Later, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "yaw_rate", "kick"),
            Later("robomarl.domains.soccer.core.command_filter:PlayerFilter"),
            around=None,  # it remembers opponents out of sight
            further={"kick": ("m/s", ("body",))},
        ),
    ),
    features=("robomarl.domains.soccer.core.features",),
    field_task=Later("robomarl.domains.soccer.ros.playing:field_task"),
    limits=Later("robomarl.domains.soccer.core.opponent_memory:at_place"),
    is_game=True,
    check_fleet=Later("robomarl.domains.soccer.ros.fleet_rules:check_fleet"),
    graph=Later("robomarl.domains.soccer.ros.graph:graph"),
    rights=Later("robomarl.domains.soccer.ros.graph:rights"),
    seat=Later("robomarl.domains.soccer.ros.fleet_rules:seat"),
    sim_node=("game_node", "robomarl.domains.soccer.field.game_node"),
    peers={"ssl": ("ssl_peer_node", "robomarl.domains.soccer.field.ssl_peer.node")},
    adapters={"ssl": Later("robomarl.domains.soccer.ros.fleet_rules:ssl_adapter")},
    nodes=Later("robomarl.domains.soccer.ros.fleet_rules:nodes"),
    console=Later("robomarl.domains.soccer.ros.referee_client:RefereeClient"),
    rehearse=Later("robomarl.domains.soccer.front.up:rehearse"),
)
