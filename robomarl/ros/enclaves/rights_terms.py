"""`Rights`: permissions of one enclave, and the services that every node has by itself. No ROS here."""

from dataclasses import dataclass

SERVED_BY_ALL = (
    "describe_parameters", "get_parameter_types", "get_parameters", "get_type_description", "list_parameters",
    "set_parameters", "set_parameters_atomically",
)  # fmt: skip
"""Services in the namespace of every node."""
SERVED_BY_LIFECYCLE = (
    "change_state", "get_available_states", "get_available_transitions", "get_state", "get_transition_graph",
)  # fmt: skip
"""And of every lifecycle node."""


@dataclass(frozen=True)
class Rights:
    """Absolute names of topics and services."""

    publishes: frozenset[str] = frozenset()
    subscribes: frozenset[str] = frozenset()
    serves: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()

    def __or__(self, other: "Rights") -> "Rights":
        """Both."""
        return Rights(
            self.publishes | other.publishes,
            self.subscribes | other.subscribes,
            self.serves | other.serves,
            self.calls | other.calls,
        )
