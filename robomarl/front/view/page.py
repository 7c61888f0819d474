"""`serve`: the loop that lets time pass, draws the moment and handles clicks, until it is interrupted."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import viser

from robomarl.core.config import UserError
from robomarl.front.view.controls import Controls, GoalHandles
from robomarl.front.view.drawn import TRAIL_S, Drawn
from robomarl.front.view.timeline import MomentSource, Timeline
from robomarl.lab.scene.scene import SceneMoment

RATE_HZ = 40.0
"""Turns of the loop per second."""
SAID_S = 0.5
"""Time between two changes of the panel's words."""


@dataclass(frozen=True)
class PageOptions:
    """How a page is served."""

    title: str
    host: str = "127.0.0.1"
    port: int = 8080
    seconds: float = 0.0
    """The page ends after this time [s]; 0: when it is interrupted."""
    own_pace: bool = False
    """True if the source goes on by itself."""
    ends: bool = False
    """True if the source has an end: all moments are loaded first."""


def open_server(options: PageOptions) -> viser.ViserServer:
    """Return a server of viser on the address, or on the next free port after it.

    Raises:
        UserError: the address can't be listened on.
    """
    try:
        return viser.ViserServer(host=options.host, port=options.port, label=options.title, verbose=False)
    except OSError as error:
        raise UserError(f"--host {options.host} --port {options.port}: {error}; name another address.") from None


def serve(source: MomentSource, options: PageOptions, ready: Callable[[str], None]) -> dict[str, float]:
    """Serve a page until it is interrupted or its time is over.

    Args:
        source: where moments come from.
        options: address and manner.
        ready: called once with the address, when the page can be opened.

    Returns:
        `updates`, `rate_hz` and `cpu_share` (of one core) of the loop.

    Raises:
        UserError: the address can't be listened on.
    """
    server = open_server(options)
    try:
        page = Page(server, source, options)
        ready(f"http://{server.get_host()}:{server.get_port()}")
        return page.run(options.seconds)
    finally:
        server.stop()


class Page:
    """One page: the drawn scene, its controls and its timeline."""

    def __init__(self, server: viser.ViserServer, source: MomentSource, options: PageOptions) -> None:
        """Draw the first moment."""
        self._server, self._title = server, options.title
        self.timeline = Timeline(source, options.own_pace)
        if options.ends:
            self.timeline.load()
        moment = self.timeline.moment
        look_at(server, moment)
        self._drawn = Drawn(server, source.scene, moment)
        self._controls = Controls(server, source.scene, self.timeline, options.title, options.ends)
        self._goals = GoalHandles(server, source.scene, self._controls, self.timeline) if source.sets_goals else None
        self._names = source.scene.names
        self._last_place: np.ndarray | None = None
        self._said_s = 0.0

    def run(self, seconds: float = 0.0) -> dict[str, float]:
        """Turn the loop for a time, or for ever if it is 0."""
        begun_s, cpu_s, updates = time.monotonic(), time.process_time(), 0
        turn_s = before_s = begun_s
        self._show()
        try:
            while not seconds or time.monotonic() - begun_s < seconds:
                turn_s = max(turn_s + 1 / RATE_HZ, time.monotonic() - 1 / RATE_HZ)
                time.sleep(max(0.0, turn_s - time.monotonic()))
                now_s = time.monotonic()
                clicked = self._controls.run()
                if self.timeline.tick(now_s - before_s) or clicked:
                    self._show()
                    updates += 1
                before_s = now_s
        except KeyboardInterrupt:
            pass
        took_s = time.monotonic() - begun_s
        share = (time.process_time() - cpu_s) / took_s
        return {"updates": updates, "rate_hz": updates / took_s, "cpu_share": share}

    def _show(self) -> None:
        moment, layers = self.timeline.moment, self._controls.layers
        with self._server.atomic():
            self._drawn.show(moment, self.timeline.trail(TRAIL_S) if layers.trails else [], layers)
            if self._goals and len(moment.goal_m):
                self._goals.update(moment, layers.goals)
            self._controls.update(moment)
        self._follow(moment)
        if time.monotonic() - self._said_s > SAID_S:
            self._said_s = time.monotonic()
            self._controls.told.content = told(self._title, self._names, moment)

    def _follow(self, moment: SceneMoment) -> None:
        """Move all cameras as the followed robot moved."""
        robot = self._controls.followed
        if robot is None:
            self._last_place = None
            return
        place = moment.pos_m[robot]
        for client in self._server.get_clients().values() if self._last_place is not None else ():
            moved = place - self._last_place
            if np.linalg.norm(moved) > 1e-4:
                client.camera.position = client.camera.position + moved
                client.camera.look_at = client.camera.look_at + moved
        self._last_place = place


def look_at(server: viser.ViserServer, moment: SceneMoment) -> None:
    """Let new clients look at the robots and their goals, from one side and above."""
    places = np.concatenate([moment.pos_m, moment.goal_m])
    low, high = places.min(0), places.max(0)
    middle, reach = (low + high) / 2, max(float(np.linalg.norm(high - low)), 1.0)
    x, y, z = (middle + 0.95 * reach * np.array([-0.45, -0.85, 0.6])).tolist()
    server.initial_camera.position = (x, y, z)
    server.initial_camera.look_at = (float(middle[0]), float(middle[1]), float(middle[2]))


def told(title: str, names: tuple[str, ...], moment: SceneMoment) -> str:
    """Return the words of the panel: title, time, caption, the filter's work and the states of robots."""
    lines = [f"**{title}**", f"{moment.time_s:.1f} s" + (f" · {moment.caption}" if moment.caption else "")]
    if len(moment.active):
        held = [name for name, active in zip(names, moment.active, strict=True) if active]
        lines.append("filter changes: " + (", ".join(held) if held else "none"))
    lines += [f"{name}: {state}" for name, state in zip(names, moment.states, strict=False)]
    return "  \n".join(lines)
