"""The C actor does what onnxruntime does, compiled as strictly as gcc compiles C99."""

import ctypes
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from robomarl.core.config import UserError
from robomarl.front.cli import main
from robomarl.lab.export_c import export_c
from robomarl.lab.export_c.compiled import FLAGS
from robomarl.lab.export_c.graph import one_robot
from robomarl.lab.export_c.operators import EXPRESSIONS
from robomarl.lab.export_c.program import Program, Value, table_type
from robomarl.lab.export_c.source import functions, symbol

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
BUNDLES = ("lift_3", "lift_4", "lift_6", "recover_3", "soccer_2v2")


def test_export_writes_an_actor_with_a_golden_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out, figures = tmp_path / "c", tmp_path / "figures.json"
    assert main(["export", "swap_4", str(out), "--target", "c", "--json", str(figures)]) == 0
    said = json.loads(figures.read_text())
    assert sorted(p.name for p in out.iterdir()) == ["main.c", "swap_4.c", "swap_4.h"]
    assert 0 < said["parity_max"] <= 1e-5 and said["stack_bytes"] and said["decision_us"] > 0
    weights = sum(np.prod(t.dims) for t in onnx.load(Path("policies/swap_4/policy.onnx")).graph.initializer)
    assert said["flash_bytes"] > 4 * weights - 100, "the weights are constants, and nothing is loaded"
    header = (out / "swap_4.h").read_text()
    assert "[ 33] neighbours[2].age, s, world, 0 to " in header and "SWAP_4_RATE_HZ 50.0f" in header
    assert "malloc" not in (out / "swap_4.c").read_text()
    assert "us a decision here" in capsys.readouterr().out
    (out / "main.c").write_text("int main(void) { return 0; } /* mine */")
    with pytest.raises(UserError, match=r"main\.c: is not of an export to C; name another folder"):
        export_c("swap_4", out)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLES)
def test_every_bundle_that_ships_becomes_an_actor(name: str, tmp_path: Path):
    made = export_c(name, tmp_path)
    assert made.measured and made.measured.parity_max <= 1e-5


def test_other_options_are_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["export", "swap_4", "x", "--target", "c", "--episodes", "3"]) == 2
    assert "--target c takes a BUNDLE and a DIR only" in capsys.readouterr().err


class Sketch:
    """A graph of one input `obs`, written node by node, that concatenates all that it found into `action`."""

    def __init__(self, size: int, carries: Sequence[int] = ()) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.found: list[str] = []
        self.size, self.carries = size, list(carries)

    def add(self, op: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> str:
        names = [i if isinstance(i, str) else self._constant(i) for i in inputs]
        made = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, made, **attributes))
        return made[-1]

    def keep(self, name: str) -> None:
        self.found.append(self.add("Reshape", name, np.array([1, -1])))

    def content(self, nexts: Sequence[str] = ()) -> bytes:
        self.nodes.append(helper.make_node("Concat", self.found, ["action"], axis=1))
        for i, name in enumerate(nexts):
            self.nodes.append(helper.make_node("Identity", [name], [f"next.{i}"]))
        inputs = {"obs": self.size} | {f"carry.{i}": size for i, size in enumerate(self.carries)}
        outputs = ["action", *(f"next.{i}" for i in range(len(nexts)))]
        ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, size]) for n, size in inputs.items()]
        results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
        graph = helper.make_graph(self.nodes, "policy", ports, results, self.constants)
        opset = [helper.make_opsetid("", 17)]
        return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()

    def _constant(self, value: Any) -> str:
        array = np.asarray(value, None if np.asarray(value).dtype.kind in "ib" else np.float32)
        self.constants.append(numpy_helper.from_array(array, f"c{len(self.constants)}"))
        return self.constants[-1].name


def compiled(content: bytes, folder: Path) -> Callable[[Any, np.ndarray], tuple[int, np.ndarray]]:
    """The actor of a graph as a function of (memory or None, observation)."""
    graph = one_robot(content)
    fields = "".join(f"float {n.replace('.', '_')}[{s[0]}]; " for n, s in graph.inputs.items() if n != "obs")
    declared = f"typedef struct {{ {fields or 'char none;'} }} actor_memory;\n"
    declared += "void actor_reset(actor_memory *);\nint actor_decide(actor_memory *, const float *, float *);\n"
    (folder / "actor.c").write_text(declared + functions("actor", graph, "sketch.onnx"))
    command = ["gcc", *FLAGS, "-O0", "-fPIC", "-shared", str(folder / "actor.c"), "-o", str(folder / "actor.so"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    library, size = ctypes.CDLL(str(folder / "actor.so")), graph.outputs["action"][0]
    pointer = ctypes.POINTER(ctypes.c_float)

    def decide(memory: Any, obs: np.ndarray) -> tuple[int, np.ndarray]:
        action = np.full(size, np.nan, np.float32)
        kept = None if memory is None else memory.ctypes.data_as(pointer)
        done = library.actor_decide(kept, obs.ctypes.data_as(pointer), action.ctypes.data_as(pointer))
        return done, action

    return decide


def everything() -> Sketch:
    """Every operator that is translated, with shapes that broadcast."""
    s = Sketch(12)
    x = s.add("Reshape", "obs", np.array([1, 3, 4]))
    inside = s.add("Tanh", x)
    above = s.add("Add", s.add("Abs", x), np.float32(0.5))
    row = s.add("Slice", x, np.array([1]), np.array([2]), np.array([1]))
    for op, template in EXPRESSIONS.items():
        if op == "Where":
            s.keep(s.add("Where", s.add("Less", x, row), x, np.float32(2.0)))
        elif op == "Pow":
            s.keep(s.add("Pow", above, np.float32(1.5)))
        elif op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
            s.keep(s.add("Cast", s.add(op, x, row), to=TensorProto.FLOAT))
        elif op in ("And", "Or"):
            truths = s.add("Less", x, np.float32(0.3)), s.add("Greater", x, row)
            s.keep(s.add("Cast", s.add(op, *truths), to=TensorProto.FLOAT))
        elif op == "Not":
            s.keep(s.add("Cast", s.add("Not", s.add("Less", x, row)), to=TensorProto.FLOAT))
        elif "{1}" in template:
            s.keep(s.add(op, x, s.add("Transpose", np.arange(1.0, 13.0).reshape(4, 3), perm=[1, 0])))
        else:
            s.keep(s.add(op, {"Acos": inside, "Asin": inside, "Log": above, "Sqrt": above}.get(op, x)))
    s.keep(s.add("Max", x, row, np.float32(0.1)))
    return s


def moves() -> Sketch:
    """What says where numbers are, on top of each other."""
    s = Sketch(12)
    x = s.add("Reshape", "obs", np.array([1, 3, 4]))
    for axes, keep in (([1], 0), ([2], 1), ([1, 2], 0)):
        s.keep(s.add("ReduceSum", x, np.array(axes), keepdims=keep))
        for op in ("ReduceMax", "ReduceMin", "ReduceMean"):
            s.keep(s.add(op, x, axes=axes, keepdims=keep))
    turned = s.add("Transpose", x, perm=[0, 2, 1])
    s.keep(s.add("MatMul", x, turned))
    s.keep(s.add("MatMul", turned, np.arange(6.0).reshape(3, 2)))
    pairs = s.add("Reshape", "obs", np.array([2, 3, 2]))
    s.keep(s.add("MatMul", pairs, s.add("Transpose", pairs, perm=[0, 2, 1])))
    s.keep(s.add("Gather", x, np.array([2, 0, 0]), axis=2))
    s.keep(s.add("Slice", x, np.array([-1]), np.array([-9]), np.array([2]), np.array([-2])))
    s.keep(s.add("Split", x, np.array([1, 3]), outputs=2, axis=2))
    s.keep(s.add("Unsqueeze", s.add("Squeeze", s.add("Flatten", x), np.array([0])), np.array([1])))
    wide = s.add("Expand", s.add("Slice", x, np.array([0]), np.array([1]), np.array([1])), np.array([2, 3, 4]))
    s.keep(s.add("Concat", wide, s.add("Expand", x, np.array([2, 3, 4])), axis=1))
    return s


@pytest.mark.parametrize("sketch", [everything, moves])
def test_operators_do_what_onnxruntime_does(sketch: Callable[[], Sketch], tmp_path: Path):
    content, rng = sketch().content(), np.random.default_rng(0)
    session, decide = onnxruntime.InferenceSession(content), compiled(content, tmp_path)
    for _ in range(20):
        obs = rng.normal(size=12).astype(np.float32)
        theirs = np.asarray(session.run(["action"], {"obs": obs[None]})[0])[0]
        done, ours = decide(None, obs)
        assert done == 1
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-6)


def test_memory_is_read_before_it_is_written(tmp_path: Path):
    s = Sketch(2, carries=(2, 2))
    s.keep(s.add("Sub", "carry.0", "carry.1"))
    decide, memory = compiled(s.content(("obs", "carry.0")), tmp_path), np.zeros(4, np.float32)
    seen = [np.array([t, -t], np.float32) for t in range(5)]
    actions = [decide(memory, obs)[1] for obs in seen]
    np.testing.assert_array_equal(actions[2:], [[1, -1]] * 3)  # what was seen one and two decisions ago


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(bad: float, tmp_path: Path):
    s = Sketch(2, carries=(1,))
    s.keep(s.add("Tanh", "obs"))
    decide, memory = compiled(s.content(("carry.0",)), tmp_path), np.full(1, 7, np.float32)
    done, action = decide(memory, np.array([1, bad], np.float32))
    assert (done, action.tolist(), memory[0]) == (0, [0, 0], 7)
    memory[0] = bad
    assert decide(memory, np.array([1, 2], np.float32))[0] == 0


@pytest.mark.parametrize(
    ("op", "inputs", "said"),
    [
        ("CumSum", ("obs", np.array(1)), "operator 'CumSum' is not translated in C"),
        ("ArgMax", ("obs",), "operator 'ArgMax' computes whole numbers in C"),
    ],
)
def test_other_operators_are_refused_by_name(op: str, inputs: tuple, said: str):
    s = Sketch(3)
    s.found.append(s.add("Cast", s.add(op, *inputs), to=TensorProto.FLOAT))
    with pytest.raises(UserError, match=said):
        functions("actor", one_robot(s.content()), "sketch.onnx")


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (np.arange(3, 9), "3 + i"),
        (np.full(6, 4), "4"),
        (np.tile([0, 1], 3), "(i % 2)"),
        (np.repeat([0, 5, 10], 2), "5 * (i / 2)"),
        (np.arange(12).reshape(3, 4).T[:, :2], "(i / 2) + 4 * (i % 2)"),
        (np.array([0, 3, 1, 7]), "places_0[i]"),
    ],
)
def test_places_are_said_shortly(index: np.ndarray, said: str):
    """And rightly: the table is what they are compared with."""
    assert Program().at(Value("x", index)) == f"x[{said}]"
    if "places" not in said:
        words = said.replace("/", "//")
        np.testing.assert_array_equal([eval(words, {"i": i}) for i in range(index.size)], index.reshape(-1))


def test_tables_are_as_small_as_their_places():
    assert [table_type(np.array([n])) for n in (255, 256, 70_000)] == [
        "unsigned char",
        "unsigned short",
        "unsigned long",
    ]


@pytest.mark.parametrize(
    ("name", "said"), [("swap_4", "swap_4"), ("My-Team", "my_team"), ("4x", "policy_4x"), ("main", "policy_main")]
)
def test_names_of_bundles_become_names_of_c(name: str, said: str):
    assert symbol(name) == said
