"""A crawl on a network of its own, and what a scenario does to it: start peers, wait for progress, note what was done,
and in the end hold it against what was promised.
"""

import contextlib
import dataclasses
import json
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time

import disks
import judge
import netns
import peers
import ring
import tap
import website

FETCHES_MAX = 4  # of each peer at once
SUSPICION = 3.0  # seconds
NOTICE_MAX = 4 * SUSPICION + 5  # seconds in which the others must have noticed a death
SLOW_CAPACITY = 50  # of the one slow peer: the others, which are watched, get four fifths of the hosts
BEFORE_FAULT = 2.0  # seconds; what a peer asked for so shortly before it died may still have been under way there
TOTALS_LIKE_CALM = ("fetched", "failed", "excluded")
PARTITIONS = 4096
OUTSIDE_JUDGE = pathlib.Path(__file__).resolve().parent / "outside" / "judge_history.py"

_stages = set()
_stages_lock = threading.Lock()


def remove_all():
    """What runs is ended, and all namespaces removed: for a runner that is told to end."""
    netns.no_more()
    with _stages_lock:
        stages = list(_stages)
    ring.end_all_started()
    for stage in stages:
        stage.tidy()
    netns.remove_own()


@dataclasses.dataclass
class Reference:
    """The calm run."""

    urls: set
    totals: dict


@dataclasses.dataclass
class Row:
    """One scenario's line in the table."""

    name: str
    seconds: float = 0.0
    problems: list = dataclasses.field(default_factory=list)
    verdict: object = None
    promise: object = None
    notes: list = dataclasses.field(default_factory=list)
    noticed: tuple = ()  # seconds until the first and the last of the others saw the fault
    taken_over: list = dataclasses.field(default_factory=list)  # seconds, of each host
    speed: tuple = ()  # pages a second before, during and after
    timeline: list = dataclasses.field(default_factory=list)
    evidence: list = dataclasses.field(default_factory=list)


class Stage:
    def __init__(self, build, site, scenario, delay, directory, seed, max_peers=5):
        name, slow = scenario.name, scenario.slow
        self.build = build
        self.site = site
        self.recorded = scenario.recorded
        self.row = Row(name)
        self.dir = pathlib.Path(directory)
        self.random = random.Random(f"{name} {seed}")
        self.promise = judge.Promise(delay, site.crawl_delays())
        self.row.promise = self.promise
        self.settings = {
            "scope": "domain",
            "stop_when_done": "yes",
            "delay": f"{delay * 1000:.0f}ms",
            "delay_factor": "0",  # answers that are slow on purpose
            "address_delay": "0s",  # all hosts are on one address
            "retry_delay": "500ms",
            "replicas": 2,
            "presume_dead_after": "5m",
            "suspicion_time": f"{SUSPICION:.0f}s",
            "max_fetches": FETCHES_MAX,
            "allow_private": f"{netns.WEB_SUBNET}.0.0/16",
            **scenario.settings,
        }
        self.begun = time.time()
        self.events = []  # times of what was done to the ring
        self.deeds = []  # the same, and to whom, for the outside judge
        self.peers = []
        self.monitor = None
        self.web = None
        self.recorder = None
        with _stages_lock:
            _stages.add(self)
        self.net = netns.Net(self.dir, slow, scenario.slow_one, scenario.recorded)
        if slow:
            self.net.make_slow(max_peers)

    # --- the ring

    def prepare(self):
        """The web and the ring's key: before the first peer."""
        self.web = website.Web(self.site, self.net, self.dir)
        self.key = []  # the words that name the ring's key
        if self.recorded:
            self.recorder = tap.Recorder(self.net, self.dir / "ring.pcap")
        else:
            key = self.dir / "ring.key"
            key.write_text(netns.run(self.build.path, "ring-key"), encoding="utf-8")
            key.chmod(0o600)
            self.key = ["--ring-key-file", key]
        self.monitor = peers.Monitor(self.peers)

    def add(self):
        """One more peer, not started yet."""
        peer = peers.Peer(self.build, self.net, len(self.peers) + 1, self.dir, self.web.address, self.deeds)
        self.peers.append(peer)
        return peer

    def launch(self, peer, environment=None):
        """Starts a peer; a second time with the same command, as a service manager does."""
        first = peer.number == 1
        arguments = [*self.key, *self.build.flags(self.settings, first)]
        arguments += ["--wait-for-peers", self.to_begin, self.site.start] if first else []
        if not first:
            peer.join = peer.join or next(p for p in self.living() if p is not peer).address
            arguments += ["--join", peer.join]
        if peer.number == self.net.slow_one:
            arguments += ["--capacity", str(SLOW_CAPACITY)]
        peer.start(*arguments, environment=environment)
        self.note(f"{peer.name} started")
        return peer

    def start(self, count, small_disks=None):
        """So many peers, all active in the eyes of all; then the crawl begins. small_disks: {peer's number: MiB that it
        has room for}."""
        self.prepare()
        self.to_begin = count
        for _ in range(count):
            self.add()
        for number, mebibytes in (small_disks or {}).items():
            disks.make(self.peers[number - 1].data, mebibytes)
        if self.net.slow and not self.net.slow_one:
            lost, took = self.net.expect_slow(1, 2)
            self.say(f"the ring's links lose {lost:.0%} and take {took * 1000:.0f} ms one way ({self.net.slow_by})")
        for peer in self.peers:
            self.launch(peer)
            if peer.number == 1:
                peer.up()
        for peer in self.peers:
            peer.up()
        self.wait_whole(self.peers, 60)

    def living(self):
        return [peer for peer in self.peers if peer.process is not None and not peer.gone and not peer.left]

    def wait_whole(self, members, seconds):
        """Until each of these sees exactly these as active. A peer that has ended with the crawl is no trouble."""
        addresses = {peer.address for peer in members}
        since = time.time()

        def agrees(peer):
            states = self.monitor.states(peer, since)
            return states is not None and {a for a, state in states.items() if state == "active"} == addresses

        def met():
            return all(agrees(peer) or self.over(peer) for peer in members)

        ring.wait_until(f"{[p.name for p in members]} see each other, and nobody else, as active", met, seconds)

    def wait_returned(self, members, seconds):
        """Until these know the same holders, and none has anything that its holder lacks."""

        def met():
            told = [peer.status() for peer in members if not self.over(peer)]
            return (all(told) and len({one["tenures_fingerprint"] for one in told}) <= 1
                    and not any(one["counts"]["partitions_to_return"] for one in told))  # fmt: skip

        ring.wait_until(f"{[p.name for p in members]} have returned what they have", met, seconds)

    def over(self, peer):
        """Whether it has ended because the crawl has."""
        return not peer.running() and (peer.ended() or {}).get("finished", False)

    # --- the time line

    def say(self, text):
        self.row.notes.append(text)

    def note(self, text):
        self.row.timeline.append((time.time(), text))

    def event(self, text):
        """Something is done to the ring now."""
        self.note(text)
        self.events.append(time.time())
        return self.events[-1]

    def wait_progress(self, share):
        """Until the web has seen that share of the requests that it will see in all."""
        goal = int(share * len(self.site.expected))
        longest = 60 + self.longest() * share * 2

        def met():
            return self.web.count() >= goal or not any(peer.running() for peer in self.peers)

        ring.wait_until(f"{goal} requests", met, longest, every=0.05)
        if self.web.count() < goal:
            raise AssertionError(f"all peers ended after {self.web.count()} requests, before {goal}")

    def longest(self):
        """Seconds that the crawl cannot be shorter than: the host with the most URLs at its delay."""
        count = {}
        for url in self.site.expected:
            host = url.split("/")[2]
            count[host] = count.get(host, 1) + 1
        return max(n * (self.promise.delay_of(h) + self.site.seconds_of_an_answer(h)) for h, n in count.items())

    def requests_of(self, peer):
        return sum(request.source == peer.web_address for request in self.web.requests())

    def busiest(self):
        """The living peer that has fetched the most so far."""
        return max(self.living(), key=self.requests_of)

    def wait_noticed(self, peer, since, states=("down", "left"), seconds=NOTICE_MAX):
        """Until all others see the peer so: how long it took the first and the last of them."""
        others = [p for p in self.living() if p is not peer]

        def sees(other):
            seen = self.monitor.states(other, since)
            return seen is not None and seen.get(peer.address) in (*states, None)  # None: it is forgotten

        def met():
            return all(sees(other) or self.over(other) for other in others)

        ring.wait_until(f"{[p.name for p in others]} see {peer.name} as {' or '.join(states)}", met, seconds)
        times = self.monitor.noticed(peer.address, since, states=states)
        if times:
            self.note(f"{peer.name} is seen as {' or '.join(states)} by all")
            self.row.noticed = (times[0] - since, times[-1] - since)

    def may_be_fetched_again(self, peer, begin, end=None):
        """What the peer had under way from shortly before `begin` on may be fetched again."""
        end = begin if end is None else end
        self.promise.causes.append(judge.Cause(peer.web_address, begin - BEFORE_FAULT, end + 0.5))

    def wait_exit(self, peer, seconds):
        code = peer.process.wait(seconds)
        self.note(f"{peer.name} ended with {code}")
        return code

    # --- the end

    def finish(self, more=0.0):
        """Waits for all peers that are to end with the crawl. Whatever is wrong becomes a problem."""
        limit = time.monotonic() + self.longest() + 45 + more
        waiting = self.living()
        for peer in waiting:
            try:
                code = self.wait_exit(peer, max(1.0, limit - time.monotonic()))
            except AssertionError:
                states = {p.name: (self.monitor.last.get(p.number) or {}).get("counts", {}) for p in waiting}
                left = {name: {k: c.get(k) for k in ("queued", "in_flight", "outbox")} for name, c in states.items()}
                self.problem(f"{peer.name} did not end with the crawl; left to do at last: {left}")
                break
            if code != 0:
                self.problem(f"{peer.name} ended with code {code}: {peer.process.err[-300:].strip()}")
        self._check_totals(waiting)

    def problem(self, text):
        self.row.problems.append(text)

    def _check_totals(self, waiting):
        ended = {peer.name: peer.ended() for peer in waiting}
        self.totals = None
        for name, told in ended.items():
            if not told or not told.get("finished"):
                self.problem(f"{name} does not know that the crawl has ended")
        all_totals = {name: told.get("totals", {}) for name, told in ended.items() if told and told.get("finished")}
        if not all_totals:
            return
        self.totals = next(iter(all_totals.values()))
        if any(totals != self.totals for totals in all_totals.values()):
            self.problem(f"the peers ended with different totals: {all_totals}")
        for name in ("queued", "outbox"):
            if self.totals.get(name, 0) != 0:
                self.problem(f"the crawl ended with {name} {self.totals[name]}")

    def conclude(self, reference):
        """The verdict, from the servers' logs. reference: the calm run's; None: this is the calm run."""
        row = self.row
        row.seconds = time.time() - self.begun
        for peer in self.peers:
            if peer.process:
                peer.process.kill()
        requests = self.web.requests() if self.web else []
        if self.recorded and self.web:
            self._outside_judge()
        row.verdict = judge.judge(requests, reference.urls if reference else self.site.expected, self.promise)
        row.problems += row.verdict.problems
        if reference and getattr(self, "totals", None):
            for name in TOTALS_LIKE_CALM:
                if self.totals.get(name) != reference.totals.get(name):
                    self.problem(
                        f"in the ring-wide totals {name} is {self.totals.get(name)}, and in the calm run's "
                        f"{reference.totals.get(name)}"
                    )
        if self.events and requests:
            first, last = self.events[0], self.events[-1]
            after = sum(r.at > last for r in requests)
            if after < len(self.site.expected) * 0.03:
                self.problem(f"only {after} requests came after the last fault: it was not in mid-crawl")
            row.speed = (
                judge.pages_per_second(requests, first - 5, first),
                judge.pages_per_second(requests, first, last + SUSPICION),
                judge.pages_per_second(requests, last + SUSPICION, min(last + SUSPICION + 5, requests[-1].at)),
            )
        if row.problems:
            row.evidence = [line for peer in self.peers for line in peer.evidence()]

    def _outside_judge(self):
        """Leaves the history in the directory, and has it judged by a program that knows nothing of this one."""
        told = {peer.name: peer.ended() for peer in self.peers if not peer.gone}
        facts = {
            "delay": self.promise.delay,
            "host_delays": self.promise.host_delays,
            "links": {**self.site.links, **{moved: [target] for moved, target in self.site.redirects.items()}},
            "peers": {peer.name: {"ring": peer.ring_address, "web": peer.web_address} for peer in self.peers},
            "deeds": self.deeds + [self._deed_of(cut) for cut in self.promise.cuts],
            "totals": {name: end["totals"] for name, end in told.items() if end and end.get("finished")},
            "dropped": self.recorder.end(),
            "port": netns.RING_PORT,
        }
        (self.dir / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
        judged = subprocess.run(
            [sys.executable, "-B", OUTSIDE_JUDGE, self.dir], capture_output=True, text=True, timeout=300, check=False
        )
        lines = judged.stdout.splitlines()
        self.row.problems += ["the outside judge: " + line[6:] for line in lines if line.startswith("WRONG ")]
        if judged.returncode not in (0, 1) or not lines or (judged.returncode == 1) != lines[0].startswith("WRONG "):
            self.problem(f"the outside judge failed: {judged.stdout[-500:]} {judged.stderr[-1500:]}")
        elif judged.returncode == 0:
            self.say("the outside judge read " + lines[-1])

    def _deed_of(self, cut):
        names = {peer.web_address: peer.name for peer in self.peers}
        sides = [[names[a] for a, side in cut.sides.items() if side == i] for i in sorted(set(cut.sides.values()))]
        return {"at": cut.begin, "what": "cut", "end": cut.end, "sides": sides}

    def take_over(self, peer, since, until):
        """Notes how long the peer's hosts waited for another."""
        self.row.taken_over += judge.taken_over(self.web.requests(), peer.web_address, since, until)

    def tidy(self):
        """Ends every process and removes every namespace."""
        if self.monitor:
            self.monitor.stop()
        for peer in self.peers:
            if peer.process:
                with contextlib.suppress(AssertionError):
                    peer.process.kill()
        if self.web:
            self.web.stop()
        if self.recorder:
            self.recorder.kill()
        self.net.remove()
        for disk in disks.below(self.dir):
            disks.remove(disk)
        with _stages_lock:
            _stages.discard(self)

    def erase(self):
        shutil.rmtree(self.dir, ignore_errors=True)
