"""What the peers said, read from the recorded frames: pcap, Ethernet, IPv4, TCP, ZMTP 3, msgpack, and the messages that
docs/reference/formats.md lists. Written from those documents; it shares no code with the product.

Of a message only what the outside judge needs is read: batches, their records of URLs, and their acknowledgements.
"""

import dataclasses
import ipaddress
import struct

BATCH, BATCH_ACK, BATCH_REFUSED = 8, 9, 10
KINDS = ("forward", "copy", "transfer")
STATES = {1: "queued", 2: "excluded", 3: "failed", 4: "fetched"}
VERSIONS = (3, 4)  # of the protocol
RECORD_URL, RECORD_URL_LONG = 1, 9
# Bits of a long URL record's extra fields and their bytes; None: a byte that says how many follow.
EXTRA = ((1, 1), (2, 2), (4, 2), (8, 8), (16, None), (32, 8), (64, 2))
GREETING = 64  # bytes of a ZMTP connection's first words
MORE, LONG, COMMAND = 1, 2, 4
MESSAGE_MAX = 8 << 20


class WireError(Exception):
    """The record is not what formats.md says, or has a hole."""


@dataclasses.dataclass(frozen=True)
class Said:
    """A message, when the last of its bytes left its sender."""

    at: float  # seconds since 1970
    source: str  # address
    target: str
    peer: str  # the sender's identity: that of its directory, in hex
    type: int
    body: list


# --- frames and streams


def frames(raw):
    """(nanoseconds, frame) of a pcap file's bytes."""
    if len(raw) < 24 or struct.unpack_from("<I", raw)[0] != 0xA1B23C4D:
        raise WireError("not a pcap file with nanoseconds")
    place = 24
    while place + 16 <= len(raw):
        seconds, nanoseconds, taken, whole = struct.unpack_from("<IIII", raw, place)
        if taken != whole or place + 16 + taken > len(raw):
            raise WireError(f"a frame at byte {place} is cut short")
        yield seconds * 1_000_000_000 + nanoseconds, raw[place + 16 : place + 16 + taken]
        place += 16 + taken


class Stream:
    """One direction of one TCP connection."""

    def __init__(self, first):
        self.next = first  # sequence number of the next byte
        self.early = {}  # sequence number -> bytes behind a gap
        self.bytes = bytearray()
        self.greeted = False

    def take(self, sequence, data):
        """Appends what follows; bytes that came before are left out."""
        self.early[sequence] = max(data, self.early.get(sequence, b""), key=len)
        while (at := next((at for at in self.early if self._ahead(at) <= 0), None)) is not None:
            known = -self._ahead(at)
            piece = self.early.pop(at)[known:]
            self.bytes += piece
            self.next = (self.next + len(piece)) & 0xFFFFFFFF

    def _ahead(self, sequence):
        return ((sequence - self.next + 0x80000000) & 0xFFFFFFFF) - 0x80000000

    def messages(self):
        """The whole messages so far (ZMTP 3: RFC 23 and 37)."""
        if not self.greeted:
            if len(self.bytes) < GREETING:
                return
            if self.bytes[0] != 0xFF or self.bytes[9] != 0x7F or self.bytes[10] != 3:
                raise WireError(f"a connection does not begin as ZMTP 3 does: {bytes(self.bytes[:12]).hex()}")
            if self.bytes[12:32].rstrip(b"\0") != b"NULL":
                raise WireError("a connection is encrypted: record a ring without a key")
            del self.bytes[:GREETING]
            self.greeted = True
        place = 0
        while place + 2 <= len(self.bytes):
            flags = self.bytes[place]
            head = 9 if flags & LONG else 2
            if place + head > len(self.bytes):
                break
            size = struct.unpack_from("!Q", self.bytes, place + 1)[0] if flags & LONG else self.bytes[place + 1]
            if flags & ~(MORE | LONG | COMMAND) or size > MESSAGE_MAX:
                raise WireError(f"a ZMTP frame with flags {flags} and {size} bytes")
            if place + head + size > len(self.bytes):
                break
            if not flags & COMMAND:
                if flags & MORE:
                    raise WireError("a message of several frames")
                yield bytes(self.bytes[place + head : place + head + size])
            place += head + size
        del self.bytes[:place]


def read(raw, port):
    """Every message in a record of frames, in the order in which they were sent; raises WireError at a hole."""
    streams = {}
    said = []
    for at, frame in sorted(frames(raw), key=lambda taken: taken[0]):
        ip = 14
        size = struct.unpack_from("!H", frame, ip + 2)[0] or len(frame) - ip  # 0: longer than 16 bits can say
        source, target = (str(ipaddress.IPv4Address(frame[ip + i : ip + i + 4])) for i in (12, 16))
        tcp = ip + (frame[ip] & 15) * 4
        from_port, to_port, sequence = struct.unpack_from("!HHI", frame, tcp)
        flags = frame[tcp + 13]
        key = (source, from_port, target, to_port)
        if flags & 2:  # SYN: a new connection, even where an earlier one had the same ports
            streams[key] = Stream((sequence + 1) & 0xFFFFFFFF)
            continue
        data = frame[tcp + (frame[tcp + 12] >> 4) * 4 : ip + size]
        if not data or port not in (from_port, to_port):
            continue
        if key not in streams:
            raise WireError(f"a connection from {source} to {target} whose beginning was not recorded")
        stream = streams[key]
        stream.take(sequence, data)
        for message in stream.messages():
            said.append(_said(at / 1e9, source, target, message))
    _refuse_holes(streams)
    return said


def _refuse_holes(streams):
    """A gap that was never filled hides what was said after it."""
    for (source, _, target, _), stream in streams.items():
        if stream.early and min(map(len, stream.early.values())) > 1:  # a keep-alive repeats one byte
            raise WireError(f"bytes from {source} to {target} are missing in the record")


def _said(at, source, target, message):
    value, end = unpack(message)
    if end != len(message) or not isinstance(value, list) or len(value) < 6:
        raise WireError(f"a message from {source} that is no message: {message[:20].hex()}")
    version, kind, _, peer, _, body = value[:6]
    if version not in VERSIONS:
        raise WireError(f"a message of protocol version {version}: teach it to wire_format.py")
    return Said(at, source, target, bytes(peer).hex(), kind, body)


# --- msgpack (https://github.com/msgpack/msgpack/blob/master/spec.md), as far as the messages use it


def unpack(data, place=0):
    """(value, the place after it)."""
    first = data[place]
    place += 1
    if first <= 0x7F:
        return first, place
    if first >= 0xE0:
        return first - 256, place
    if first <= 0x8F:
        return _map(data, place, first & 15)
    if first <= 0x9F:
        return _array(data, place, first & 15)
    if first <= 0xBF:
        return data[place : place + (first & 31)].decode(), place + (first & 31)
    if first in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[first], place
    if first in _NUMBERS:
        form, size = _NUMBERS[first]
        return struct.unpack_from(form, data, place)[0], place + size
    if first in _LENGTHS:
        what, form, size = _LENGTHS[first]
        count = struct.unpack_from(form, data, place)[0]
        place += size
        if what in ("bin", "str"):
            if place + count > len(data):
                raise WireError("a msgpack text is cut short")
            piece = data[place : place + count]
            return (piece.decode() if what == "str" else piece), place + count
        return (_array if what == "array" else _map)(data, place, count)
    raise WireError(f"a msgpack value of type {first:#x}")


_NUMBERS = {
    0xCA: ("!f", 4), 0xCB: ("!d", 8), 0xCC: ("!B", 1), 0xCD: ("!H", 2), 0xCE: ("!I", 4), 0xCF: ("!Q", 8),
    0xD0: ("!b", 1), 0xD1: ("!h", 2), 0xD2: ("!i", 4), 0xD3: ("!q", 8),
}  # fmt: skip
_LENGTHS = {
    0xC4: ("bin", "!B", 1), 0xC5: ("bin", "!H", 2), 0xC6: ("bin", "!I", 4),
    0xD9: ("str", "!B", 1), 0xDA: ("str", "!H", 2), 0xDB: ("str", "!I", 4),
    0xDC: ("array", "!H", 2), 0xDD: ("array", "!I", 4), 0xDE: ("map", "!H", 2), 0xDF: ("map", "!I", 4),
}  # fmt: skip


def _array(data, place, count):
    values = []
    for _ in range(count):
        value, place = unpack(data, place)
        values.append(value)
    return values, place


def _map(data, place, count):
    values = {}
    for _ in range(count):
        key, place = unpack(data, place)
        values[key], place = unpack(data, place)
    return values, place


# --- batches


def url_record(record):
    """(URL, state, HTTP status) of a batch's record; None when it is no URL's."""
    if record[0] not in (RECORD_URL, RECORD_URL_LONG):
        return None
    if len(record) < 18:
        raise WireError(f"a URL record of {len(record)} bytes")
    state, _, _, _, _, status, _ = struct.unpack_from("!BBHBBHq", record, 1)
    place = 17
    if record[0] == RECORD_URL_LONG:
        bits = record[place]
        place += 1
        for bit, size in EXTRA:
            if bits & bit:
                place += 1 + record[place] if size is None else size
    if state not in STATES:
        raise WireError(f"a URL record with state {state}")
    return record[place:].decode(), STATES[state], status


def batch_of(body):
    """(sequence, kind, [(URL, state, HTTP status)]) of a batch's fields."""
    sequence, _, records, kind = body[:4]
    return sequence, KINDS[kind], [found for _, record in records if (found := url_record(record))]
