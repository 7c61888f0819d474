"""Bundles whose structure was changed at random, hashes and seal made to fit: what only the deeper checks can find."""

import io
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONTRACT_FILE, GOLDEN_FILE, POLICY_FILE = "bundle.json", "golden.npz", "policy.onnx"
HUGE = (2**31, 2**40, 2**62, -1, 0, 65537)
ODD: tuple[Any, ...] = (None, True, -1, 0, 1e308, -1e308, 2**63, "", "x" * 5000, [], {}, [[]], "../..", "\u202e\x1b[2J")
OPERATORS = "Loop If Scan ConstantOfShape Expand Tile Range Resize Einsum MatMul RandomNormal NonZero Pad".split()


def mutant(sound: Path, folder: Path, rng: random.Random) -> tuple[str, Path]:
    """A copy of a bundle with one to three changes of one kind; the kind, and the copy."""
    from robomarl.core.bundle.bundle import SIDECARS

    shutil.copytree(sound, folder)
    for name in SIDECARS:
        (folder / name).unlink(missing_ok=True)
    kind = rng.choice(list(KINDS))
    for _ in range(rng.randrange(1, 4)):
        KINDS[kind](folder, rng)
    _reseal(folder)
    return kind, folder


def _graph(folder: Path, change: Callable[[Any], None]) -> None:
    import onnx

    model = onnx.load(folder / POLICY_FILE)
    change(model)
    (folder / POLICY_FILE).write_bytes(model.SerializeToString())


def functions(folder: Path, rng: random.Random) -> None:
    """A function in the file, of this or another domain, that is used or not, and itself calls one."""
    from onnx import helper

    def change(model: Any) -> None:
        domain, name = rng.choice(["", "local", "ai.onnx.ml", "com.microsoft"]), rng.choice(["F", "Add", "Tanh"])
        inner = helper.make_node(rng.choice([name, "Identity", *OPERATORS]), ["x"], ["y"], domain=domain)
        model.functions.append(
            helper.make_function(domain, name, ["x"], ["y"], [inner], [helper.make_opsetid(domain, 1)])
        )
        if rng.random() < 0.7:
            _put_behind(model, helper.make_node(name, ["before"], ["action"], domain=domain))

    _graph(folder, change)


def loops(folder: Path, rng: random.Random) -> None:
    """A loop or a branch, of very many trips, or in itself."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    def change(model: Any) -> None:
        depth = rng.choice([1, 1, 3, 20])
        out = helper.make_tensor_value_info("o", TensorProto.FLOAT, None)
        body = helper.make_graph([helper.make_node("Identity", ["before"], ["o"])], "b", [], [out])
        for _ in range(depth):
            attributes: Any = {"then_branch": body, "else_branch": body} if rng.random() < 0.3 else {"body": body}
            node = helper.make_node(rng.choice(["Loop", "If", "Scan"]), ["trips", "", "before"], ["o"], **attributes)
            body = helper.make_graph([node], "b", [], [out])
        trips = rng.choice([value for value in HUGE if value < 2**62])
        model.graph.initializer.append(numpy_helper.from_array(np.array(trips), f"trips{rng.random()}"))
        _put_behind(model, helper.make_node("Loop", ["trips", "", "before"], ["action"], body=body))

    _graph(folder, change)


def shapes(folder: Path, rng: random.Random) -> None:
    """Weights, inputs and constants of other sizes than they say; arrays of a size that nobody has room for."""
    import numpy as np
    from onnx import helper, numpy_helper

    def change(model: Any) -> None:
        how = rng.randrange(4)
        if how == 0:
            tensor = rng.choice(list(model.graph.initializer))
            sizes = list(tensor.dims) or [1]
            sizes[rng.randrange(len(sizes))] = min(rng.choice(HUGE), 2**62)
            del tensor.dims[:]
            tensor.dims.extend(sizes)
        elif how == 1:
            value = rng.choice([*model.graph.input, *model.graph.output])
            value.type.tensor_type.shape.dim.add().dim_value = rng.choice(HUGE)
        elif how == 2:
            size = [rng.choice([2**16, 2**31, 2**40]) for _ in range(rng.randrange(1, 4))]
            model.graph.initializer.append(numpy_helper.from_array(np.array(size), "size"))
            _put_behind(
                model, helper.make_node(rng.choice(["Expand", "Reshape", "Tile"]), ["before", "size"], ["action"])
            )
        else:
            rng.choice(list(model.graph.initializer)).data_type = rng.randrange(0, 24)

    _graph(folder, change)


def counts(folder: Path, rng: random.Random) -> None:
    """Very many nodes, constants, files; nodes that are gone, twice there, or in a circle."""
    from onnx import helper

    def change(model: Any) -> None:
        nodes, how = model.graph.node, rng.randrange(4)
        if how == 0:
            names = ["before", *(f"n{rng.random()}" for _ in range(rng.choice([100, 3000, 20000])))]
            chain = [helper.make_node("Tanh", [a], [b]) for a, b in zip(names, names[1:], strict=False)]
            _put_behind(model, helper.make_node("Identity", [names[-1]], ["action"]))
            nodes.extend(chain)
        elif how == 1:
            del nodes[rng.randrange(len(nodes))]
        elif how == 2:
            nodes.append(nodes[rng.randrange(len(nodes))])
        else:
            one, other = rng.sample(range(len(nodes)), 2)
            nodes[one].input[:] = nodes[other].output

    if rng.random() < 0.8:
        _graph(folder, change)
    else:
        for i in range(rng.choice([3, 70])):
            (folder / f"more{i}").write_bytes(b"")


def operators(folder: Path, rng: random.Random) -> None:
    """Another operator, domain, attribute or version."""
    from onnx import helper

    def change(model: Any) -> None:
        node, how = rng.choice(list(model.graph.node)), rng.randrange(4)
        if how == 0:
            node.op_type = rng.choice([*OPERATORS, *sorted({n.op_type for n in model.graph.node})])
        elif how == 1:
            node.domain = rng.choice(["ai.onnx.ml", "com.microsoft", "x"])
        elif how == 2:
            node.attribute.append(helper.make_attribute(rng.choice(["axis", "axes", "body", "to"]), rng.choice(HUGE)))
        else:
            model.opset_import[0].version = rng.choice([0, 1, 7, 99, 2**62])

    _graph(folder, change)


def keys(folder: Path, rng: random.Random) -> None:
    """A key of `bundle.json`, anywhere in it, that is gone, new, or holds something odd."""
    data = json.loads((folder / CONTRACT_FILE).read_text())
    place: Any = data
    while True:
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if not (isinstance(place[key], dict | list) and place[key]) or rng.random() < 0.3:
            break
        place = place[key]
    how = rng.randrange(4)
    if how == 0:
        del place[key]
    elif how == 1 and isinstance(place, dict):
        place[rng.choice(["new", "__class__", "files", ""])] = rng.choice(ODD)
    elif how == 2:
        deep: Any = []
        for _ in range(rng.choice([10, 400])):
            deep = [deep]
        place[key] = deep
    else:
        place[key] = rng.choice(ODD)
    (folder / CONTRACT_FILE).write_text(json.dumps(data))


def golden(folder: Path, rng: random.Random) -> None:
    """Arrays that are gone, more, of other shapes, or that say so."""
    with zipfile.ZipFile(folder / GOLDEN_FILE) as archive:
        arrays = {name: archive.read(name) for name in archive.namelist()}
    name, how = rng.choice(list(arrays)), rng.randrange(4)
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays |= {f"more{i}.npy": b"" for i in range(rng.choice([1, 500, 5000]))}
    elif how == 2:
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rng.choice(HUGE)},), }}".ljust(117) + "\n"
        arrays[name] = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    else:
        arrays[name] = arrays[name][: rng.randrange(128)] + bytes(rng.choice([0, 100, 2**25]))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in arrays.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)  # ZipInfo: no time of day
    (folder / GOLDEN_FILE).write_bytes(stream.getvalue())


KINDS = {kind.__name__: kind for kind in (functions, loops, shapes, counts, operators, keys, golden)}
"""Each changes a folder in place."""


def _put_behind(model: Any, node: Any) -> None:
    """Make a node the last one, behind what was the action."""
    for last in (n for n in model.graph.node if "action" in n.output):
        last.output[list(last.output).index("action")] = "before"
    model.graph.node.append(node)


def _reseal(folder: Path) -> None:
    from robomarl.core.bundle.bundle import entry_of
    from robomarl.core.bundle.provenance import sha256_of

    file = folder / CONTRACT_FILE
    data = json.loads(file.read_text())
    data.pop("seal", None)
    if isinstance(data.get("files"), dict):
        for path in (p for p in folder.iterdir() if p.name != CONTRACT_FILE):
            entry = entry_of(path.read_bytes())
            data["files"][path.name] = {"sha256": entry.sha256, "size": entry.size}
    file.write_text(json.dumps({**data, "seal": sha256_of(data)}))
