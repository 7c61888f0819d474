"""Rights of a game's referee, of the operator's requests to it, and of the league's adapter. No ROS here."""

from robomarl.domains.soccer.ros.topics import BALL, CMD_VEL, KICK, KICKER, MATCH, REFEREE, SIGHTING
from robomarl.ros import topics
from robomarl.ros.enclaves.adapter_rights import BASE_ORDERS, lifecycle_rights
from robomarl.ros.enclaves.rights import CONSOLE, TeamRights
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.robot.state_machine import Order
from robomarl.ros.topics import WORLD

REFEREE_SERVES = ("start", "stop", "goal", "reset")
REFEREE_ORDERS = (Order.ARM, Order.ACTIVATE, Order.STOP)


def rights(team: TeamRights) -> dict[str, Rights]:
    """Return the rights of the referee, and of the operator's requests to it."""
    services = frozenset(f"{team.base}/{REFEREE}/{service}" for service in REFEREE_SERVES)
    said = team.each((REFEREE,), MATCH)
    resets = {f"{team.base}/{name}/{Order.RESET}" for name in team.names}
    heard = team.each(team.names, topics.ANNOUNCE) | team.each((WORLD,), BALL)
    referee = Rights(said, heard, services, team.all(*REFEREE_ORDERS) | resets)
    return {
        "ssl_node": _league_adapter_rights(team),
        REFEREE: referee,
        **_camera_rights(team),
        CONSOLE: Rights(subscribes=said, calls=services),
    }


def _camera_rights(team: TeamRights) -> dict[str, Rights]:
    """Return the rights of players whose bundles see, and of the cameras of simulated ones."""
    seen, shown = (topics.IMAGE, topics.COMPRESSED, topics.CAMERA_INFO), {}
    for name in team.names:
        shown[f"{name}/policy_node"] = Rights(team.each((name,), topics.STRIP), team.each((name,), *seen))
        shown[f"{name}/vehicle"] = Rights(team.each((name,), *seen))
    return shown


def _league_adapter_rights(team: TeamRights) -> Rights:
    """Return the rights of the adapter for robots of the Small Size League: vision and radio are no topics."""
    told = team.each(team.names, topics.ODOMETRY, SIGHTING, KICKER) | team.each((WORLD,), BALL)
    heard = team.each(team.names, CMD_VEL, KICK, topics.ANNOUNCE) | team.each(("",), topics.ESTOP)
    heard |= team.each((REFEREE,), MATCH)
    serves = frozenset(f"{team.base}/{name}/vehicle/{order}" for name in team.names for order in BASE_ORDERS)
    return Rights(told, heard, serves) | lifecycle_rights(f"{team.base}/ssl_node")
