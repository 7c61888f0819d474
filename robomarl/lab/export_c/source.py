"""The text of the C files: the actor, and its header, which says the contract."""

import math
import re
from collections.abc import Iterable

import numpy as np

from robomarl.core.bundle.bundle import POLICY_FILE, Bundle
from robomarl.lab.export_c.graph import OneRobot, one_robot
from robomarl.lab.export_c.operators import Translator
from robomarl.lab.export_c.program import Program, Value, table_type

MARK = "/* Written by robomarl export --target c"
"""First words of every written file; a file that begins otherwise is not overwritten."""


def symbol(name: str) -> str:
    """A bundle's name as the beginning of C names; `main` would be the name of the test's file."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII).lower()
    return word if re.match(r"[a-z]", word) and word != "main" else f"policy_{word}"


def actor(bundle: Bundle) -> str:
    """The source of the actor.

    Raises:
        UserError: the graph has an operator that is not translated.
    """
    name = symbol(bundle.contract.name)
    graph = one_robot(bundle.files[POLICY_FILE])
    head = f'{MARK}: the actor of bundle {name}, {bundle.id[:16]}. */\n#include "{name}.h"\n'
    return f"{head}{functions(name, graph, f'{bundle.folder}/{POLICY_FILE}')}"


def functions(name: str, graph: OneRobot, where: str) -> str:
    """Return weights, workspace and functions of an actor; its header declares the type of its memory.

    Args:
        name: prefix of its function names.
        graph: computation of the actor.
        where: the graph's file, for errors.

    Raises:
        UserError: the graph has an operator that is not translated.
    """
    program = _program(graph, where)
    lines, size = program.placed()
    used = set(re.findall(r"\w+", " ".join(lines)))
    arrays = [floats(n, a) for n, a in program.constants.items() if n in used]
    arrays += [_places(n, a) for n, a in program.tables.items() if n in used]
    work = [f"static float work[{size}];"] if "work" in used else []
    checks = [f"    is_finite &= all_finite({array}, {count});" for array, count in _inputs(graph)]
    return "\n".join(
        [
            "#include <math.h>\n",
            *(*arrays, *work, _FINITE),
            _reset(name, graph),
            f"int {name}_decide({name}_memory *memory, const float *observation, float *action)\n{{",
            *("    int is_finite = 1;", *checks, "    if (!is_finite) {"),
            f"        for (int i = 0; i < {graph.outputs['action'][0]}; ++i) {{ action[i] = 0.0f; }}",
            "        return 0;\n    }",
            *([] if _has_memory(graph) else ["    (void)memory;"]),
            *("    " + line.replace("\n", "\n    ") for line in lines),
            "    return 1;\n}\n",
        ]
    )


def header(bundle: Bundle) -> str:
    """Return the header: sizes, rate, functions, and the meaning of every number."""
    contract, name = bundle.contract, symbol(bundle.contract.name)
    graph = one_robot(bundle.files[POLICY_FILE])
    big = name.upper()
    memory = [f"    float {_field(n)}[{int(np.prod(s))}];" for n, s in graph.inputs.items() if n != "obs"]
    return "\n".join(
        [
            f"{MARK}: the contract of bundle {name}.",
            f"   id {bundle.id}",
            f"   World frame {contract.conventions.world}, body frame {contract.conventions.body}, quaternions "
            f"{contract.conventions.quaternion}, SI units, angles in radians. */",
            f"#ifndef {big}_H\n#define {big}_H\n",
            f"#define {big}_RATE_HZ {_number(contract.rate_hz)} /* calls of {name}_decide */",
            f"#define {big}_OBSERVATION_SIZE {contract.observation.spec.size}",
            f"#define {big}_ACTION_SIZE {contract.action.size}\n",
            _table("observation", _observation(bundle)),
            _table("action", [(f.name, f.unit, f.frame, f"{f.low:g} to {f.high:g}") for f in contract.action.fields]),
            f"/* What is passed from decision to decision; start it anew {_resets(bundle)}. */",
            "\n".join(["typedef struct {", *(memory or [_NO_MEMORY]), f"}} {name}_memory;\n"]),
            f"void {name}_reset({name}_memory *memory);\n",
            _DECIDE.format(name=name, big=big),
            "#endif\n",
        ]
    )


def _program(graph: OneRobot, where: str) -> Program:
    """The whole decision: the inputs are read, and only then is the memory written."""
    program = Program()
    translator = Translator(program, graph, where)
    for name, shape in graph.inputs.items():
        base = "observation" if name == "obs" else f"memory->{_field(name)}"
        translator.values[name] = Value(base, np.arange(int(np.prod(shape))).reshape(1, *shape))
    for node in graph.nodes:
        translator.translate(node)
    found = {name: translator.value(name) for name in graph.outputs}
    kept = {name: program.copy(value) if value.is_memory else value for name, value in found.items()}
    for name, value in kept.items():
        base = "action" if name == "action" else f"memory->{_field(name.replace('next.', 'carry.', 1))}"
        out = Value(base, np.arange(value.index.size))
        program.loop(value.index.size, f"{program.at(out)} = {program.at(value)};")
    return program


def _inputs(graph: OneRobot) -> list[tuple[str, int]]:
    names = {name: "observation" if name == "obs" else f"memory->{_field(name)}" for name in graph.inputs}
    return [(names[name], int(np.prod(shape))) for name, shape in graph.inputs.items()]


def _has_memory(graph: OneRobot) -> bool:
    return len(graph.inputs) > 1


def _field(name: str) -> str:
    """`carry.0` as the name of a field."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _reset(name: str, graph: OneRobot) -> str:
    sizes = [(array, count) for array, count in _inputs(graph) if array != "observation"]
    lines = [f"    for (int i = 0; i < {count}; ++i) {{ {array}[i] = 0.0f; }}" for array, count in sizes]
    body = "\n".join(lines or ["    memory->none = 0;"])
    return f"void {name}_reset({name}_memory *memory)\n{{\n{body}\n}}\n"


def _observation(bundle: Bundle) -> list[tuple[str, ...]]:
    rows = []
    for e in bundle.contract.observation.elements:
        age = "" if e.max_age_s is None else f"at most {e.max_age_s:g} s old"
        rows.append((e.name, e.unit, e.frame, f"{e.low:.3g} to {e.high:.3g}", age))
    return rows


def _table(title: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A comment with a row for each element."""
    lines = [f"   [{i:3d}] " + ", ".join(cell for cell in row if cell) for i, row in enumerate(rows)]
    return "\n".join([f"/* {title}: name, unit, frame, range", *lines, "*/\n"])


def _resets(bundle: Bundle) -> str:
    gaps = {c.max_gap_s for c in bundle.contract.policy_carries}
    gap = f", and after a gap of more than {min(gaps):g} s between two decisions" if gaps else ""
    return f"when the robot is activated and when it holds{gap}"


def floats(name: str, array: np.ndarray) -> str:
    """An array of single precision."""
    return f"static const float {name}[{array.size}] = {{\n{wrapped(map(_number, array.tolist()))}\n}};"


def _number(value: float) -> str:
    """Nine digits say a number of single precision exactly; a search for the largest begins with -INFINITY."""
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    word = f"{value:.9g}"
    return f"{word}f" if re.search("[.e]", word) else f"{word}.0f"


def _places(name: str, array: np.ndarray) -> str:
    return f"static const {table_type(array)} {name}[{array.size}] = {{\n{wrapped(map(str, array.tolist()))}\n}};"


def wrapped(words: Iterable[str]) -> str:
    """Numbers, ten a line."""
    words = list(words)
    return ",\n".join("    " + ", ".join(words[i : i + 10]) for i in range(0, len(words), 10))


_FINITE = """
/* All but infinities and what is no number give 0 here. */
static int all_finite(const float *x, int count)
{
    int yes = 1;
    for (int i = 0; i < count; ++i) { yes &= x[i] - x[i] == 0.0f; }
    return yes;
}
"""
_NO_MEMORY = "    char none; /* this policy has no memory */"
_DECIDE = """/* One decision: observation[{big}_OBSERVATION_SIZE] -> action[{big}_ACTION_SIZE], and the next memory.
   Returns 1; or 0 where an input is not finite: then the action is 0, the memory is as it was, and the caller brakes.
   The action is nominal: the safety filter is not in it. Not reentrant: the workspace is static. */
int {name}_decide({name}_memory *memory, const float *observation, float *action);
"""
