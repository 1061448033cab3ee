"""Whether the outside judge finds what is wrong: histories made for that, each with one fault, or with something that
is allowed; and the same as bytes on a wire.

A judge that calls a bad history good, or a good one bad, fails here. Needs neither root nor a crawl.
"""

import dataclasses
import pathlib
import struct
import tempfile

import history
import judge_history
import wire_format
from history import Ack, Asked, Batch, Deed, Facts

T = 1_800_000_000.0  # all times count from here
PAGE, LINK, OTHER, FORBIDDEN = (f"http://h.test/{name}" for name in ("page", "link", "other", "private"))
A, B, C, D = "127.88.0.1", "127.88.0.2", "127.88.0.3", "127.88.0.4"
WEB = {A: "10.99.0.1", B: "10.99.0.2", C: "10.99.0.3", D: "10.99.0.4"}
DISK = {A: "aa" * 16, B: "bb" * 16, C: "cc" * 16, D: "d0" * 16}
NAMES = {A: "peer-1", B: "peer-2", C: "peer-3", D: "peer-4"}
QUEUED, FETCHED, EXCLUDED = ("queued", 0), ("fetched", 200), ("excluded", 0)


def facts(*deeds, **more):
    started = [Deed(T - 60, "started", name) for name in NAMES.values()]
    values = {
        "delay": 1.0,
        "host_delays": {},
        "links": {PAGE: [LINK, OTHER]},
        "peers": {NAMES[a]: {"ring": a, "web": WEB[a]} for a in NAMES},
        "deeds": started + [dataclasses.replace(deed, at=T + deed.at) for deed in deeds],
        "totals": {"peer-1": {"fetched": 3, "failed": 0, "excluded": 0}},
    }
    return Facts(**{**values, **more})


def batch(at, source, target, number, kind, *records, disk=None):
    return Batch(T + at, source, target, disk or DISK[source], number, kind, tuple((u, *s) for u, s in records))


def ack(at, source, target, number, disk=None):
    return Ack(T + at, source, target, disk or DISK[source], number)


def asked(at, source, url):
    return Asked(T + at, WEB[source], "h.test", url.removeprefix("http://h.test"))


def good():
    """A fetches the page, of which it holds the partition; its links are B's, and C has the copies."""
    return {
        "page": asked(1.0, A, PAGE),
        "forward": batch(1.2, A, B, 1, "forward", (LINK, QUEUED), (OTHER, QUEUED)),
        "links copied": batch(1.3, B, C, 7, "copy", (LINK, QUEUED), (OTHER, QUEUED)),
        "copied": ack(1.4, C, B, 7),
        "acknowledged": ack(1.5, B, A, 1),
        "outcome": batch(1.6, A, C, 2, "copy", (PAGE, FETCHED)),
        "outcome copied": ack(1.7, C, A, 2),
        "link": asked(2.1, B, LINK),
        "link fetched": batch(2.5, B, C, 8, "copy", (LINK, FETCHED)),
        "link copied": ack(2.6, C, B, 8),
        "other": asked(3.2, B, OTHER),
        "other fetched": batch(3.5, B, C, 9, "copy", (OTHER, FETCHED)),
        "other copied": ack(3.6, C, B, 9),
    }


def but(*names, **more):
    """The good history without some of it, and with more."""
    found = good()
    for name in names:
        del found[name]
    return [*found.values(), *more.values()]


def cut(begin, end, *sides):
    return Deed(begin, "cut", end=T + end, sides=tuple(tuple(NAMES[a] for a in side) for side in sides))


AGAIN = asked(20.0, C, PAGE)
TWO = {"totals": {"peer-1": {"fetched": 2, "failed": 0, "excluded": 0}}}

# (what, facts, messages and requests, the rules that are broken)
CASES = [
    ("a good history", facts(), but(), []),
    # acknowledged
    ("an acknowledged link that nobody fetched", facts(**TWO),
     but("other", "other fetched", "other copied"), ["acknowledged"]),
    ("its outcome was never acknowledged", facts(**TWO), but("other copied"), ["acknowledged"]),
    ("a link that was never acknowledged may be lost", facts(links={}, **TWO),
     but("acknowledged", "links copied", "copied", "forward", "other", "other fetched", "other copied",
         x=batch(1.2, A, B, 1, "forward", (LINK, QUEUED)), y=ack(1.3, B, A, 1)), []),
    ("the disk of one of both is lost", facts(Deed(9.0, "killed", "peer-2"), Deed(9.0, "disk_lost", "peer-2")),
     but(), []),
    ("both disks are lost", facts(*(Deed(9.0, "disk_lost", NAMES[a]) for a in (B, C)), totals={}),
     but(), ["acknowledged"] * 2),
    # links first
    ("fetched before its links are acknowledged", facts(),
     but("acknowledged", "copied", x=ack(1.8, B, A, 1), y=ack(1.8, C, B, 7)), []),  # B had told C: it has them, too
    ("fetched, and the links are nowhere else", facts(),
     but("acknowledged", "copied", "links copied", x=ack(1.8, B, A, 1)),
     ["links first"]),
    ("fetched, and the links are in the same batch", facts(),
     but("acknowledged", "copied", "links copied", "outcome", x=ack(1.8, B, A, 1),
         y=batch(1.6, A, C, 2, "copy", (PAGE, FETCHED), (LINK, QUEUED), (OTHER, QUEUED))), []),
    ("fetched before one of its links is sent at all", facts(),
     but("forward", "links copied", "copied", w=batch(1.2, A, B, 1, "forward", (LINK, QUEUED)),
         x=batch(1.9, A, B, 3, "forward", (OTHER, QUEUED)), y=ack(2.0, B, A, 3)), ["links first"]),
    ("a replica returns what it was told", facts(),
     but(x=batch(8.0, C, B, 4, "transfer", (PAGE, FETCHED)), y=ack(8.1, B, C, 4)), []),
    # again
    ("a page is asked for again", facts(), but(x=AGAIN), ["again"]),
    ("by the same peer", facts(), but(x=asked(20.0, A, PAGE)), ["again"]),
    ("after a kill, with its outcome on another disk", facts(Deed(9.0, "killed", "peer-1")),
     but(x=asked(20.0, B, PAGE)), ["again"]),
    ("after a kill, before its outcome was acknowledged", facts(Deed(1.65, "killed", "peer-1")),
     but("outcome copied", x=asked(6.0, C, PAGE), y=batch(6.5, C, B, 1, "copy", (PAGE, FETCHED)),
         z=ack(6.6, B, C, 1)), []),
    ("nothing was done, and no outcome was told yet", facts(),
     but("outcome", "outcome copied", x=asked(4.3, C, PAGE), y=batch(5.6, A, C, 2, "copy", (PAGE, FETCHED)),
         z=ack(5.7, C, A, 2)), ["again"]),
    ("the kill came before it was asked for", facts(Deed(0.5, "killed", "peer-1"), Deed(0.6, "started", "peer-1")),
     but("outcome", "outcome copied", x=asked(6.0, C, PAGE), y=batch(6.5, C, B, 1, "copy", (PAGE, FETCHED)),
         z=ack(6.6, B, C, 1)), ["again"]),
    ("both disks with the outcome are lost",
     facts(*(Deed(9.0, "disk_lost", NAMES[a]) for a in (A, C)), links={}, totals={}),
     but("forward", "links copied", "copied", "acknowledged", "link", "link fetched", "link copied", "other",
         "other fetched", "other copied", v=batch(0.1, A, B, 1, "forward", (PAGE, QUEUED)), w=ack(0.2, B, A, 1),
         x=asked(20.0, B, PAGE), y=batch(20.5, B, A, 3, "copy", (PAGE, FETCHED)), z=ack(20.6, A, B, 3, disk="dd" * 16)),
     []),
    ("the other side of a cut, which knew nothing", facts(cut(10, 30, [A, C], [B])), but(x=asked(20.0, B, PAGE)), []),
    ("the other side of a cut, which had been told", facts(cut(10, 30, [A, C], [B])),
     but(x=asked(20.0, B, PAGE), y=batch(8.0, C, B, 4, "transfer", (PAGE, FETCHED)), z=ack(8.1, B, C, 4)), ["again"]),
    ("3 s after a cut, the side which knew nothing", facts(cut(10, 17, [A, C], [B])), but(x=asked(20.0, B, PAGE)), []),
    ("5 s after a cut, the side which knew nothing", facts(cut(10, 15, [A, C], [B])), but(x=asked(20.0, B, PAGE)),
     ["again"]),
    ("3 s after a cut, a fellow was told across it", facts(cut(1.2, 17, [A], [B, C])), but(x=asked(20.0, B, PAGE)),
     []),
    ("5 s after a cut, a fellow was told across it", facts(cut(1.2, 15, [A], [B, C])), but(x=asked(20.0, B, PAGE)),
     ["again"]),
    ("in a cut, a fellow was told before it", facts(cut(10, 30, [A], [B, C])), but(x=asked(20.0, B, PAGE)), ["again"]),
    ("3 s after a cut, a fellow was told by one who was told across it", facts(cut(1.2, 17, [A], [B, C, D])),
     but(x=asked(20.0, B, PAGE), y=batch(1.8, C, D, 8, "copy", (PAGE, FETCHED)), z=ack(1.9, D, C, 8)), []),
    ("in a cut, a fellow was told by a fellow", facts(cut(1.2, 30, [A, C], [B])), but(x=asked(20.0, C, PAGE)),
     ["again"]),
    ("the same side of a cut", facts(cut(10, 30, [A, C], [B])), but(x=asked(20.0, C, PAGE)), ["again"]),
    ("a peer that wakes ends what it had begun", facts(Deed(2.0, "asleep", "peer-1"), Deed(19.9, "awake", "peer-1")),
     but(x=asked(20.0, A, PAGE)), []),
    ("and begins nothing else", facts(Deed(2.0, "asleep", "peer-1"), Deed(15.0, "awake", "peer-1")),
     but(x=asked(20.0, A, PAGE)),
     ["again"]),
    # ended
    ("fetched, and the web was never asked", facts(), but("other"), ["ended"]),
    ("excluded, and the web was asked", facts(**TWO),
     but("other fetched", x=batch(3.5, B, C, 9, "copy", (OTHER, EXCLUDED))),
     ["ended", "ended"]),
    ("totals that are not those of the URLs", facts(**TWO), but(), ["ended"]),
    # delay
    ("a gap under the delay", facts(), but("link", x=asked(1.9, B, LINK)), ["delay"]),
    ("a gap under the host's own delay", facts(host_delays={"h.test": 1.2}),
     but("link", x=asked(2.2, B, LINK)), ["delay"]),
    ("a gap between the sides of a cut", facts(cut(1.5, 2.5, [A], [B, C])), but("link", x=asked(1.9, B, LINK)), []),
    ("a gap under the delay just after a cut", facts(cut(1.2, 1.5, [A], [B, C])), but("link", x=asked(1.9, B, LINK)),
     ["delay"]),
    # whole
    ("an acknowledgement without its batch", facts(), but(x=ack(9.0, B, A, 77)), ["whole"]),
    ("frames that were not recorded", facts(dropped=3), but(), ["whole"]),
    ("nothing was said at all", facts(totals={}), [], ["whole"] * 3),
]  # fmt: skip


# --- as bytes


def pack(value):
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xcf" + struct.pack("!Q", value)
    if isinstance(value, bytes):
        return b"\xc5" + struct.pack("!H", len(value)) + value
    if isinstance(value, str):
        return b"\xd9" + bytes([len(value)]) + value.encode()
    return b"\xdc" + struct.pack("!H", len(value)) + b"".join(map(pack, value))


def url_bytes(url, state, long=False):
    head = struct.pack("!BBBHBBHq", 9 if long else 1, state, 0, 3, 0, 1, 200, 5)
    # Of a long one: hops, a validator of three bytes, and a time.
    return head + (bytes([1 | 16 | 32, 2, 3]) + b'"x"' + bytes(8) if long else b"") + url.encode()


def message(kind, body, version=3):
    return pack([version, kind, bytes(16), bytes.fromhex(DISK[A]), 1, body])


def zmtp(*messages, mechanism=b"NULL"):
    greeting = b"\xff" + bytes(8) + b"\x7f\x03\x01" + mechanism.ljust(20, b"\0") + bytes(32)
    frames = b"\x04\x05READY"
    for one in messages:
        frames += (b"\x02" + struct.pack("!Q", len(one)) if len(one) > 255 else b"\x00" + bytes([len(one)])) + one
    return greeting + frames


def frame(sequence, data, flags=0x18, ports=(40000, 7400)):
    tcp = struct.pack("!HHIIBBHHH", *ports, sequence & 0xFFFFFFFF, 0, 5 << 4, flags, 0, 0, 0) + data
    ends = bytes(map(int, A.split("."))) + bytes(map(int, B.split(".")))
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + ends
    return bytes(12) + b"\x08\x00" + ip + tcp


def pcap(*frames):
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65536, 1)]
    parts += [struct.pack("<IIII", 1_800_000_000, i, len(f), len(f)) + f for i, f in enumerate(frames)]
    return b"".join(parts)


START = 0xFFFFFFF0  # its numbers wrap
SYN = frame(START - 1, b"", flags=2)
RECORDS = [[1, url_bytes(PAGE, 4, long=True)], [2, b"\x03" + bytes(30)], [1, url_bytes(LINK, 1)]]
SAID = zmtp(message(8, [5, 9, RECORDS, 1, [], [], 3]), message(4, [1, [], 2, 3]), message(9, [6]))


def pieces(data, size=50):
    return [frame(START + i, data[i : i + size]) for i in range(0, len(data), size)]


def reads(*frames):
    """The batches and acknowledgements read from them, or what is said against them."""
    try:
        return [
            (m.sequence, getattr(m, "records", None)) for m in history.messages(wire_format.read(pcap(*frames), 7400))
        ]
    except wire_format.WireError as error:
        return str(error)


RIGHT = [(5, ((PAGE, "fetched", 200), (LINK, "queued", 200))), (6, None)]


def on_the_wire():
    cut_up = pieces(SAID)
    mixed = [cut_up[0], cut_up[2], cut_up[1], *cut_up[3:]]
    again = [*cut_up[:3], cut_up[1], frame(START + 30, SAID[30:130]), *cut_up[3:]]
    yield "in one piece", reads(SYN, frame(START, SAID)) == RIGHT, reads(SYN, frame(START, SAID))
    yield "in small pieces", reads(SYN, *cut_up) == RIGHT, reads(SYN, *cut_up)
    yield "out of order", reads(SYN, *mixed) == RIGHT, reads(SYN, *mixed)
    yield "sent again, cut otherwise", reads(SYN, *again) == RIGHT, reads(SYN, *again)
    yield "the same ports again", reads(SYN, *cut_up, SYN, *cut_up) == RIGHT * 2, reads(SYN, *cut_up, SYN, *cut_up)
    yield "a killed sender's half message", reads(SYN, *cut_up[:-1]) == RIGHT[:1], reads(SYN, *cut_up[:-1])
    strange = message(8, [5, 9, [[1, url_bytes(PAGE, 9)]], 0])
    for what, frames, word in (
        ("a hole", [SYN, *cut_up[:3], *cut_up[4:]], "missing"),
        ("no beginning", cut_up, "beginning"),
        ("encrypted", [SYN, frame(START, zmtp(mechanism=b"CURVE"))], "encrypted"),
        ("another protocol", [SYN, frame(START, b"GET / HTTP/1.1" + bytes(60))], "ZMTP"),
        ("another version", [SYN, frame(START, zmtp(message(9, [6], version=77)))], "version 77"),
        ("not a message", [SYN, frame(START, zmtp(pack([1, 2])))], "no message"),
        ("a record of no known state", [SYN, frame(START, zmtp(strange))], "state 9"),
    ):
        yield what, word in str(reads(*frames)), reads(*frames)


def judged():
    for what, known, events, rules in CASES:
        messages = [event for event in events if not isinstance(event, Asked)]
        requests = sorted((event for event in events if isinstance(event, Asked)), key=lambda event: event.at)
        problems, _ = judge_history.judge(known, messages, requests)
        found = [rule for rule, texts in problems.items() for _ in texts]
        yield what, sorted(found) == sorted(rules), f"found {problems}, and should have found {rules}"


def unreadable():
    """A history that is not there is a fault, not a good crawl."""
    with tempfile.TemporaryDirectory() as place:
        try:
            history.read(pathlib.Path(place))
            yield "a history that is not there", False, "it was read"
        except OSError as error:
            yield "a history that is not there", True, str(error)


def results():
    yield from judged()
    yield from on_the_wire()
    yield from unreadable()
