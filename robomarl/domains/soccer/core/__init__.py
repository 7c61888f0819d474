"""Parts of the soccer domain that players and their operator import."""

from robomarl.core.domain.onboard import Command, LazyImport, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "yaw_rate", "kick"),
            LazyImport("robomarl.domains.soccer.core.command_filter:PlayerFilter"),
            around=None,  # it remembers opponents out of sight
            certified=LazyImport("robomarl.domains.soccer.core.certified_player:CertifiedPlayer"),
            further={"kick": ("m/s", ("body",))},
        ),
    ),
    features=("robomarl.domains.soccer.core.features",),
    field_task=LazyImport("robomarl.domains.soccer.ros.playing:field_task"),
    limits=LazyImport("robomarl.domains.soccer.core.opponent_memory:at_place"),
    is_game=True,
    check_fleet=LazyImport("robomarl.domains.soccer.ros.fleet_rules:check_fleet"),
    graph=LazyImport("robomarl.domains.soccer.ros.topics:graph"),
    rights=LazyImport("robomarl.domains.soccer.ros.rights:rights"),
    seat=LazyImport("robomarl.domains.soccer.ros.fleet_rules:seat"),
    sim_node=("game_node", "robomarl.domains.soccer.field.game_node"),
    peers=("ssl",),
    adapters={"ssl": LazyImport("robomarl.domains.soccer.ros.fleet_rules:ssl_adapter")},
    nodes=LazyImport("robomarl.domains.soccer.ros.fleet_rules:nodes"),
    console=LazyImport("robomarl.domains.soccer.ros.referee_client:RefereeClient"),
    rehearse=LazyImport("robomarl.domains.soccer.front.up:rehearse"),
)
