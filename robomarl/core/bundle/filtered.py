"""`FilteredPolicy`: the graph that holds policy and safety filter, for users without the rest of robomarl.

    policy_filtered.onnx   obs, view, memory in; command, ok, reason, action, memory out

Inputs and outputs are named: `obs`; the view's fields that the filter reads, with dots
(`own.pos_m`, `heard.age_s`); `carry.0`, ... of the network and `safety.commands`, ... of the
filter, which come back as `next.0`, ... and `next.safety.commands`, .... The command is the
filter's. It is always finite and within the limits. `ok` is True if the filter found an
acceleration that satisfies all constraints; if it is False, the command is the brake.
"""

import numpy as np

from robomarl.core.bundle.bundle import FILTERED_FILE, Bundle
from robomarl.core.bundle.golden import COMMAND_TOLERANCE, TOLERANCE, Deviation, Golden, at, worst
from robomarl.core.bundle.runtime import open_session
from robomarl.core.config import UserError
from robomarl.core.filter.filter import initial_carry
from robomarl.core.tree import each, leaves
from robomarl.core.view import LocalView

State = dict[str, np.ndarray]
"""Memory of network and filter, by the graph's input names."""


_TYPES = {"tensor(float)": np.float32, "tensor(bool)": bool, "tensor(int32)": np.int32}


class FilteredPolicy:
    """The filtered graph of a bundle, in onnxruntime.

    Args:
        bundle: one that has the graph.
    """

    def __init__(self, bundle: Bundle) -> None:
        """Open the graph.

        Raises:
            UserError: the bundle has none, or it is broken or not of this contract.
        """
        if FILTERED_FILE not in bundle.files:
            raise UserError(f"{bundle.folder}: has no {FILTERED_FILE}; export the run anew.")
        self.contract = bundle.contract
        self._session = open_session(bundle.files[FILTERED_FILE], FILTERED_FILE)
        self._inputs = {node.name: node for node in self._session.get_inputs()}
        self._outputs = [node.name for node in self._session.get_outputs()]
        self._view = [name for name in self._inputs if name.startswith(("own.", "heard."))]
        known = {"obs", *self._view, *self.init()}
        if set(self._inputs) != known:
            names = sorted(known ^ set(self._inputs))
            raise UserError(f"{FILTERED_FILE}: its inputs are not those of bundle.json ({names}); export anew.")

    def init(self, batch: tuple[int, ...] = ()) -> State:
        """The memory before the first decision."""
        safety = initial_carry(self.contract.safety, batch, np, "float32")
        carries = {f"carry.{c.name}": np.zeros((*batch, *c.shape), np.float32) for c in self.contract.policy_carries}
        return carries | dict(leaves(safety, "safety"))

    def __call__(self, state: State, obs: np.ndarray, view: LocalView) -> tuple[State, State]:
        """Make one decision for every robot.

        Args:
            state: next state of the previous decision, or `init`.
            obs: [B, O] float32.
            view: [B, ...]; mates beyond those that the graph has room for must not be there.

        Returns:
            The next state, and `command` [B, 4] or as wide as the action, `ok` [B], `reason` [B], `action`
            [B, A].

        Raises:
            ValueError: an array has another shape; names the array and the required shape.
        """
        known = dict(leaves(view)) | {"obs": obs} | state
        feed = {name: self._fit(name, known[name], len(obs)) for name in self._inputs}
        found = dict(zip(self._outputs, self._session.run(None, feed), strict=True))
        nexts = {name: found.pop(f"next.{name.removeprefix('carry.')}") for name in state}
        return nexts, found

    def _fit(self, name: str, value: np.ndarray, count: int) -> np.ndarray:
        """An input in the graph's type, with blank mates where the view has fewer than the graph."""
        node = self._inputs[name]
        value, must = np.asarray(value, _TYPES[node.type]), (count, *node.shape[1:])
        room = must[1] - value.shape[1] if name.startswith("heard.") and value.ndim == len(must) else 0
        if room > 0:
            value = np.pad(value, [(0, room if axis == 1 else 0) for axis in range(value.ndim)])
        if value.shape != must:  # a runtime stretches a batch of one without a word
            raise ValueError(f"{name} has the shape {value.shape}; it must be {must}.")
        return value


def check_filtered(bundle: Bundle, golden: Golden) -> list[Deviation]:
    """Return the worst action and the worst command of the filtered graph on the sequences, against the
    golden values.

    If the recorded filter fell back and the graph reports `ok`, or the reverse, the commands differ.
    """
    policy = FilteredPolicy(bundle)
    sequences, steps, robots = golden.obs.shape[:3]
    actions, commands = list[np.ndarray](), list[np.ndarray]()
    state = policy.init((sequences * robots,))
    for t in range(steps):
        views = flat(at(golden.views, t))
        state, found = policy(state, golden.obs[:, t].reshape(sequences * robots, -1), views)
        actions.append(found["action"].reshape(sequences, robots, -1))
        commands.append(found["command"].reshape(sequences, robots, -1))
    names = [field.name for field in bundle.contract.action.fields]
    return [
        worst("filtered action", np.stack(actions, 1), golden.action, names, TOLERANCE),
        worst("filtered command", np.stack(commands, 1), golden.command, names, COMMAND_TOLERANCE),
    ]


def flat(view: LocalView) -> LocalView:
    """A view [S, N, ...] as [S * N, ...]."""
    lead = int(np.prod(np.shape(view.own.pos_m)[:2]))  # not -1, which arrays of nothing do not determine
    return each(view, lambda leaf: np.reshape(leaf, (lead, *np.shape(leaf)[2:])))
