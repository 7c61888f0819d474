"""The end of a mission: a real mission node, over real DDS, and a monitor whose first answer is a refusal."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from std_srvs.srv import Trigger

from robomarl.ros import status_messages, topics
from robomarl.ros.io.environment import environment
from robomarl.ros.io.node_base import publisher
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.console import open_console
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement

pytestmark = pytest.mark.ros
MISSION = """
version: 1
name: short
set_points:
  - {at_s: 0.0, pos_m: [0.0, 0.0, 1.0]}
land_s: 0.5
"""


def test_a_landing_that_was_refused_is_ordered_again_until_all_land(tmp_path: Path):
    (tmp_path / "short.yaml").write_text(MISSION)
    given = {"team": ["a"], "base": "", "mission": str(tmp_path / "short.yaml"), "task": "lift"}
    spec = NodeSpec("mission_node", "robomarl.domains.flight.ros.payload.mission_node", "mission", "", given)
    state, orders = [State.ACTIVE], []

    def land(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        orders.append(state[0])
        response.success = len(orders) > 1
        if response.success:
            state[0] = State.LAND
        return response

    with claimed_domain(None) as domain, Processes(lambda name, line: None) as processes:
        shared = environment(True, domain)
        with open_console((), shared, sim=False, watch=processes.check) as console:
            said, node = publisher(console._node, topics.ANNOUNCE, "/a/announce"), console._node
            who = Announcement("a", "b" * 64, "c", "v", 0, State.ACTIVE)
            tell = lambda: said.publish(status_messages.announcement_from(who._replace(state=state[0])))  # noqa: E731
            kept = [node.create_timer(0.1, tell), node.create_service(Trigger, "/all/land", land)]
            processes.start([spec], child_environment(shared))
            console.wait(lambda: len(orders) == 2, 30, "the second order")
            for _ in range(100):
                console.poll(0.02)
            assert orders == [State.ACTIVE, State.ACTIVE]
            assert kept
