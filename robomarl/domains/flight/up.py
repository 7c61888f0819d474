"""`up` of a flying team: flights, one line for each."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomarl.cli.up import Args


def rehearse(fleet: Any, args: "Args") -> dict[str, Any] | None:
    """Fly so often as is said; None: never. A mission says itself that nothing is carried."""
    if args.mission:
        from robomarl.domains.payload.up import fly_mission

        return fly_mission(fleet, args)
    from robomarl.cli.flights import rehearse as fly

    return fly(fleet, args)
