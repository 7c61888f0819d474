"""`Gate`: lets requests to the page's server in that come from it or have the token, and refuses all others."""

import hmac
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "robomarl_operate"
LOCAL = ("localhost", "127.0.0.1", "::1")
LEAST_TOKEN = 8
"""Fewest characters of a token."""
LOGIN = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>robomarl operate</title><body style="font: 18px system-ui; margin: 3rem; max-width: 34rem">
<h1>Token needed</h1><p>This page can move robots. Enter the token that <code>robomarl operate</code> printed.</p>
<form><label>Token <input name="token" type="password" autofocus style="font-size: 1.2rem"></label>
<button style="font-size: 1.2rem">Open</button></form></body></html>"""


class Gate:
    """ASGI middleware around the whole server, its web sockets included."""

    def __init__(self, app: ASGIApp, token: str, refused: Callable[[str], None]) -> None:
        """Guard an application.

        Args:
            app: the application.
            token: word that a browser has to know; "": the server listens on this machine only, and needs none.
            refused: called with the address of a client that named a wrong token.
        """
        self.app, self._token, self._refused = app, token, refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        answer = self._answer(scope) if scope["type"] in ("http", "websocket") else None
        if answer is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not let in; None for one that is."""
        headers = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin", "")
        # Another site in the operator's browser must not press buttons here.
        if origin and urlsplit(origin).netloc != host:
            return Response("another site asked", 403)
        if not self._token:
            # A name that a foreign name server leads to this machine would make its site ours.
            return None if urlsplit(f"//{host}").hostname in LOCAL else Response("only localhost is served", 403)
        if self._knows(cookie_of(headers)):
            return None
        return self._login(scope)

    def _login(self, scope: Scope) -> Response:
        named = parse_qs(scope["query_string"].decode("latin1")).get("token", [""])[0]
        if named and self._knows(named):
            kept = [pair for pair in scope["query_string"].decode("latin1").split("&") if not pair.startswith("token=")]
            let_in = RedirectResponse(scope["path"] + ("?" + "&".join(kept) if kept else ""), 303)
            let_in.set_cookie(COOKIE, self._token, httponly=True, samesite="lax")
            return let_in
        if named:
            self._refused((scope.get("client") or ("an unknown address", 0))[0])
        return HTMLResponse(LOGIN, 401, headers={"Cache-Control": "no-store"})

    def _knows(self, named: str) -> bool:
        return hmac.compare_digest(named.encode(), self._token.encode())


def cookie_of(headers: dict[str, str]) -> str:
    """Return the token in the cookies of a request; "" if there is none."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def is_local(host: str) -> bool:
    """Return True if an address is of this machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
