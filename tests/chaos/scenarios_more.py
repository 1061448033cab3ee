"""More scenarios: a second fault on top of a first, and faults of one part only."""

import pathlib
import re
import shutil
import subprocess
import time

import disks
import judge
import ring
import stage as stages
import tap
from scene import NOT_COPIED_MAX, SETTLE, cut, hold, scenario

HERE = pathlib.Path(__file__).resolve().parent
FETCHES_MAX = stages.FETCHES_MAX
BACK = 600  # seconds by which a clock is set back
# Segments that a peer which has started again sends before it is killed: from its greetings to the end of its refill.
SEGMENTS = (20, 100)
MUTE = 1.2  # seconds; well under the suspicion time
HANDING_OVER = 30  # segments that a peer sends before it is in the middle of its hand-over
SMALL_DISK = 12  # MiB; so little that a store takes no room in advance
SLOW_PACE = 0.8  # of the pace before
REQUESTS_MIN = 40  # before, and after: to compare
SLOW_CPU = 2.0  # times the CPU time of a page before


# --- a peer that starts again


@scenario(0.45, 1.9, needs=("replicas", "presume_dead_after"), settings={"presume_dead_after": "10s"}, recorded=True)
def restart_then_loss(stage, short):
    """kill -9 of one of five peers while its copies lag, a start at once, and, while its copies are being filled again,
    kill -9 and the loss of its disk; long: the same with a second and a third peer."""
    stage.promise.max_robots = 1 + 3 * 2
    stage.start(5)
    for turn in range(1 if short else 3):
        stage.wait_progress(0.15 + 0.15 * turn)
        _settled(stage)
        _restart_and_lose(stage, stage.busiest())
    stage.finish(more=15)


def _settled(stage):
    """Until every record has its second copy: one loss at a time is promised."""
    names = ("copies_to_backfill", "copies_waiting", "partitions_to_return", "partitions_orphaned")

    def met():
        told = [(peer.status() or {}).get("counts") for peer in stage.living() if peer.running()]
        return all(counts and not any(counts[name] for name in names) for counts in told)

    ring.wait_until("all copies are filled", met, SETTLE, every=0.1)


def _restart_and_lose(stage, peer):
    begin = stage.event(f"what {peer.name} sends is lost, so its copies lag")
    stage.net.mute(peer.number)
    hold(begin, MUTE)
    stage.event(f"{peer.name} is killed")
    peer.kill9()
    stage.net.heal()
    ear = tap.Ear(stage.net, peer.number)
    segments = stage.random.randrange(*SEGMENTS)
    stage.event(f"{peer.name} is started again")
    stage.launch(peer)
    heard = ear.wait(segments, 20)
    ear.close()
    struck = stage.event(f"{peer.name} is killed after {heard} segments, and its disk is lost")
    peer.kill9()
    peer.lose_disk()
    peer.gone = True
    if heard < segments:
        stage.problem(f"{peer.name} sent {heard} segments only, and {segments} were waited for")
    stage.may_be_fetched_again(peer, begin, struck)
    # What it asked for and could tell nobody about may be asked for again.
    stage.promise.max_twice += sum(
        r.source == peer.web_address and r.at > begin - stages.BEFORE_FAULT for r in stage.web.requests()
    )
    stage.wait_noticed(peer, struck)
    stage.wait_whole(stage.living(), SETTLE)


@scenario(0.45, recorded=True)
def clock_back(stage, short):
    """Under max_pages the peer with the lowest id, which shares the pages out, is killed and starts again at once with
    a clock that is 600 s behind: the crawl goes on, and ends when it should."""
    del short
    stage.promise.max_twice = FETCHES_MAX
    stage.promise.max_robots = 2
    # More than there are, but so few more that every peer has to be given some again and again.
    stage.settings["max_pages"] = len(stage.site.expected) + 30
    preload = _clock_library(stage)
    stage.start(3)
    stage.wait_progress(0.25)
    peer = min(stage.peers, key=lambda one: one.status(5.0)["id"])
    since = stage.event(f"{peer.name} is killed")
    peer.kill9()
    stage.may_be_fetched_again(peer, since)
    stage.launch(peer, {"LD_PRELOAD": preload, "CHAOS_CLOCK_BACK": str(BACK)})
    back = stage.event(f"{peer.name} is started again, {BACK} s earlier by its clock")
    peer.up()
    _check_clock(stage, peer)
    stage.wait_whole(stage.peers, SETTLE)
    asked = len(stage.web.requests())
    ring.wait_until("the crawl goes on", lambda: stage.web.count() > asked + 60 or stage.over(peer), 60)
    stage.say(f"60 requests came within {time.time() - back:.1f} s of the start")
    stage.finish()


def _clock_library(stage):
    library = stage.dir / "clock_back.so"
    if not shutil.which("cc"):
        raise AssertionError("cc is not there to compile clock_back.c")
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "clock_back.c"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"cc cannot compile clock_back.c: {done.stderr}")
    return library


def _check_clock(stage, peer):
    """By the time of its last line in the log the peer must believe in the earlier clock."""
    log = (peer.data / "log" / "peer.log").read_text(encoding="utf-8").splitlines()
    behind = time.time() - _seconds(log[-1].split()[0])
    if not BACK - 5 < behind < BACK + 60:
        stage.problem(f"the clock of {peer.name} is {behind:.0f} s behind, and should be {BACK}")


def _seconds(text):
    """Of "2026-11-22T21:46:48.948115Z"."""
    found = re.fullmatch(r"(\d+-\d+-\d+T\d+:\d+:\d+)(\.\d+)?Z", text)
    if not found:
        raise AssertionError(f"a log's line begins with {text!r}")
    return time.mktime(time.strptime(found.group(1), "%Y-%m-%dT%H:%M:%S")) - time.timezone + float(found.group(2) or 0)


# --- a disk that is full


@scenario(0.45, settings={"archive": "off", "min_free_disk": "1B"}, recorded=True)
def full_disk(stage, short):
    """The busiest of four peers leaves, and while it hands over, the disk of another is full: that one ends with a
    clear message; once it has room it is started again, and nothing is lost."""
    del short
    stage.promise.max_twice = FETCHES_MAX + NOT_COPIED_MAX
    stage.promise.max_robots = 3
    stage.start(4, small_disks={2: SMALL_DISK})
    stage.wait_progress(0.25)
    small = stage.peers[1]
    leaver = max((p for p in stage.peers if p is not small), key=stage.requests_of)
    stage.event(f"{leaver.name} leaves")
    ear = tap.Ear(stage.net, leaver.number)
    leaver.leave()
    ear.wait(HANDING_OVER, 10)
    ear.close()
    since = stage.event(f"the disk of {small.name} is full")
    ballast = disks.fill(small.data)
    if not leaver.running():
        stage.problem(f"{leaver.name} had handed everything over before the disk was full")
    code = stage.wait_exit(small, 30)
    small.deed("full")
    ended = stage.event(f"{small.name} has ended")
    said = small.process.err.strip()
    clear = re.search("(?i)no space left|disk (is )?full", said) and str(small.data) in said
    if code != ring.DISK_FULL or not clear:
        stage.problem(f"{small.name} had no room and ended with {code}, saying {said[-400:]!r}")
    stage.may_be_fetched_again(small, since, ended)
    code = stage.wait_exit(leaver, 60)
    if code != 0:
        stage.problem(f"{leaver.name} was to leave and ended with {code}: {leaver.process.err[-300:].strip()}")
    leaver.left = True
    leaver.deed("left")
    stage.say(f"{leaver.name} left within {time.time() - since:.1f} s; {small.name} said: {said.splitlines()[-1]}")
    ballast.unlink()
    stage.event(f"{small.name} has room, and is started again")
    stage.launch(small)
    small.up()
    stage.wait_whole(stage.living(), SETTLE)
    stage.finish()


# --- links of one peer


@scenario(0.45, slow=(0.0, 1.0), slow_one=3, settings={"network": "wan", "suspicion_time": "30s"})
def slow_replica(stage, short):
    """What one of three peers sends takes a second: the other two keep their pace, and their CPU time for a page."""
    del short
    stage.start(3)
    slow, quick = stage.peers[2], stage.peers[:2]
    marks = []

    def mark(share):
        stage.wait_progress(share)
        marks.append((time.time(), sum(peer.cpu_seconds() for peer in quick)))

    mark(0.15)
    mark(0.4)
    stage.event(f"what {slow.name} sends takes a second")
    stage.net.make_one_slow()
    mark(0.4)
    mark(0.75)
    stage.net.expect_slow(slow.number, 1)
    stage.net.expect(1, slow.number, True)
    addresses = {peer.web_address for peer in quick}
    at_once = {host for host in stage.site.hosts if not stage.site.seconds_of_an_answer(host)}
    requests = [r for r in stage.web.requests() if r.source in addresses and r.host in at_once]
    count = [sum(marks[i][0] <= r.at < marks[i + 1][0] for r in requests) for i in (0, 2)]
    if min(count) < REQUESTS_MIN:
        stage.problem(f"the other two made {count[0]} and {count[1]} requests: too few to compare")
    pace = [judge.pace(requests, marks[i][0], marks[i + 1][0], stage.promise) for i in (0, 2)]
    cpu = [_cpu_per_page(requests, marks[i], marks[i + 1]) for i in (0, 2)]
    stage.say(f"the other two asked in time: {pace[0]:.0%} of the requests before, {pace[1]:.0%} after")
    stage.say(f"their CPU time for a page: {cpu[0] * 1000:.1f} ms before, {cpu[1] * 1000:.1f} ms after")
    if pace[1] < pace[0] * SLOW_PACE:
        stage.problem("the other two do not keep their pace beside a slow peer")
    if cpu[1] > cpu[0] * SLOW_CPU:
        stage.problem("the other two need much more CPU time for a page beside a slow peer")
    stage.finish(more=60)


def _cpu_per_page(requests, begin, end):
    return (end[1] - begin[1]) / max(1, sum(begin[0] <= r.at < end[0] for r in requests))


@scenario(0.6, 1.9, recorded=True)
def cut_mute(stage, short):
    """The busiest of four peers hears the others and none of them hears it, for 60 s (short: 10 s)."""
    stage.promise.max_robots = 3
    stage.start(4)
    stage.wait_progress(0.2)
    mute = stage.busiest()
    others = [p for p in stage.peers if p is not mute]

    def begin():
        stage.net.mute(mute.number)
        for other in others:
            stage.net.expect(mute.number, other.number, False)
            stage.net.expect(other.number, mute.number, True)

    def heal():
        stage.net.heal()
        stage.net.expect(mute.number, others[0].number, True)

    cut(stage, begin, heal, [[mute], others], 10 if short else 60)
    stage.finish()
