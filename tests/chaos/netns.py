"""Networks in network namespaces, made with iproute2 alone; nothing is added to the machine's own namespace.

A Net has one namespace with bridges (the switches), one for each peer and one for each web server. A peer has two
links: `ring` to the other peers and `web` to the servers, so that cutting or slowing the ring leaves the web alone.
The ring of an open Net has addresses of the loopback network, on which peers speak without a key: what they say can be
recorded (outside/recorder.py).

Names begin with "owch-PID-", PID being the process that made them: what a run left behind that was killed is removed
by the next (sweep()).

Who may be cut off from whom:
  cut(groups)        each group of peers gets a bridge of its own
  cut_one_way(a, b)  a's frames to b go to a hardware address that nobody has; b's to a arrive
  mute(a)            a's frames reach no other peer; theirs reach a
  slow ring          every frame is delayed, and some are lost: netem where the kernel has it, else wire.py over taps
"""

import contextlib
import ctypes
import itertools
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import disks
import ring

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = "owch"
ETC = pathlib.Path("/etc/netns")
RING_SUBNET = "10.88.0"
OPEN_RING_SUBNET = "127.88.0"  # a peer listens without a key only on addresses of the loopback network
RING_PORT = 7400
WEB_SUBNET = "10.99"
NOBODY = "02:00:00:00:00:fe"  # a hardware address that no interface has
KEPT = "kept"  # a file in a run's directory that is to stay
_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_numbers = itertools.count(1)
_over = threading.Event()


class NetError(Exception):
    """The network cannot be made, or is not as a scenario needs it."""


def run(*command, text=None):
    """Runs a command to its end: its output. Raises NetError with what it said."""
    try:
        done = subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NetError(f"{error.filename} is not there (deploy/install-packages --tests)") from error
    if done.returncode != 0:
        raise NetError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def require():
    """Raises NetError unless namespaces can be made here."""
    if os.geteuid() != 0:
        raise NetError("network namespaces need root: run it as root, or with sudo")
    for tool in ("ip", "tc", "nginx", "setpriv"):
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            raise NetError(f"{tool} is not there (deploy/install-packages --tests)")
    name = f"{PREFIX}-{os.getpid()}-try"
    run("ip", "netns", "add", name)
    try:
        run("ip", "-n", name, "link", "add", "name", "b0", "type", "bridge")
        run("ip", "-n", name, "link", "add", "name", "v0", "type", "veth", "peer", "name", "v1")
        with inside(name):
            pass
    finally:
        run("ip", "netns", "del", name)


def has_netem():
    """Whether the kernel can delay and lose packets by itself."""
    name = f"{PREFIX}-{os.getpid()}-netem{next(_numbers)}"
    run("ip", "netns", "add", name)
    try:
        run("tc", "-n", name, "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms")
        return True
    except NetError:
        return False
    finally:
        run("ip", "netns", "del", name)


def place():
    """A directory for this run, which a later run removes if this one cannot."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-"))
    directory.chmod(0o755)
    return directory


def sweep():
    """Removes what runs left behind that were killed: namespaces and directories of processes that are gone."""

    def left_behind(name):
        match = re.fullmatch(PREFIX + r"-(\d+)-[\w-]+", name)
        return match and not ring.alive(int(match.group(1)))

    for line in run("ip", "netns", "list").splitlines():
        if left_behind(line.split()[0]):
            with contextlib.suppress(NetError):  # another run may sweep, too
                run("ip", "netns", "del", line.split()[0])
    for mount in disks.below(pathlib.Path(tempfile.gettempdir())):
        if left_behind(mount.relative_to(tempfile.gettempdir()).parts[0]):
            disks.remove(mount)
    for directory in [*ETC.glob(f"{PREFIX}-*"), *pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}-*")]:
        if left_behind(directory.name) and not (directory / KEPT).exists():
            shutil.rmtree(directory, ignore_errors=True)
    with contextlib.suppress(OSError):
        ETC.rmdir()


def no_more():
    """From here on this process makes no namespace."""
    _over.set()


def remove_own():
    """Removes every namespace of this process, whoever made it."""
    for line in run("ip", "netns", "list").splitlines():
        if line.startswith(f"{PREFIX}-{os.getpid()}-"):
            with contextlib.suppress(NetError):
                run("ip", "netns", "del", line.split()[0])
    for directory in ETC.glob(f"{PREFIX}-{os.getpid()}-*"):
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def inside(space):
    """The calling thread is in that namespace meanwhile: sockets that it makes are of that namespace for good."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{space}", os.O_RDONLY)
    try:
        if _LIBC.setns(there, _CLONE_NEWNET) != 0:
            raise NetError(f"cannot enter {space}: {os.strerror(ctypes.get_errno())}")
        try:
            yield
        finally:
            if _LIBC.setns(home, _CLONE_NEWNET) != 0:
                os.abort()  # a thread in the wrong namespace would do harm anywhere
    finally:
        os.close(there)
        os.close(home)


def command_in(space, *command):
    """The words that run a command there; it is killed when the thread that started it ends."""
    return ["ip", "netns", "exec", space, "setpriv", "--pdeathsig", "KILL", *command]


class Net:
    """The namespaces of one crawl. slow: (share of frames lost, seconds of delay) of each peer's ring link; with
    slow_one only of what that peer sends, from make_one_slow() on. open_ring: what the peers say can be recorded."""

    def __init__(self, directory, slow=None, slow_one=None, open_ring=False):
        self.name = f"{PREFIX}-{os.getpid()}-{next(_numbers)}"
        self.directory = pathlib.Path(directory)
        self.slow = slow
        self.slow_one = slow_one
        self.open_ring = open_ring
        self.subnet = OPEN_RING_SUBNET if open_ring else RING_SUBNET
        self.slow_by = None  # "netem" or "wire"
        self.spaces = []
        self.wire = None
        self.bridges = ["ring0"]
        self.macs = {}  # of peers' ring links
        self.switch = self._space("sw")
        self._ip(self.switch, *self._bridge_lines("ring0"), *self._bridge_lines("web0"))

    def _space(self, label):
        if _over.is_set():
            raise NetError("this run is being ended")
        name = f"{self.name}-{label}"
        run("ip", "netns", "add", name)
        self.spaces.append(name)
        self._ip(name, "link set lo up")
        return name

    @staticmethod
    def _ip(space, *lines):
        run("ip", "-n", space, "-batch", "-", text="\n".join(lines) + "\n")

    @staticmethod
    def _bridge_lines(name):
        return (f"link add name {name} type bridge forward_delay 0 stp_state 0", f"link set {name} up")

    def add_web(self, number, addresses):
        """A namespace for a web server with these addresses (of WEB_SUBNET)."""
        space = self._space(f"web{number}")
        port = f"w{number}"
        self._ip(
            self.switch,
            f"link add name {port} type veth peer name web netns {space}",
            f"link set {port} master web0",
            f"link set {port} up",
        )
        self._ip(space, *(f"addr add {address}/16 dev web" for address in addresses), "link set web up")
        return space

    def make_slow(self, max_peers):
        """Before the first peer is added: how the ring is to be slow."""
        if has_netem():
            self.slow_by = "netem"
            return
        self.slow_by = "wire"
        loss, delay = self.slow
        taps = [f"t{i}" for i in range(1, max_peers + 1)]
        one = ["--one", f"t{self.slow_one}"] if self.slow_one else []
        wire = [sys.executable, "-B", HERE / "wire.py", "--loss", loss, "--delay", delay, *one, *taps]
        self.wire = ring.Process(command_in(self.switch, *wire), self.directory, "wire")
        ring.wait_until("wire.py is ready", lambda: "ready" in self.wire.out or not self.wire.running(), 10)
        if not self.wire.running():
            raise NetError("wire.py ended: " + self.wire.err)

    def add_peer(self, number, hosts):
        """A namespace for peer `number` (from 1): (name, ring address, web address). hosts: {name: address}."""
        space = self._space(f"p{number}")
        etc = ETC / space
        for _ in range(10):  # another run may remove /etc/netns when it is empty, just now
            with contextlib.suppress(FileNotFoundError):
                etc.mkdir(parents=True)
                break
        lines = ["127.0.0.1 localhost"] + [f"{address} {host}" for host, address in hosts.items()]
        (etc / "hosts").write_text("\n".join(lines) + "\n", encoding="utf-8")
        ring_address, web_address = f"{self.subnet}.{number}", f"{WEB_SUBNET}.0.{number}"
        self._ip(
            self.switch,
            f"link add name w-p{number} type veth peer name web netns {space}",
            f"link set w-p{number} master web0",
            f"link set w-p{number} up",
        )
        if self.slow_by == "wire":
            self._ip(self.switch, f"link set t{number} netns {space} name ring")
        else:
            self._ip(
                self.switch,
                f"link add name r-p{number} type veth peer name ring netns {space}",
                f"link set r-p{number} master ring0",
                f"link set r-p{number} up",
            )
        if self.open_ring:
            self._route_loopback(space)
        mac = f"02:00:00:00:01:{number:02x}"
        self._ip(
            space,
            f"link set ring address {mac}",
            f"addr add {ring_address}/24 dev ring",
            "link set ring up",
            f"addr add {web_address}/16 dev web",
            "link set web up",
        )
        if self.slow_by == "netem" and not self.slow_one:
            self._netem(space)
        self.macs[number] = mac
        return space, ring_address, web_address

    def _netem(self, space):
        loss, delay = self.slow
        lost = ["loss", f"{loss * 100:.0f}%"] if loss else []
        run("tc", "-n", space, "qdisc", "add", "dev", "ring", "root", "netem", "delay", f"{delay * 1000:.0f}ms", *lost)

    def make_one_slow(self):
        """What the peer `slow_one` sends is slow from here on."""
        if self.slow_by == "netem":
            self._netem(self.space_of(self.slow_one))
        else:
            self.wire.signal(signal.SIGUSR1)

    def _route_loopback(self, space):
        """Of the loopback network only 127.0.0.1 stays at home; the rest may come and go over the ring's link."""
        self._ip(space, "addr del 127.0.0.1/8 dev lo", "addr add 127.0.0.1/32 dev lo")
        with inside(space):
            for device in ("all", "ring"):
                path = pathlib.Path(f"/proc/sys/net/ipv4/conf/{device}/route_localnet")
                path.write_text("1", encoding="ascii")

    def space_of(self, number):
        return f"{self.name}-p{number}"

    def cut(self, groups):
        """Each group of peers (by number) hears only its own; their web links are left alone."""
        for i, group in enumerate(groups):
            bridge = f"ring{i}"
            if bridge not in self.bridges:
                self._ip(self.switch, *self._bridge_lines(bridge))
                self.bridges.append(bridge)
            self._ip(self.switch, *(f"link set r-p{number} master {bridge}" for number in group))

    def cut_one_way(self, sender, receiver):
        """What `sender` sends to `receiver` is lost; the other direction is whole."""
        self._ip(
            self.space_of(sender),
            f"neigh replace {self.subnet}.{receiver} lladdr {NOBODY} dev ring nud permanent",
        )

    def mute(self, sender):
        """What `sender` sends to any other peer is lost; what they send arrives."""
        for receiver in self.macs:
            if receiver != sender:
                self.cut_one_way(sender, receiver)

    def heal(self):
        """The ring is whole again."""
        for number in self.macs:
            run("ip", "-n", self.space_of(number), "neigh", "flush", "dev", "ring", "nud", "permanent")
            self._ip(self.switch, f"link set r-p{number} master ring0")

    def passed(self, sender, receiver, count=20, seconds=1.0):
        """Sends datagrams over the ring's link from one peer's namespace to another's: (how many of them arrived,
        median seconds that it took)."""
        with inside(self.space_of(receiver)):
            into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            into.bind((f"{self.subnet}.{receiver}", 0))
        with inside(self.space_of(sender)):
            out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        delays = []
        with into, out:

            def collect(until):
                while (left := until - time.monotonic()) > 0 and len(delays) < count:
                    if select.select([into], [], [], left)[0]:
                        delays.append(time.monotonic() - float(into.recv(100)))

            for _ in range(count):
                with contextlib.suppress(OSError):
                    out.sendto(repr(time.monotonic()).encode(), into.getsockname())
                collect(time.monotonic() + 0.002)
            collect(time.monotonic() + seconds)
        return len(delays), statistics.median(delays) if delays else None

    def expect(self, sender, receiver, arrives):
        """Raises NetError unless datagrams arrive, or do not, as they should."""
        got, _ = self.passed(sender, receiver, 5, 1.0 if arrives else 0.3)
        if (got > 0) != arrives:
            raise NetError(
                f"the ring's link from peer {sender} to {receiver} is {'cut' if arrives else 'whole'}, and should "
                f"{'not ' if arrives else ''}be cut"
            )

    def expect_slow(self, sender, receiver):
        """Measures loss and delay of one direction: (share lost, seconds). Raises NetError when they are far off."""
        loss, delay = self.slow
        ring.wait_until("the first datagram passes", lambda: self.passed(sender, receiver, 1, 1.0)[0], 20)
        count = 200
        got, took = self.passed(sender, receiver, count, delay + 1)
        lost = 1 - got / count
        if not loss / 2 <= lost <= loss * 1.7 or not delay * 0.9 < took < delay + 0.15:
            raise NetError(f"the ring's link loses {lost:.0%} and takes {took * 1000:.0f} ms ({self.slow_by})")
        return lost, took

    def remove(self):
        """After the processes have ended."""
        if self.wire:
            self.wire.kill()
        for space in reversed(self.spaces):
            with contextlib.suppress(NetError):
                run("ip", "netns", "del", space)
            shutil.rmtree(ETC / space, ignore_errors=True)
        self.spaces = []
        with contextlib.suppress(OSError):
            ETC.rmdir()  # when no other run has anything there
