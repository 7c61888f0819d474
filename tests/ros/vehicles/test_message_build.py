"""Messages of others, built from their fields, go over DDS as what they are."""

import importlib
import json
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message, serialize_message

from robomarl.ros.io.node_base import message_class
from tests.ros.vehicles.message_build import MESSAGES

pytestmark = [pytest.mark.slow, pytest.mark.ros]
TYPES = sorted(f"{path.parts[-3]}/msg/{path.stem}" for path in MESSAGES.rglob("*.msg"))
HEARD_S = 20.0


def filled(message: Any, rng: np.random.Generator) -> Any:
    """All numbers and texts of a message drawn, one element in each list without a length."""
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if kind.startswith("sequence<") and "/" in kind:
            setattr(message, name, [filled(message_class(kind[9:-1].replace("/", "/msg/"))(), rng)])
        elif kind.startswith("sequence<"):
            setattr(message, name, array(value.typecode, [int(rng.integers(1, 100))]))
        elif isinstance(value, np.ndarray):
            setattr(message, name, rng.normal(size=value.shape).astype(value.dtype))
        elif hasattr(value, "get_fields_and_field_types"):
            filled(value, rng)
        else:
            made = {bool: True, int: int(rng.integers(1, 100)), float: float(np.float32(rng.normal())), str: "a name"}
            setattr(message, name, made[type(value)])
    return message


@pytest.mark.parametrize("kind", TYPES)
def test_every_message_survives_its_bytes(foreign_messages: Path, kind: str):
    made = filled(message_class(kind)(), np.random.default_rng(0))
    back = deserialize_message(serialize_message(made), type(made))
    assert str(back) == str(made)
    package, _, name = kind.split("/")
    description = json.loads((foreign_messages / package / "msg" / f"{name}.json").read_text())
    assert description["type_description_msg"]["type_description"]["type_name"] == kind


def test_poses_go_from_one_node_to_another(foreign_messages: Path):
    kind = importlib.import_module("motion_capture_tracking_interfaces.msg").NamedPoseArray
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=61)
    speaker, hearer = (rclpy.create_node(name, context=context) for name in ("speaker", "hearer"))
    executor, heard = SingleThreadedExecutor(context=context), []
    try:
        hearer.create_subscription(kind, "poses", heard.append, 1)
        executor.add_node(hearer)
        said, sender = filled(kind(), np.random.default_rng(1)), speaker.create_publisher(kind, "poses", 1)
        give_up_s = time.monotonic() + HEARD_S
        while not heard and time.monotonic() < give_up_s:
            sender.publish(said)
            executor.spin_once(timeout_sec=0.05)
    finally:
        executor.shutdown()
        speaker.destroy_node()
        hearer.destroy_node()
        rclpy.try_shutdown(context=context)
    assert heard and str(heard[0]) == str(said)
