"""A policy of other software is imported from its ONNX file, and flies through the nodes that `up` starts."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml
from onnx import TensorProto, helper, numpy_helper

from robomarl.front.cli import main

POSITION_PER_S2, VELOCITY_PER_S = 4.5, 3.0
CONTRACT = """
scenario = "swap_2"
[observation]
fields = ["velocity", "goal_error"]
[action]
unit = "si"
"""


def write_onnx(file: Path) -> None:
    """As PyTorch exports `Linear(6, 4)` of another project: velocity before goal error, and no limits."""
    law = np.zeros((4, 6), np.float32)
    law[:3, :3], law[:3, 3:] = -VELOCITY_PER_S * np.eye(3), POSITION_PER_S2 * np.eye(3)
    arrays = {"actor.weight": law, "actor.bias": np.zeros(4, np.float32)}
    node = helper.make_node("Gemm", ["obs", "actor.weight", "actor.bias"], ["actions"], transB=1)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, w]) for n, w in (("obs", 6), ("actions", 4))]
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph([node], "torch_jit", ports[:1], ports[1:], tensors)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="pytorch"), file)


def write_fleet(folder: Path) -> Path:
    robots = [{"name": name, "index": i, "folder": str(folder / name)} for i, name in enumerate(("one", "two"))]
    content = {"version": 1, "name": "pair", "vehicle": "crazyflie_21", "scenario": "swap_2", "robots": robots}
    (folder / "pair.yaml").write_text(yaml.safe_dump(content))
    return folder / "pair.yaml"


@pytest.mark.ros
@pytest.mark.slow
def test_a_foreign_onnx_policy_arrives_through_the_nodes(tmp_path: Path, capsys: pytest.CaptureFixture):
    pytest.importorskip("rclpy")
    pytest.importorskip("mujoco")
    file, contract, bundle, figures = (tmp_path / n for n in ("actor.onnx", "contract.toml", "bundle", "figures.json"))
    write_onnx(file)
    contract.write_text(CONTRACT)
    assert main(["import", str(file), str(bundle), "--contract", str(contract)]) == 0, capsys.readouterr().err
    assert main(["verify", str(bundle)]) == 0
    words = ["--sim", "mujoco", "--flights", "2", "--seed", "5", "--bundle", str(bundle), "--no-record"]
    words += ["--out", str(tmp_path / "out"), "--json", str(figures)]
    status = main(["up", str(write_fleet(tmp_path)), *words])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    found = json.loads(figures.read_text())
    assert [(flight["success"], flight["collisions"]) for flight in found["flights"]] == [(True, 0)] * 2
    assert found["success_rate"] == 1.0
