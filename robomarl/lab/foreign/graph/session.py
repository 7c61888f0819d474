"""An ONNX file as onnxruntime computes it: the reference for the bundle.

Inputs are fed and memory is carried by the names of `Ports` only.
"""

from collections.abc import Callable

import numpy as np

from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.graph.ports import COUNTER, Ports
from robomarl.lab.foreign.graph.shapes import InputShapes


def in_onnxruntime(content: bytes, ports: Ports, shapes: InputShapes, where: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of inputs [T, I] of one robot's consecutive decisions -> outputs [T, O].

    A file that decides for a fixed number of robots receives this robot in every place, and the first
    place is read.

    Raises:
        UserError: onnxruntime does not open the file, or does not run it.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    mend = "export it anew, with the usual operators and in single precision"
    with library_errors(f"{where}: onnxruntime can't open it", mend):
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    wanted = [ports.action, *dict.fromkeys(name for name in ports.memory.values() if name != COUNTER)]

    def placed(name: str, value: np.ndarray) -> np.ndarray:
        axis = shapes.batch_axis[name]
        value = value.reshape(shapes.one[name]).astype(shapes.types[name])
        return value if axis is None else np.repeat(value, shapes.batch, axis)

    def fly(inputs: np.ndarray) -> np.ndarray:
        feed = {name: placed(name, np.zeros(shapes.one[name])) for name in (*ports.memory, *ports.zeros)}
        outputs = []
        for row in inputs.astype(np.float32):
            given = {**feed, ports.observation: placed(ports.observation, row)}
            found = dict(zip(wanted, map(np.asarray, session.run(wanted, given)), strict=True))
            for name, becomes in ports.memory.items():
                feed[name] = feed[name] + feed[name].dtype.type(1) if becomes == COUNTER else found[becomes]
            action = found[ports.action]
            outputs.append((action[0] if shapes.batch > 1 else action).reshape(-1))
        return np.stack(outputs)

    def guarded(inputs: np.ndarray) -> np.ndarray:
        with library_errors(f"{where}: onnxruntime can't run it on {inputs.shape[-1]} numbers", mend):
            return fly(inputs)

    return guarded
