"""Parts of the volleyball domain that its robots and their operator import."""

from robomarl.core.domain.onboard import Command, LazyImport, Onboard

ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate"),
            LazyImport("robomarl.core.filter.filter:SafetyFilter"),
        ),
    ),
    features=("robomarl.domains.volleyball.core.features",),
    field_task=LazyImport("robomarl.domains.volleyball.ros.court:field_task"),
    rules=LazyImport("robomarl.domains.volleyball.core.right_of_way:RightOfWay"),
    inner_loop="attitude",
    graph=LazyImport("robomarl.domains.volleyball.ros.court:graph"),
    check_fleet=LazyImport("robomarl.domains.volleyball.core.fleet_rules:check_fleet"),
    sim_node=("court_node", "robomarl.domains.volleyball.field.court_node"),
    rehearse=LazyImport("robomarl.domains.volleyball.front.up:rehearse"),
)
