"""Parts of the ground domain that its robots and their operator import."""

from robomarl.core.domain.onboard import Command, LazyImport, Onboard

SENT = ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate")
"""Elements of a command: robots on the ground take those of robots that fly; a policy may also set the gain of its
robot's filter.
"""
ONBOARD = Onboard(
    commands=(
        Command(SENT, LazyImport("robomarl.core.filter.filter:SafetyFilter")),
        Command(
            (*SENT, "gain"),
            LazyImport("robomarl.core.filter.policy_gain_filter:GainedFilter"),
            LazyImport("robomarl.core.filter.policy_gain_filter:filter_gained"),
        ),
    ),
    features=("robomarl.domains.ground.core.features",),
    field_task=LazyImport("robomarl.domains.ground.ros.floor:field_task"),
    graph=LazyImport("robomarl.domains.ground.ros.floor:graph"),
    check_fleet=LazyImport("robomarl.domains.ground.core.fleet_rules:check_fleet"),
)
