"""What scenarios are made of: their table, and what more than one of them does to a Stage."""

import dataclasses
import time

import judge

SETTLE = 30.0  # seconds in which the peers must agree again once the network is whole
# Pages that a peer fetched in its last moments and whose second copy was not made yet: their links are made safe first.
NOT_COPIED_MAX = 3


@dataclasses.dataclass
class Scenario:
    name: str
    run: object  # of a Stage, and whether it is the short variant
    about: str
    delay: float  # seconds between requests to one host; sets how long the crawl lasts
    delay_long: float  # of the long variant
    needs: tuple = ()  # settings without which it cannot be
    settings: dict = dataclasses.field(default_factory=dict)
    slow: tuple = None  # (share lost, seconds of delay) of each peer's ring link
    slow_one: int = None  # only of what this peer (by number) sends, and only when the scenario says so
    recorded: bool = False  # the ring has no key; what the peers say is recorded for the outside judge

    def __post_init__(self):
        self.about = " ".join(self.about.split())


ALL = {}


def scenario(delay, delay_long=None, **options):
    def mark(function):
        name = function.__name__
        ALL[name] = Scenario(name, function, function.__doc__, delay, delay_long or delay, **options)
        return function

    return mark


def hold(since, seconds):
    """The fault itself lasts so long."""
    time.sleep(max(0.0, since + seconds - time.time()))


def cut(stage, begin, heal, sides, seconds):
    """Cuts the ring, waits, heals it, waits until all agree again. sides: [{peers}, …]."""
    lasting = judge.Cut(time.time(), float("inf"), {p.web_address: i for i, side in enumerate(sides) for p in side})
    stage.promise.cuts.append(lasting)
    since = stage.event("the ring is cut: " + " | ".join(" ".join(sorted(p.name for p in side)) for side in sides))
    begin()
    hold(since, seconds)
    stage.event("the ring is whole again")
    heal()
    healed = time.time()
    stage.wait_whole(stage.peers, SETTLE)
    stage.say(f"all see each other {time.time() - healed:.1f} s after the cut")
    # Until then a holder does not know what the other side has fetched.
    stage.wait_returned(stage.peers, SETTLE)
    stage.promise.cuts[-1] = dataclasses.replace(lasting, end=time.time() + 1.0)
    return since, healed
