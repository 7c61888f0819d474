"""`Host`: where a robot is, as a fleet file says it and as `ssh` is called."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

PORTS = range(1, 65536)
FORMS = 'a name of your ssh settings, or [user@]address[:port]; an IPv6 address with a port is "[fe80::1]:2222"'
_NAME = re.compile(r"[^\s/\\:\[\]@,;'\"`$&|<>(){}*?!#%^~=-][^\s/\\:\[\]@,;'\"`$&|<>(){}*?!#%^~=]*")
"""A name of the user's ssh settings or of DNS."""
_USER = re.compile(r"[^\s:\[\]'\"`$&|<>(){}*?!#;-][^\s:\[\]'\"`$&|<>(){}*?!#;]*")


class Host(NamedTuple):
    """Parts of `host`."""

    user: str
    """Name of the user; empty: the one that the ssh settings name, or this user."""
    address: str
    """Name or IP address, without brackets."""
    port: int
    """Number of the port; 0: the one of the ssh settings, or 22."""

    def ssh_words(self) -> list[str]:
        """Return the words between the options of `ssh` and the command."""
        port = ["-p", str(self.port)] if self.port else []
        return [*port, "--", f"{self.user}@{self.address}" if self.user else self.address]


def parse_host(text: str) -> Host:
    """Read `host` of a fleet file.

    Raises:
        ValueError: it is no host; one sentence with the mistake and the allowed forms.
    """
    user, at, rest = text.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise _wrong(text, f"{user!r} is no user")
    address, port = _split(text, rest)
    if re.fullmatch(r"[\d.]+", address) and not _is(IPv4Address, address):
        raise _wrong(text, f"{address} is no IPv4 address")
    if ":" not in address and not _NAME.fullmatch(address):
        raise _wrong(text, f"{address!r} is no name or address")
    if port and not (port.isascii() and port.isdigit() and int(port[:6]) in PORTS):
        raise _wrong(text, f"port {port!r} must be from {PORTS[0]} to {PORTS[-1]}")
    return Host(user, address, int(port or 0))


def _split(text: str, rest: str) -> tuple[str, str]:
    """Address and port, the port empty where there is none."""
    if found := re.fullmatch(r"\[([^\[\]]*)\](?::(.+))?", rest):
        if not _is(IPv6Address, found[1]):
            raise _wrong(text, f"{found[1]!r} in brackets is no IPv6 address")
        return found[1], found[2] or ""
    if _is(IPv6Address, rest):
        return rest, ""
    address, colon, port = rest.partition(":")
    if colon and (not port or not port.isdigit()):
        raise _wrong(text, f"{rest!r} is neither an IPv6 address nor an address with a port")
    return address, port


def _is(kind: type[IPv4Address] | type[IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except AddressValueError:
        return False
    return True


def _wrong(text: str, why: str) -> ValueError:
    return ValueError(f"host = {text[:80]!r}: {why}; write {FORMS}.")
