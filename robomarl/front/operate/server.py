"""`serve`: the web server of the operators' pages, until it is interrupted."""

import asyncio
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI, Request, Response
from nicegui import Client, ui

from robomarl.core.config import UsageError, UserError
from robomarl.front.operate.gate import LEAST_TOKEN, Gate, is_local
from robomarl.front.operate.operators import Operators
from robomarl.front.operate.page import OperatorPage
from robomarl.front.operate.solid_view import stl_files
from robomarl.front.operate.station import Station
from robomarl.front.operate.visit import Visit
from robomarl.ros.robot.health import WARN

HERE = Path(__file__).parent
RECONNECT_S = 40.0
"""Time [s] for which a page without connection is remembered; `script.js` tells its operator after a second."""
HISTORY = 800
"""Messages that are kept for such a page: about `RECONNECT_S` of them."""


@dataclass(frozen=True)
class ServerOptions:
    """Address of the pages, and their token."""

    host: str = "127.0.0.1"
    port: int = 8090
    token: str = ""
    """Word that opens the pages; "": none is needed on this machine, and a random one is made for other addresses."""


def token_for(options: ServerOptions) -> str:
    """Return the token that a server needs; "" if it serves this machine only.

    Raises:
        UsageError: the token is short.
    """
    if options.token and len(options.token) < LEAST_TOKEN:
        raise UsageError(f"--token has {len(options.token)} characters; it needs at least {LEAST_TOKEN}.")
    return options.token or ("" if is_local(options.host) else secrets.token_urlsafe(12))


@dataclass(frozen=True)
class PageDoor:
    """The address that a server listens on, and its token."""

    listener: socket.socket
    host: str
    token: str

    @property
    def address(self) -> str:
        """Address to open in a browser."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        name = f"[{name}]" if ":" in name else name
        port = self.listener.getsockname()[1]
        return f"http://{name}:{port}/" + (f"?token={quote(self.token)}" if self.token else "")


def open_door(options: ServerOptions) -> PageDoor:
    """Take the address.

    Raises:
        UsageError: the token is short.
        UserError: the address can't be listened on.
    """
    token = token_for(options)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((options.host, options.port))
    except OSError as error:
        listener.close()
        raise UserError(f"--host {options.host} --port {options.port}: {error}; name another address.") from None
    return PageDoor(listener, options.host, token)


def serve(station: Station, door: PageDoor, seconds: float, ready: Callable[[str], None]) -> None:
    """Serve pages until Ctrl-C or the end of the time.

    Args:
        station: the fleet.
        door: address and token.
        seconds: time after which the server ends [s]; 0: when it is interrupted.
        ready: called once with the address to open.
    """
    app = application(station)
    gate = Gate(app, door.token, lambda address: station.note(f"wrong token from {address}", level=WARN))
    config = uvicorn.Config(gate, log_level="error", timeout_graceful_shutdown=1)
    server = AnnouncedServer(config, lambda: ready(door.address), seconds)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[door.listener])


class AnnouncedServer(uvicorn.Server):
    """A server that tells when it is ready, and ends after a time."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], seconds: float) -> None:
        """Prepare; `seconds` is 0 for a server that goes on."""
        super().__init__(config)
        self._ready, self._seconds = ready, seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        self._ready()
        if self._seconds:
            asyncio.get_running_loop().call_later(self._seconds, setattr, self, "should_exit", True)


def application(station: Station) -> FastAPI:
    """Return the routes of the server, without its gate."""
    app, operators = FastAPI(openapi_url=None), Operators()
    meshes = {name: data for name, (_, data) in stl_files(station.scene).items()}

    @app.post("/estop")
    async def estop(request: Request, page: str = "") -> Response:
        station.press(operators.named(page, address(request)))
        return Response(status_code=204)

    @app.get("/alive")
    async def alive() -> dict[str, float]:
        return {"age_s": station.age_s}

    @app.get("/mesh/{name}")
    async def mesh(name: str) -> Response:
        return Response(meshes[name], media_type="model/stl") if name in meshes else Response(status_code=404)

    @ui.page("/", title=f"{station.fleet.name} · robomarl operate", language="en-US")
    def index(client: Client, request: Request, name: str = "") -> None:
        operator = operators.join(client.id, name, address(request))
        client.on_connect(lambda: setattr(operator, "here", True))
        client.on_disconnect(lambda: setattr(operator, "here", False))
        client.on_delete(lambda: left(client.id))
        station.note(f"{operator} opened the page")
        style(client.id)
        OperatorPage(Visit(station, operator), operators, client.id)

    def left(page: str) -> None:
        if page in operators.present:
            station.note(f"{operators.present[page]} closed the page")
        operators.leave(page)

    mount(app)
    return app


def mount(app: FastAPI) -> None:
    """Put the pages of NiceGUI below an application."""
    # A page that comes back within this time goes on where it was; later it is drawn again, so memory stays flat.
    ui.run_with(
        app,
        title="robomarl operate",
        tailwind=False,
        reconnect_timeout=RECONNECT_S,
        message_history_length=HISTORY,
        show_welcome_message=False,
    )


def style(page: str) -> None:
    """Give the page that is being made its colours, style sheet and script."""
    ui.colors(positive="#005f73", negative="#a4001d", warning="#ffc233", dark="#14181d")
    ui.add_css(HERE / "style.css")
    ui.add_head_html(f'<script>window.robomarlPage = "{page}";\n{(HERE / "script.js").read_text()}</script>')


def address(request: Request) -> str:
    """Return the address of the client."""
    return request.client.host if request.client else "an unknown address"
