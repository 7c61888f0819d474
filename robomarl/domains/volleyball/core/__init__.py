"""Parts of the volleyball domain that its robots and their operator import."""

from robomarl.core.domain.onboard import Command, LazyImport, Onboard
from robomarl.domains.volleyball.core.commands import RATES, ROTORS

NO_FILTER = LazyImport("robomarl.domains.volleyball.core.commands:no_filter")
ONBOARD = Onboard(
    commands=(
        Command(
            ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate"),
            LazyImport("robomarl.core.filter.filter:SafetyFilter"),
        ),
        Command(RATES, NO_FILTER, None, further={RATES[0]: ("m/s^2", ("body",))}),
        Command(ROTORS, NO_FILTER, None, further={name: ("N", ("body",)) for name in ROTORS}),
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
