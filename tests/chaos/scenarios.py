"""The scenarios: each a function that is given a Stage and does something to a crawl on it.

What a scenario promises beyond "nothing missing, nothing else, nothing twice, no gap under the delay, robots.txt once a
host, all peers end with 0 and with equal totals" it says to stage.promise. See docs/inside/chaos.md.
"""

import shutil
import signal
import time

import judge
import ring
import stage as stages
from scene import NOT_COPIED_MAX, SETTLE, cut, hold, scenario

DISK_NOTICED_MAX = 10.0  # seconds in which a peer must notice that its directory is gone
FETCHES_MAX = stages.FETCHES_MAX
# --- peers come and go as they should


@scenario(0.35)
def calm(stage, short):
    """No fault: four peers crawl the web. Its URLs and totals are what all others are held against."""
    del short
    stage.start(4)
    stage.finish()


@scenario(0.45)
def join(stage, short):
    """A fourth peer joins in mid-crawl and gets about its share of the partitions."""
    del short
    stage.start(3)
    stage.wait_progress(0.25)
    since = stage.event("a fourth peer joins")
    joiner = stage.add()
    stage.launch(joiner)
    joiner.up()
    stage.wait_whole(stage.peers, SETTLE)
    stage.say(f"all see the joiner as active after {time.time() - since:.1f} s")
    fair = stages.PARTITIONS / 4
    owned = ring.wait_until("the joiner owns partitions", lambda: (joiner.status() or {}).get("partitions"))
    if not fair * 0.6 < owned < fair * 1.6:
        stage.problem(f"the joiner owns {owned} partitions, and {fair:.0f} would be fair")
    stage.finish()
    fetched = [r.at for r in stage.web.requests() if r.source == joiner.web_address and not r.is_robots]
    first = f", the first after {fetched[0] - since:.1f} s" if fetched else ""
    stage.say(f"it owns {owned} of {stages.PARTITIONS} partitions and fetched {len(fetched)} pages{first}")


@scenario(0.45, recorded=True)
def leave(stage, short):
    """The busiest of four peers is told to leave: it hands everything over and ends with 0."""
    del short
    stage.start(4)
    stage.wait_progress(0.3)
    _leave_by_command(stage, stage.busiest())
    stage.finish()


@scenario(0.45)
def sigterm(stage, short):
    """The busiest of four peers gets SIGTERM: that is a leave."""
    del short
    stage.start(4)
    stage.wait_progress(0.3)
    peer = stage.busiest()
    since = stage.event(f"{peer.name} gets SIGTERM")
    peer.leave()
    _has_left(stage, peer, since)
    stage.finish()


def _leave_by_command(stage, peer):
    since = stage.event(f"{peer.name} is told to leave")
    code, said = peer.command("leave", "--peer", peer.address, *stage.key)
    if code != 0:
        raise AssertionError(f"orbweaver leave exited {code}: {said}")
    _has_left(stage, peer, since)


def _has_left(stage, peer, since):
    code = stage.wait_exit(peer, 40)
    if code != 0:
        stage.problem(f"{peer.name} was to leave and ended with {code}: {peer.process.err[-300:].strip()}")
    stage.say(f"{peer.name} left within {time.time() - since:.1f} s")
    peer.left = True
    peer.deed("left")
    stage.wait_noticed(peer, since, ("left",), 5.0)
    stage.take_over(peer, since, time.time() + 60)


@scenario(0.75, recorded=True)
def ten_changes(stage, short):
    """Five joins and five leaves, turn by turn, each begun when the one before is done."""
    del short
    stage.start(3)
    stage.wait_progress(0.08)
    for change in range(10):
        if change % 2 == 0:
            stage.event("a peer joins")
            stage.launch(stage.add()).up()
        else:
            _leave_by_command(stage, stage.random.choice(stage.living()))
        stage.wait_whole(stage.living(), SETTLE)
    stage.finish()


@scenario(0.6, recorded=True)
def rolling_restart(stage, short):
    """Each of four peers in turn is stopped by SIGINT, keeps its partitions, and is started again at once."""
    del short
    stage.start(4)
    stage.wait_progress(0.15)
    for peer in list(stage.peers):
        stage.event(f"{peer.name} gets SIGINT")
        peer.stop()
        code = stage.wait_exit(peer, 30)
        if code != 0:
            stage.problem(f"{peer.name} was stopped and ended with {code}")
        stage.launch(peer)
        peer.up()
        stage.wait_whole(stage.peers, SETTLE)
    stage.finish()


# --- peers die


@scenario(0.6, recorded=True)
def kill_each(stage, short):
    """kill -9 of each of four peers in turn; each is started again once the others have noticed."""
    del short
    stage.promise.max_twice = 4 * FETCHES_MAX
    stage.promise.max_robots = 1 + 2 * 4  # each death and each return gives a host another owner
    stage.start(4)
    stage.wait_progress(0.1)
    for peer in list(stage.peers):
        since = stage.event(f"{peer.name} is killed")
        peer.kill9()
        stage.may_be_fetched_again(peer, since)
        stage.wait_noticed(peer, since)
        back = stage.event(f"{peer.name} is started again")
        stage.launch(peer)
        peer.up()
        stage.wait_whole(stage.peers, SETTLE)
        stage.take_over(peer, since, back)
    stage.finish()


@scenario(0.45, needs=("replicas", "presume_dead_after"), settings={"presume_dead_after": "10s"}, recorded=True)
def kill_for_good(stage, short):
    """kill -9 of the busiest of four peers, and its directory is deleted: the others lose nothing and end without
    it."""
    del short
    stage.promise.max_twice = FETCHES_MAX + NOT_COPIED_MAX
    stage.promise.max_robots = 2
    stage.start(4)
    stage.wait_progress(0.3)
    peer = stage.busiest()
    since = stage.event(f"{peer.name} is killed, and its directory deleted")
    peer.kill9()
    peer.lose_disk()
    peer.gone = True
    stage.may_be_fetched_again(peer, since)
    stage.wait_noticed(peer, since)
    stage.finish(more=15)
    stage.take_over(peer, since, time.time())


@scenario(0.6, needs=("replicas", "presume_dead_after"), settings={"presume_dead_after": "10s"})
def disk_removed(stage, short):
    """The directory of the busiest of four peers is taken away while it runs: within 10 s it ends with an error; the
    others lose nothing and end without it."""
    del short
    stage.promise.max_twice = FETCHES_MAX + NOT_COPIED_MAX
    stage.promise.max_robots = 2
    stage.start(4)
    stage.wait_progress(0.3)
    peer = stage.busiest()
    since = stage.event(f"the directory of {peer.name} is taken away")
    taken = peer.data.rename(peer.place / "taken")
    shutil.rmtree(taken)
    peer.gone = True
    code = stage.wait_exit(peer, DISK_NOTICED_MAX)
    ended = stage.event(f"{peer.name} has ended")
    stage.say(f"{peer.name} noticed after {ended - since:.1f} s: {peer.process.err.strip()[-120:]}")
    if code <= 0 or not peer.process.err.strip():
        stage.problem(f"{peer.name} lost its directory and ended with {code}, saying {peer.process.err[-300:]!r}")
    stage.may_be_fetched_again(peer, ended)
    stage.wait_noticed(peer, ended)
    stage.finish(more=15)
    stage.take_over(peer, since, time.time())


@scenario(0.45, recorded=True)
def all_killed(stage, short):
    """kill -9 of all four peers at once; all are started again."""
    del short
    stage.promise.max_twice = 4 * FETCHES_MAX
    stage.promise.max_robots = 2
    stage.start(4)
    stage.wait_progress(0.35)
    since = stage.event("all peers are killed")
    for peer in stage.peers:
        peer.strike()
    for peer in stage.peers:
        stage.wait_exit(peer, 10)
        stage.may_be_fetched_again(peer, since)
    for peer in stage.peers:
        stage.launch(peer)
    for peer in stage.peers:
        peer.up()
    stage.wait_whole(stage.peers, SETTLE)
    stage.say(f"the ring is whole again after {time.time() - since:.1f} s")
    stage.finish()


@scenario(0.6, 1.9, recorded=True)
def sigstop(stage, short):
    """The busiest of four peers sleeps (SIGSTOP) for 60 s (short: 12 s) and wakes."""
    stage.promise.max_twice = FETCHES_MAX + NOT_COPIED_MAX
    stage.promise.max_robots = 3
    stage.start(4)
    stage.wait_progress(0.2)
    peer = stage.busiest()
    since = stage.event(f"{peer.name} is stopped")
    peer.pause()
    stage.may_be_fetched_again(peer, since)
    stage.wait_noticed(peer, since)
    hold(since, 12 if short else 60)
    woken = stage.event(f"{peer.name} goes on")
    peer.go_on()
    stage.promise.causes.append(judge.Cause(peer.web_address, woken - 0.1, woken + 1.0))
    stage.take_over(peer, since, woken)
    stage.wait_whole(stage.peers, SETTLE)
    stage.finish()


# --- the network fails


def _halves(stage, sizes):
    members = list(stage.peers)
    stage.random.shuffle(members)
    return [members[: sizes[0]], members[sizes[0] :]]


def _cut_in_two(stage, sides, seconds):
    one, other = sides[0][0].number, sides[1][0].number

    def begin():
        stage.net.cut([[p.number for p in side] for side in sides])
        stage.net.expect(one, other, False)
        stage.net.expect(other, one, False)
        for side in sides:
            stage.net.expect(side[0].number, side[1].number, True)

    def heal():
        stage.net.heal()
        stage.net.expect(one, other, True)

    return cut(stage, begin, heal, sides, seconds)


@scenario(0.6, 1.9, settings={"on_cut": "continue"}, recorded=True)
def cut_halves(stage, short):
    """The ring is cut, two peers from two, for 60 s (short: 10 s); both sides go on."""
    stage.promise.max_robots = 3
    stage.start(4)
    stage.wait_progress(0.2)
    sides = _halves(stage, (2, 2))
    since, healed = _cut_in_two(stage, sides, 10 if short else 60)
    for side in sides:
        addresses = {p.web_address for p in side}
        if not any(since + 5 < r.at < healed and r.source in addresses for r in stage.web.requests()):
            stage.problem(f"{[p.name for p in side]} did not go on during the cut")
    stage.finish()


@scenario(0.6, 1.9, needs=("on_cut",), settings={"on_cut": "pause-minority"})
def cut_pause(stage, short):
    """As cut_halves, two peers from three, with on_cut = pause-minority: the two ask no host of the others'."""
    stage.promise.max_robots = 3
    stage.start(5)
    stage.wait_progress(0.2)
    sides = _halves(stage, (2, 3))
    before = stage.web.requests()
    since, healed = _cut_in_two(stage, sides, 10 if short else 60)
    last = {r.host: r.source for r in before if r.at < since}
    few, many = ({p.web_address for p in side} for side in sides)
    during = [r for r in stage.web.requests() if since < r.at < healed]
    strange = [r.url for r in during if r.source in few and last.get(r.host) in many]
    if strange:
        stage.problem(f"the minority asked for {len(strange)} URLs of the majority's hosts: {judge.some(strange)}")
    if not any(r.at > since + 5 and r.source in many for r in during):
        stage.problem("the majority did not go on during the cut")
    stage.finish()


@scenario(0.6, 1.9)
def cut_one_way(stage, short):
    """What the busiest of four peers sends to one other is lost for 60 s (short: 10 s); all else arrives."""
    stage.promise.max_robots = 3
    stage.start(4)
    stage.wait_progress(0.2)
    sender = stage.busiest()
    others = [p for p in stage.peers if p is not sender]
    receiver = stage.random.choice(others)

    def begin():
        stage.net.cut_one_way(sender.number, receiver.number)
        stage.net.expect(sender.number, receiver.number, False)
        stage.net.expect(receiver.number, sender.number, True)

    def heal():
        stage.net.heal()
        stage.net.expect(sender.number, receiver.number, True)

    cut(stage, begin, heal, [[sender], others], 10 if short else 60)
    stage.finish()


@scenario(0.45, slow=(0.2, 0.2), settings={"network": "wan", "suspicion_time": "30s"})
def loss(stage, short):
    """The whole crawl on links between the peers that lose 20 % of all packets and delay the others by 200 ms."""
    del short
    stage.start(4)
    stage.finish(more=120)
    down = sum(state == "down" for _, _, _, state in stage.monitor.changes)
    if down:
        stage.say(f"{down} times a peer took another for dead")
