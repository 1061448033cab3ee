"""What a crawl's history is, as an outsider sees it: messages between the peers, requests at the web servers, and what
was done to the ring. Read from a directory that a chaos run leaves:

  ring.pcap            what the peers sent to each other (recorder.py)
  web/*/access.log     what the web servers were asked for, one JSON object a line
  facts.json           what the web's pages link to, which peer has which addresses, what was done to whom and when,
                       and with which totals the peers ended
"""

import dataclasses
import json
import pathlib

import wire_format

ALWAYS = float("inf")


@dataclasses.dataclass(frozen=True)
class Batch:
    at: float
    source: str  # address on the ring
    target: str
    disk: str  # the sender's identity, which is that of its directory
    sequence: int
    kind: str
    records: tuple  # (URL, state, HTTP status)


@dataclasses.dataclass(frozen=True)
class Ack:
    at: float
    source: str
    target: str
    disk: str
    sequence: int


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request at a web server."""

    at: float
    source: str  # address on the web
    host: str
    path: str

    @property
    def url(self):
        return f"http://{self.host}{self.path}"


@dataclasses.dataclass(frozen=True)
class Deed:
    """Something done to a peer: "started", "killed", "stopped", "left", "asleep", "awake",
    "full" (its disk), "disk_lost"; or the ring was "cut"."""

    at: float
    what: str
    peer: str = ""
    end: float = ALWAYS  # of a cut
    sides: tuple = ()  # of a cut: names of peers, side by side


@dataclasses.dataclass
class Facts:
    delay: float
    host_delays: dict
    links: dict  # URL of a page or redirect -> URLs that it leads to
    peers: dict  # name -> {"ring": address, "web": address}
    deeds: list
    totals: dict = dataclasses.field(default_factory=dict)  # name of a peer that ended with the crawl -> its totals
    dropped: int = 0  # frames that were not recorded
    port: int = 7400


def read(directory):
    """(facts, messages, requests) of a run's directory."""
    place = pathlib.Path(directory)
    told = json.loads((place / "facts.json").read_text(encoding="utf-8"))
    told["deeds"] = [Deed(**{**deed, "sides": tuple(map(tuple, deed.get("sides", ())))}) for deed in told["deeds"]]
    facts = Facts(**told)
    said = wire_format.read((place / "ring.pcap").read_bytes(), facts.port)
    asked = []
    for log in sorted(place.glob("web/*/access.log")):
        for line in log.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            asked.append(Asked(entry["ended"] - entry["took"], entry["from"], entry["host"], entry["path"]))
    return facts, messages(said), sorted(asked, key=lambda request: request.at)


def messages(said):
    """The batches and acknowledgements among all messages."""
    found = []
    for one in said:
        if one.type == wire_format.BATCH:
            sequence, kind, records = wire_format.batch_of(one.body)
            found.append(Batch(one.at, one.source, one.target, one.peer, sequence, kind, tuple(records)))
        elif one.type == wire_format.BATCH_ACK:
            found.append(Ack(one.at, one.source, one.target, one.peer, one.body[0]))
    return found
