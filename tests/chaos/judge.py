"""Whether a crawl kept its promises, from the web servers' logs alone: pure functions of requests and of what was
promised.

- Missing: URLs of the calm run that nobody asked for. Strays: URLs that only this run asked for.
- Twice: every request of a page after its first. It is excused within a cut when no peer of the same side had asked for
  the page before. Else it needs a cause: a peer that was killed (or put to sleep) and had asked for it just then; so
  many are allowed as that peer could have under way.
- Gaps: between a request and the one before it to the same host, robots.txt included. Within a cut each side keeps its
  own.
- robots.txt: how often one host's was asked for.
"""

import collections
import dataclasses

LOG_ROUNDING = 0.005  # seconds: times in the log are whole milliseconds, and those of the server's last turn
SHOWN = 5  # examples of what is wrong


@dataclasses.dataclass(frozen=True)
class Cut:
    """From begin to end (seconds since 1970) the sources of different sides could not know of each other's requests."""

    begin: float
    end: float
    sides: dict  # source address -> side

    def side(self, source):
        return self.sides.get(source, source)

    def holds(self, at):
        return self.begin <= at <= self.end


@dataclasses.dataclass(frozen=True)
class Cause:
    """What `source` asked for from begin to end may have been under way when it was killed, stopped or woken."""

    source: str
    begin: float
    end: float


@dataclasses.dataclass
class Promise:
    """What a scenario has to keep."""

    delay: float  # seconds between two requests to one host
    host_delays: dict = dataclasses.field(default_factory=dict)  # host -> seconds, of those that ask for more
    max_twice: int = 0  # requests of pages that were asked for before and have a cause
    causes: list = dataclasses.field(default_factory=list)
    cuts: list = dataclasses.field(default_factory=list)
    max_robots: int = 1  # requests of one host's robots.txt

    def delay_of(self, host):
        return max(self.delay, self.host_delays.get(host, 0.0))


@dataclasses.dataclass
class Gap:
    host: str
    seconds: float
    least: float
    before: object
    after: object

    def __str__(self):
        return (
            f"{self.host}: {self.seconds * 1000:.0f} ms of {self.least * 1000:.0f}, {self.before.path} by "
            f"{self.before.source} then {self.after.path} by {self.after.source} at {self.after.at:.3f}"
        )


@dataclasses.dataclass
class Verdict:
    pages: int = 0  # different URLs that were asked for, robots.txt aside
    missing: list = dataclasses.field(default_factory=list)
    strays: list = dataclasses.field(default_factory=list)
    twice: list = dataclasses.field(default_factory=list)  # with a cause
    without_cause: list = dataclasses.field(default_factory=list)  # twice, and no cause
    by_both_sides: int = 0  # excused
    smallest: object = None  # the Gap that is nearest to (or farthest under) its delay
    under_delay: list = dataclasses.field(default_factory=list)
    robots: tuple = (0, "")  # the most requests of a robots.txt, and of which host
    problems: list = dataclasses.field(default_factory=list)


def some(things):
    things = [str(thing) for thing in things]
    return ", ".join(things[:SHOWN]) + (f" and {len(things) - SHOWN} more" if len(things) > SHOWN else "")


def judge(requests, reference, promise):
    """requests: in the order of their times. reference: the URLs of the calm run (None: there is none yet)."""
    verdict = Verdict()
    pages = collections.defaultdict(list)
    robots = collections.Counter()
    for request in requests:
        if request.is_robots:
            robots[request.host] += 1
        else:
            pages[request.url].append(request)
    verdict.pages = len(pages)
    if reference is not None:
        verdict.missing = sorted(reference - pages.keys())
        verdict.strays = sorted(pages.keys() - reference)
    for url in sorted(pages):
        _judge_repeats(url, pages[url], promise, verdict)
    _judge_gaps(requests, promise, verdict)
    if robots:
        host, count = robots.most_common(1)[0]
        verdict.robots = (count, host)
    _conclude(verdict, promise)
    return verdict


def _judge_repeats(url, asked, promise, verdict):
    for i, request in enumerate(asked):
        if i == 0:
            continue
        if any(_other_side_only(cut, request, asked[:i]) for cut in promise.cuts):
            verdict.by_both_sides += 1
        elif any(c.source == other.source and c.begin <= other.at <= c.end for c in promise.causes for other in asked):
            verdict.twice.append(url)
        else:
            verdict.without_cause.append(f"{url} (by {' then '.join(f'{r.source} at {r.at:.3f}' for r in asked)})")


def _other_side_only(cut, request, before):
    """Whether the request came in the cut, and none before it was of its own side."""
    return cut.holds(request.at) and all(cut.side(r.source) != cut.side(request.source) for r in before)


def _judge_gaps(requests, promise, verdict):
    by_host = collections.defaultdict(list)
    for request in requests:
        by_host[request.host].append(request)
    for host, asked in by_host.items():
        least = promise.delay_of(host)
        for i, request in enumerate(asked):
            before = _before(request, asked[:i], promise.cuts)
            if before is None:
                continue
            # What robots.txt asks for is known only after it was read.
            due = promise.delay if before.is_robots else least
            gap = Gap(host, request.at - before.at, due, before, request)
            if verdict.smallest is None or gap.seconds - due < verdict.smallest.seconds - verdict.smallest.least:
                verdict.smallest = gap
            if gap.seconds < due - LOG_ROUNDING:
                verdict.under_delay.append(gap)


def _before(request, earlier, cuts):
    """The last request to the host that this one had to keep away from."""
    cut = next((cut for cut in cuts if cut.holds(request.at)), None)
    for other in reversed(earlier):
        if cut is None or cut.side(other.source) == cut.side(request.source):
            return other
    return None


def _conclude(verdict, promise):
    problems = verdict.problems
    if verdict.missing:
        problems.append(f"{len(verdict.missing)} URLs were never asked for: {some(verdict.missing)}")
    if verdict.strays:
        problems.append(f"{len(verdict.strays)} URLs that the calm run did not ask for: {some(verdict.strays)}")
    if verdict.without_cause:
        problems.append(f"{len(verdict.without_cause)} requests of pages that the ring had asked for: "
                        f"{some(verdict.without_cause)}")  # fmt: skip
    if len(verdict.twice) > promise.max_twice:
        problems.append(f"{len(verdict.twice)} requests of pages that were under way at the fault, and at most "
                        f"{promise.max_twice} could be: {some(verdict.twice)}")  # fmt: skip
    if verdict.under_delay:
        problems.append(f"{len(verdict.under_delay)} gaps under the delay: {some(verdict.under_delay)}")
    if verdict.robots[0] > promise.max_robots:
        problems.append(f"{verdict.robots[1]}'s robots.txt was asked for {verdict.robots[0]} times, and may be "
                        f"{promise.max_robots} times")  # fmt: skip


def pace(requests, begin, end, promise):
    """The share of requests between two times that came before their host's delay, and a quarter of it, was over."""
    last, in_time, late = {}, 0, 0
    for request in requests:
        if request.host in last and begin <= request.at < end:
            if request.at - last[request.host] <= promise.delay_of(request.host) * 1.25:
                in_time += 1
            else:
                late += 1
        last[request.host] = request.at
    return in_time / max(1, in_time + late)


def pages_per_second(requests, begin, end):
    """Between two times; None when there is no time between them."""
    if end <= begin:
        return None
    return sum(begin <= r.at < end and not r.is_robots for r in requests) / (end - begin)


def taken_over(requests, source, begin, end):
    """For each host that `source` was crawling at `begin`: seconds until another asked it, if one did before `end`."""
    last, first = {}, {}
    for request in requests:
        if request.at <= begin:
            last[request.host] = request.source
        elif request.at <= end and request.source != source:
            first.setdefault(request.host, request.at - begin)
    return sorted(first[host] for host, who in last.items() if who == source and host in first)
