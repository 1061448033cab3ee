"""One who speaks the peers' language and keeps to none of its rules: ZMTP 3.0 without a key, and msgpack, by hand.

A Speaker is a connection to a peer's port; send() takes what message() makes, or any bytes. docs/reference/formats.md lists the
messages.
"""

import itertools
import json
import socket
import struct
import time

# Types of messages, and states of members.
JOIN, PING, SYNC, BATCH, WAVE_PROBE, FINISH, ASK, ANSWER = 1, 4, 7, 8, 11, 13, 15, 16
JOINING, ACTIVE, LEAVING, LEFT, DOWN = range(5)
ZERO = bytes(16)
VERSION = 4


class Text(bytes):
    """Bytes that are sent as a text, whatever they are."""


def packed(value):
    """msgpack of None, bool, int, str, Text, bytes (bin), list and dict."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if value < 0:
            return b"\xd3" + struct.pack(">q", value)
        return bytes([value]) if value < 128 else b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, str):
        value = Text(value.encode("utf-8"))
    if isinstance(value, Text):
        return b"\xdb" + struct.pack(">I", len(value)) + value
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, dict):
        pairs = b"".join(packed(k) + packed(v) for k, v in value.items())
        return b"\xdf" + struct.pack(">I", len(value)) + pairs
    return b"\xdd" + struct.pack(">I", len(value)) + b"".join(packed(v) for v in value)


def unpacked(data, at=0):
    """(value, where it ended) of the part of msgpack that peers write."""
    kind = data[at]
    if kind < 0x80:
        return kind, at + 1
    if 0x80 <= kind <= 0x8F or kind in (0xDE, 0xDF):
        count, at = (kind & 15, at + 1) if kind < 0xC0 else number(data, at, {0xDE: 2, 0xDF: 4}[kind])
        pairs = {}
        for _ in range(count):
            key, at = unpacked(data, at)
            pairs[key], at = unpacked(data, at)
        return pairs, at
    if 0x90 <= kind <= 0x9F or kind in (0xDC, 0xDD):
        count, at = (kind & 15, at + 1) if kind < 0xC0 else number(data, at, {0xDC: 2, 0xDD: 4}[kind])
        values = []
        for _ in range(count):
            value, at = unpacked(data, at)
            values.append(value)
        return values, at
    if 0xA0 <= kind <= 0xBF or 0xD9 <= kind <= 0xDB:
        size, at = (kind & 31, at + 1) if kind < 0xC0 else number(data, at, {0xD9: 1, 0xDA: 2, 0xDB: 4}[kind])
        return data[at : at + size].decode("utf-8"), at + size
    if 0xC4 <= kind <= 0xC6:
        size, at = number(data, at, {0xC4: 1, 0xC5: 2, 0xC6: 4}[kind])
        return data[at : at + size], at + size
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at + 1
    if 0xCC <= kind <= 0xCF:
        return number(data, at, 1 << (kind - 0xCC))
    raise AssertionError(f"msgpack of kind {kind:02x}")


def number(data, at, size):
    return int.from_bytes(data[at + 1 : at + 1 + size], "big"), at + 1 + size


def member(identity, address, state=ACTIVE, incarnation=None, capacity=100, suspect=False):
    now = time.time_ns() // 1000 if incarnation is None else incarnation
    return [identity, address, capacity, now, state, suspect, 0, VERSION]


def sync(members=(), tenures=(), seeds=()):
    return [False, list(members), list(seeds), list(tenures), 0, []]


def message(kind, body, ring=ZERO, sender=b"\x99" * 16):
    return packed([VERSION, kind, ring, sender, 0, body])


class Speaker:
    def __init__(self, address, timeout=60.0, receive_bytes=None):
        """`receive_bytes`: what the system keeps for one who does not read."""
        host, port = address.rsplit(":", 1)
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if receive_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(timeout)
        self.socket.connect((host.strip("[]"), int(port)))
        self.sequence = itertools.count(1)
        greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
        self.socket.sendall(greeting)
        self._take(64)
        ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER"
        self.socket.sendall(bytes([4, len(ready)]) + ready)
        self._frame()  # its READY

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data, more=False):
        self.socket.sendall((b"\x03" if more else b"\x02") + struct.pack(">Q", len(data)) + data)

    def ask(self, verb, body, for_ring=False):
        """The answer's JSON; `body` is text, or what is made JSON of."""
        mine = next(self.sequence)
        text = body if isinstance(body, (str, Text)) else json.dumps(body)
        self.send(message(ASK, [mine, verb, text, for_ring], sender=ZERO))
        while True:
            kind, answer = self.receive()
            if kind == ANSWER and answer[0] == mine:
                return json.loads(answer[1])

    def receive(self):
        """(type, body) of the next message."""
        flags, data = self._frame()
        while flags & 4:  # commands: a ping of ZMTP's own, say
            flags, data = self._frame()
        envelope, _ = unpacked(data)
        return envelope[1], envelope[5]

    def _frame(self):
        flags = self._take(1)[0]
        size = struct.unpack(">Q", self._take(8))[0] if flags & 2 else self._take(1)[0]
        return flags, self._take(size)

    def _take(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the peer hung up")
            data += piece
        return data
