#!/usr/bin/env python3
"""The outside judge: holds a crawl's history against the contract, and shares no code with the crawler.

    judge_history.py DIRECTORY

DIRECTORY: what history.py reads. Prints what is wrong and, last, what the history held; the exit code is 1 when
anything is wrong. The rules, each with what it takes from the history:

  acknowledged  A URL whose batch was acknowledged has ended on a disk that is still there, whatever disk was lost.
  links first   Before a peer tells another that a page is fetched, each of the page's links was acknowledged by
                somebody, or told by another peer; or the same batch, which is written as one, has it.
  again         A URL is asked of the web again only if the peer that asked before was killed, slept, lost its disk or
                was cut off; and never while an outcome that was acknowledged is on a disk within reach.
  ended         What ended as fetched or failed was asked of the web, what is excluded never was; the totals with
                which the peers ended are those of the URLs that were told.
  delay         Between two requests to a host there is its delay; in a cut, on each side.
  whole         Nothing is missing in the record: an acknowledgement has its batch, and there were some of each kind.
"""

import collections
import dataclasses
import struct
import sys

import history
import wire_format
from history import Ack, Batch

ENDED = ("fetched", "failed", "excluded")
ROUNDING = 0.005  # seconds: the servers' log has whole milliseconds, and those of the server's last turn
CLOCKS = 0.02  # seconds by which the log's times and the record's may differ
# Seconds for which a peer must have run for the others to have heard from it: more than twice the suspicion time.
WITHIN_REACH = 10.0
AFTER_HEALING = 4.0  # seconds in which the sides of a cut find each other (2.1 s measured) and tell what they have
AFTER_WAKING = 1.0  # seconds in which a peer that slept may still begin what it had under way
SHOWN = 5


class Ring:
    """Which peer did what when: from the facts' deeds."""

    def __init__(self, facts):
        self.by_web = {peer["web"]: name for name, peer in facts.peers.items()}
        self.by_ring = {peer["ring"]: name for name, peer in facts.peers.items()}
        self.deeds = sorted(facts.deeds, key=lambda deed: deed.at)
        self.cuts = [deed for deed in self.deeds if deed.what == "cut"]
        self.last_seen = {}  # disk -> (peer, when it said something last)

    def heard(self, message):
        self.last_seen[message.disk] = (self.by_ring[message.source], message.at)

    def lost(self, disk, at):
        """Whether the disk was taken away by then. A later life of the peer has another."""
        peer, seen = self.last_seen[disk]
        return any(d.what == "disk_lost" and d.peer == peer and seen - CLOCKS <= d.at <= at for d in self.deeds)

    def within_reach(self, disk, at):
        """Whether its peer has run, awake, for long enough that the others know it."""
        peer, _ = self.last_seen[disk]
        up = None
        for deed in self.deeds:
            if deed.at > at or deed.peer != peer:
                continue
            if deed.what in ("started", "awake"):
                up = deed.at
            else:
                up = None
        return up is not None and at - up >= WITHIN_REACH and not self.lost(disk, at)

    def cut_at(self, at):
        return next((cut for cut in self.cuts if cut.at <= at <= cut.end), None)

    def apart_at(self, at):
        """The cut because of which its sides cannot know of each other's pages at that time."""
        return next((cut for cut in self.cuts if cut.at <= at <= cut.end + AFTER_HEALING), None)

    @staticmethod
    def same_side(cut, one, other):
        return any(one in side and other in side for side in cut.sides)

    def disturbed(self, peer, begin, end):
        """Whether something was done to the peer that may make others repeat what it had under way."""
        harmful = ("killed", "asleep", "full", "disk_lost")
        if any(d.what in harmful and d.peer == peer and begin <= d.at <= end for d in self.deeds):
            return True
        return any(cut.at <= end and begin <= cut.end for cut in self.cuts)

    def woke(self, peer, at):
        return any(d.what == "awake" and d.peer == peer and 0 <= at - d.at <= AFTER_WAKING for d in self.deeds)


@dataclasses.dataclass(frozen=True)
class Told:
    """What a disk knows of how a URL ended."""

    at: float  # when that was acknowledged
    state: str
    origin: str  # the peer that told it first, of those through which it came here


class Judge:
    def __init__(self, facts):
        self.facts = facts
        self.ring = Ring(facts)
        self.problems = collections.defaultdict(list)  # rule -> what breaks it
        self.sent = {}  # (source, target, sequence) -> Batch, the last of that number
        self.acknowledged = {}  # URL -> (when first, by which peer)
        self.knows = collections.defaultdict(set)  # URL -> disks that told it or acknowledged it
        self.outcome = collections.defaultdict(dict)  # URL -> {disk: Told}, of acknowledged batches
        self.asked = collections.defaultdict(list)  # URL -> requests
        self.counts = collections.Counter()
        self.blamed = set()  # pages whose links were not first, named once

    def wrong(self, rule, text):
        self.problems[rule].append(text)

    # --- what happens, in order

    def take(self, event):
        if isinstance(event, Batch):
            self._batch(event)
        elif isinstance(event, Ack):
            self._ack(event)
        elif event.path != "/robots.txt":
            self._request(event)

    def _batch(self, batch):
        self.ring.heard(batch)
        self.sent[batch.source, batch.target, batch.sequence] = batch
        together = {url for url, _, _ in batch.records}
        for url, state, _ in batch.records:
            if state == "fetched":
                self._links_first(batch, url, together)
        for url, _, _ in batch.records:
            self.knows[url].add(batch.disk)

    def _links_first(self, batch, page, together):
        self.counts["outcomes told"] += 1
        for link in self.facts.links.get(page, ()):
            if link in self.acknowledged or link in together or page in self.blamed:
                continue
            if self.knows[link] - {batch.disk}:
                continue
            self.blamed.add(page)
            who = self.ring.by_ring[batch.source]
            self.wrong("links first", f"{who} tells that {page} is fetched at {batch.at:.3f}, and its link {link} is "
                                      f"on no other disk")  # fmt: skip

    def _ack(self, ack):
        self.ring.heard(ack)
        batch = self.sent.get((ack.target, ack.source, ack.sequence))
        if batch is None:
            unknown = f"{ack.source} acknowledges batch {ack.sequence} of {ack.target}"
            self.wrong("whole", unknown + ", which was not recorded")
            return
        self.counts[f"{batch.kind}s acknowledged"] += 1
        for url, state, _ in batch.records:
            self.acknowledged.setdefault(url, (ack.at, self.ring.by_ring[ack.source]))
            self.knows[url].add(ack.disk)
            if state in ENDED:
                sender = Told(ack.at, state, self.ring.by_ring[batch.source])
                told = self.outcome[url].setdefault(batch.disk, sender)
                self.outcome[url].setdefault(ack.disk, Told(ack.at, state, told.origin))

    def _request(self, request):
        before = self.asked[request.url]
        peer = self.ring.by_web.get(request.source, request.source)
        cut = self.ring.apart_at(request.at)
        known = {disk: told for disk, told in self.outcome[request.url].items() if told.at < request.at - CLOCKS}
        knowing = [disk for disk, told in known.items() if self._can_tell(disk, told, peer, request.at, cut)]
        if knowing and not self.ring.woke(peer, request.at):
            others = sorted({self.ring.last_seen[disk][0] for disk in knowing})
            self.wrong("again", f"{peer} asks for {request.url} at {request.at:.3f}, and {' and '.join(others)} had "
                                f"acknowledged or told how it ended")  # fmt: skip
        elif before:
            last = self.ring.by_web.get(before[-1].source, before[-1].source)
            if not self.ring.disturbed(last, before[-1].at - CLOCKS, request.at):
                self.wrong("again", f"{peer} asks for {request.url} at {request.at:.3f}, and {last}, to which nothing "
                                    f"was done since, had at {before[-1].at:.3f}")  # fmt: skip
        before.append(request)

    def _can_tell(self, disk, told, peer, at, cut):
        """Whether a peer that asks at that time could know what the disk was told."""
        owner, _ = self.ring.last_seen[disk]
        if self.ring.lost(disk, at):
            return False
        if owner == peer:
            return True
        if not self.ring.within_reach(disk, at):
            return False
        if cut is None:
            return True
        # What came over from the other side once the cut was healed may not have reached all of this side.
        before = told.at < cut.at
        return self.ring.same_side(cut, owner, peer) and (before or self.ring.same_side(cut, told.origin, peer))

    # --- at the end

    def conclude(self, requests):
        self._at_the_end()
        self._delays(requests)
        if self.facts.dropped:
            self.wrong("whole", f"{self.facts.dropped} frames were not recorded")
        for what in ("forwards acknowledged", "copys acknowledged", "outcomes told"):
            if not self.counts[what]:
                self.wrong("whole", f"the record holds no {what}: it proves nothing")

    def _at_the_end(self):
        states = collections.Counter()
        for url, (at, peer) in sorted(self.acknowledged.items()):
            told = self.outcome[url].items()
            left = {one.state for disk, one in told if not self.ring.lost(disk, history.ALWAYS)}
            if not left:
                self.wrong("acknowledged", f"{peer} acknowledged {url} at {at:.3f}, and nobody knows how it ended")
                continue
            state = max(left, key=ENDED[::-1].index)
            states[state] += 1
            if (state == "excluded") == bool(self.asked.get(url)):
                asked = "was" if self.asked.get(url) else "was never"
                self.wrong("ended", f"{url} is told to be {state}, and it {asked} asked for")
        for name, totals in sorted(self.facts.totals.items()):
            told = {state: totals.get(state, 0) for state in ENDED}
            if told != {state: states[state] for state in ENDED}:
                self.wrong("ended", f"{name} ended with {told}, and the peers told {dict(states)}")

    def _delays(self, requests):
        by_host = collections.defaultdict(list)
        for request in requests:
            by_host[request.host].append(request)
        for host, asked in by_host.items():
            for i, request in enumerate(asked):
                before = self._before(request, asked[:i])
                if before is None:
                    continue
                # What robots.txt asks for is known only once it was read.
                own = 0.0 if before.path == "/robots.txt" else self.facts.host_delays.get(host, 0.0)
                gap, due = request.at - before.at, max(self.facts.delay, own)
                if gap < due - ROUNDING:
                    after = f"{gap * 1000:.0f} ms after {before.path}, and {due * 1000:.0f} ms are due"
                    self.wrong("delay", f"{host} is asked for {request.path} at {request.at:.3f}, {after}")

    def _before(self, request, earlier):
        """The last request to the host of which this one's peer could know."""
        cut = self.ring.cut_at(request.at)
        for other in reversed(earlier):
            one, two = (self.ring.by_web.get(r.source, r.source) for r in (request, other))
            if cut is None or self.ring.same_side(cut, one, two):
                return other
        return None


def judge(facts, messages, requests):
    """{rule: what breaks it}, and what there was of everything."""
    judge_ = Judge(facts)
    for event in sorted([*messages, *requests], key=lambda event: event.at):
        judge_.take(event)
    judge_.conclude(requests)
    judge_.counts["URLs acknowledged"] = len(judge_.acknowledged)
    judge_.counts["requests"] = len(requests)
    return dict(judge_.problems), judge_.counts


def sentences(problems):
    """One for each rule that is broken."""
    for rule, found in problems.items():
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        yield f"{rule}: {len(found)} times: {'; '.join(found[:SHOWN])}{more}"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    try:
        problems, counts = judge(*history.read(sys.argv[1]))
    except (OSError, ValueError, LookupError, TypeError, struct.error, wire_format.WireError) as error:
        print(f"WRONG whole: the history cannot be read: {error!r}")
        return 1
    for sentence in sentences(problems):
        print("WRONG " + sentence)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
