"""CRTP as a Crazyflie answers it: tables of contents, parameters, log blocks, platform and link. No sockets here.

A packet is one byte of port and channel, then up to 30 bytes (Bitcraze, CRTP documentation). Names and layouts are
facts of that interface; the variables are those that adapters use.
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

PARAM, COMMANDER, MEM, LOG, LOCALIZATION, GENERIC, HIGH_LEVEL, SUPERVISOR, PLATFORM, LINK = (
    *(2, 3, 4, 5, 6, 7, 8, 9),
    *(13, 15),
)
"""Ports."""
PROTOCOL = 12
"""Version that knows the port of the supervisor."""
LOG_CODES = {"B": 1, "H": 2, "I": 3, "b": 4, "h": 5, "i": 6, "f": 7, "e": 8}
PARAM_CODES = {"b": 0, "h": 1, "i": 2, "f": 6, "B": 8, "H": 9, "I": 10}
"""Codes of types by their letters in `struct`."""
_LETTERS = {code: letter for letter, code in LOG_CODES.items()}


class Packet(NamedTuple):
    """One packet."""

    port: int
    channel: int
    data: bytes

    def encode(self) -> bytes:
        """Return the packet's bytes as sent."""
        return bytes([self.port << 4 | 3 << 2 | self.channel]) + self.data


def decoded(raw: bytes) -> Packet:
    """A packet that came; the null packet has port 15 and channel 3."""
    return Packet(raw[0] >> 4, raw[0] & 3, raw[1:])


@dataclass
class LogBlock:
    """One block of variables that is sent at a period."""

    names: list[tuple[str, str]] = field(default_factory=list)
    """(variable, letter that it is fetched as)."""
    period_s: float = 0.0
    """0: not started."""
    due_s: float = 0.0


class Contents:
    """A table of contents: names with their types."""

    def __init__(self, port: int, kinds: Mapping[str, str], codes: Mapping[str, int]) -> None:
        """Create the table of a port; `kinds` are type letters by the name GROUP.NAME."""
        self.names = list(kinds)
        self._port, self._kinds, self._codes = port, kinds, codes
        self._crc = zlib.crc32(repr(sorted(kinds.items())).encode())

    def answer(self, data: bytes) -> list[Packet]:
        """Return the reply to a request of version 2 of the protocol."""
        if data[:1] == b"\x03":
            return [Packet(self._port, 0, struct.pack("<BHIBB", 3, len(self.names), self._crc, 16, 128))]
        if data[:1] == b"\x02" and (index := struct.unpack_from("<H", data, 1)[0]) < len(self.names):
            name = self.names[index]
            text = name.replace(".", "\0").encode() + b"\0"
            return [Packet(self._port, 0, struct.pack("<BHB", 2, index, self._codes[self._kinds[name]]) + text)]
        return []


class CrtpServer:
    """Replies of a vehicle about itself; packets that move the vehicle go to `told`."""

    def __init__(
        self,
        parameters: dict[str, tuple[str, float]],
        logged: Mapping[str, str],
        told: Callable[[Packet], list[Packet]],
    ) -> None:
        """Nothing is logged yet.

        Args:
            parameters: letter and value by the name GROUP.NAME.
            logged: letter by name.
            told: gets set-points and the supervisor's port; its answers are sent.
        """
        self.parameters, self.told = parameters, told
        self.protocol, self.type_name = PROTOCOL, "Crazyflie 2.1"
        self._params = Contents(PARAM, {name: kind for name, (kind, _) in parameters.items()}, PARAM_CODES)
        self._logs = Contents(LOG, logged, LOG_CODES)
        self.blocks: dict[int, LogBlock] = {}

    def answer(self, packet: Packet) -> list[Packet]:
        """Return the packets to send back; none for a packet that is too short."""
        try:
            return self._answered(packet)
        except (struct.error, IndexError):
            return []

    def _answered(self, packet: Packet) -> list[Packet]:
        port, channel, data = packet
        if port == LINK:
            return self._link(packet)
        if port == PLATFORM:
            return self._version(data) if channel == 1 else []
        if port == MEM:
            return [Packet(MEM, 0, b"\x01\0")] if channel == 0 and data[:1] == b"\x01" else []
        if port == PARAM:
            return self._params.answer(data) if channel == 0 else self._parameter(channel, data)
        if port == LOG:
            return self._logs.answer(data) if channel == 0 else self._settings(data)
        return self.told(packet)

    def due(self, now_s: float, logged: Callable[[], Mapping[str, float]]) -> list[Packet]:
        """Return the packets of log blocks that are due; `logged` returns the current value of every variable."""
        found, values = [], None
        for ident, block in self.blocks.items():
            if not block.period_s or now_s < block.due_s:
                continue
            values = logged() if values is None else values
            next_s = block.due_s + block.period_s
            block.due_s = next_s if next_s > now_s else now_s + block.period_s
            stamp = int(now_s * 1000) & 0xFFFFFF
            row = b"".join(struct.pack("<" + kind, _fit(kind, values[name])) for name, kind in block.names)
            found.append(Packet(LOG, 2, bytes([ident]) + stamp.to_bytes(3, "little") + row))
        return found

    def tells(self, row: Packet, group: str) -> bool:
        """Return True if a log packet contains variables of a group."""
        return any(name.startswith(group) for name, _ in self.blocks[row.data[0]].names)

    def _version(self, data: bytes) -> list[Packet]:
        """Return the version of the protocol, or the name of the vehicle's type."""
        said = {b"\0": bytes([self.protocol]), b"\x02": self.type_name.encode()}.get(data[:1])
        return [] if said is None else [Packet(PLATFORM, 1, data[:1] + said)]

    def _link(self, packet: Packet) -> list[Packet]:
        if packet.channel == 1:
            return [Packet(LINK, 1, b"Bitcraze Crazyflie\0")]
        return [packet] if packet.channel in (0, 3) else []  # an echo, or a scan's null packet

    def _parameter(self, channel: int, data: bytes) -> list[Packet]:
        if channel == 3 or len(data) < 2:
            return []
        index = struct.unpack_from("<H", data)[0]
        if index >= len(self._params.names):
            return [Packet(PARAM, channel, data[:2] + b"\x02")]
        name = self._params.names[index]
        kind, value = self.parameters[name]
        if channel == 1:
            return [Packet(PARAM, 1, data[:2] + b"\0" + struct.pack("<" + kind, value))]
        self.parameters[name] = kind, struct.unpack_from("<" + kind, data, 2)[0]
        return [Packet(PARAM, 2, data)]

    def _settings(self, data: bytes) -> list[Packet]:
        """Commands of log blocks: 6 create, 7 append, 2 delete, 3 start, 4 stop, 5 reset."""
        command, ident, error = data[0], data[1] if len(data) > 1 else 0, 0
        if command == 5:
            self.blocks.clear()
        elif command == 6:
            self.blocks[ident] = LogBlock()
        elif command == 2:
            self.blocks.pop(ident, None)
        if command in (6, 7) and ident in self.blocks:
            whole = len(data) - (len(data) - 2) % 3  # cflib leaves one byte of the next variable in a full packet
            for kind, index in struct.iter_unpack("<BH", data[2:whole]):
                self.blocks[ident].names.append((self._logs.names[index], _LETTERS[kind & 0x0F]))
        elif command in (3, 4) and ident in self.blocks:
            self.blocks[ident].period_s = data[2] / 100 if command == 3 else 0.0
        elif command in (3, 4, 7):
            error = 2  # no such block
        return [Packet(LOG, 1, bytes([command, ident, error]))]


def _fit(kind: str, value: float) -> float | int:
    """A value as the type can hold it."""
    if kind in "fe":
        return value
    size = 8 * struct.calcsize(kind)
    low, high = (-(1 << size - 1), (1 << size - 1) - 1) if kind.islower() else (0, (1 << size) - 1)
    return min(max(int(value), low), high)
