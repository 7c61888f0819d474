"""`crowd`: `navigation` for teams of any size. Where many cross, some press on each other: at times all make room."""

import dataclasses

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.features import is_room_for_all
from robomarl.domains.ground.lab.controllers.room import kept_off
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.navigation import NAVIGATION, ROOM_M
from robomarl.domains.ground.lab.tasks.navigation import target as own_target


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """That of `navigation`; while all make room, away from mates that are near, wherever the goal is."""
    own, xp = view.own.pos_m[..., :2], namespace(view.own.pos_m)
    off = kept_off(view.heard.pos_m[..., :2] - own[..., None, :], view.heard.mask, ROOM_M)
    makes_room = is_room_for_all(view.time_s) & (off != 0).any(-1)
    return xp.where(makes_room[..., None], own + off, own_target(scenario, view))


CROWD = dataclasses.replace(NAVIGATION, features=(*NAVIGATION.features, "room_for_all"), target=target)
