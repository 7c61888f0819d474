"""Two nodes with enclaves of our keystore hear each other, and nobody else: where the middleware has DDS security.

The wheels of ROS 2 have none, so there the probe fails and all of this is skipped.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from robomarl.ros.enclaves.keystore import Keystore
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.io.environment import environment
from robomarl.ros.io.processes import claimed_domain

pytestmark = pytest.mark.ros
TOPIC = "/left/goal"
NODE = """
import sys, time, rclpy
from rclpy.node import Node
from std_msgs.msg import String
rclpy.init(args=["--ros-args", "--enclave", sys.argv[2]])
node, heard = Node("one", start_parameter_services=False, enable_rosout=False), []
end = time.monotonic() + float(sys.argv[3])
if sys.argv[1] == "listen":
    node.create_subscription(String, "/left/goal", heard.append, 10)
else:
    said = node.create_publisher(String, "/left/goal", 10)
print("up", flush=True)
while time.monotonic() < end and not heard:
    rclpy.spin_once(node, timeout_sec=0.05)
    if sys.argv[1] == "talk":
        said.publish(String(data="here"))
print("heard" if heard else "heard nothing", flush=True)
"""


class Network:
    """A domain, and a keystore whose enclaves may talk and listen."""

    def __init__(self, folder: Path, domain: int) -> None:
        none: frozenset[str] = frozenset()
        one = frozenset({TOPIC})
        self._domain, self.folder = domain, folder
        rights = {"/talker": Rights(one, none, none, none), "/listener": Rights(none, one, none, none)}
        Keystore(folder).write(rights, domain)

    def start(self, does: str, enclave: str, lasts_s: float, keystore: Path | None) -> subprocess.Popen:
        """A node; without a keystore it has no security."""
        shared = environment(True, self._domain, str(keystore) if keystore else "")
        command = [sys.executable, "-c", NODE, does, enclave, str(lasts_s)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env={**os.environ, **shared}, stdout=pipe, stderr=pipe, text=True)

    def hears(self, enclave: str, keystore: Path | None) -> bool:
        """Whether the listener hears one who talks."""
        listener = self.start("listen", "/listener", 8.0, self.folder)
        talker = self.start("talk", enclave, 8.0, keystore)
        heard = listener.communicate()[0]
        talker.communicate()
        assert heard.startswith("up"), "the listener itself came up"
        return "heard\n" in heard


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory):
    with claimed_domain(None) as domain:
        made = Network(tmp_path_factory.mktemp("secured") / "keystore", domain)
        said, errors = made.start("listen", "/listener", 0.1, made.folder).communicate()
        if not said.startswith("up"):
            pytest.skip(f"this middleware has no DDS security: {errors.strip().splitlines()[-1][:200]}")
        yield made


def test_two_nodes_of_one_authority_hear_each_other(network: Network):
    assert network.hears("/talker", network.folder)


def test_who_has_no_enclave_is_not_heard(network: Network):
    assert not network.hears("/talker", None)


def test_who_may_not_write_the_topic_is_not_heard(network: Network):
    assert not network.hears("/listener", network.folder)


def test_another_authoritys_enclave_is_not_heard(network: Network, tmp_path: Path):
    other = Network(tmp_path / "keystore", network._domain)
    assert not network.hears("/talker", other.folder)
