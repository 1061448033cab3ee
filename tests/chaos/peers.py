"""Peers as processes in their namespaces, and a monitor that asks all of them again and again what they see."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

import netns
import ring

STATUS_PORT = 8400
POLL_EVERY = 0.25  # seconds


class Build:
    """What a binary can do: its settings, as it tells them."""

    def __init__(self, path):
        self.path = path
        told = netns.run(path, "settings")
        self.scope = dict(re.findall(r"^([a-z_0-9]+) +(ring-wide|own) ", told, re.MULTILINE))
        if "delay" not in self.scope:
            raise netns.NetError(f"{path} settings does not list the settings: {told[:200]!r}")

    def lacks(self, names):
        return [name for name in names if name not in self.scope]

    def flags(self, settings, first):
        """Those of the settings that the build knows; ring-wide ones only for the ring's first peer."""
        words = []
        for name, value in settings.items():
            if name in self.scope and (first or self.scope[name] == "own"):
                words += ["--" + name.replace("_", "-"), value]
        return words


class Peer:
    """One peer: a namespace, a data directory, and one process after another."""

    def __init__(self, build, net, number, directory, hosts, deeds):
        self.build = build
        self.deeds = deeds  # of all peers: what is done to them, for the outside judge
        self.number = number
        self.name = f"peer-{number}"
        self.place = pathlib.Path(directory) / self.name
        self.place.mkdir()
        self.data = self.place / "data"
        self.space, self.ring_address, self.web_address = net.add_peer(number, hosts)
        self.address = f"{self.ring_address}:{netns.RING_PORT}"
        self.join = None  # the member that it joins through
        self.process = None
        self.starts = 0
        self.started = 0.0  # the last process
        self.asleep = False
        self.gone = False  # for good: nothing is expected of it
        self.left = False  # it handed over and ended

    def deed(self, what):
        self.deeds.append({"at": time.time(), "what": what, "peer": self.name})

    def start(self, *arguments, environment=None):
        self.starts += 1
        self.started = time.time()
        self.deed("started")
        command = [self.build.path, "node", "--dir", self.data, "--listen", self.address]
        command += ["--status-listen", f"127.0.0.1:{STATUS_PORT}", *arguments]
        name = f"{self.name}-run-{self.starts}"
        self.process = ring.Process(netns.command_in(self.space, *command), self.place, name, environment)
        return self

    def running(self):
        return self.process is not None and self.process.running()

    def up(self):
        """Until it answers for its status."""

        def met():
            return not self.running() or self.status() is not None

        ring.wait_until(f"{self.name} is up", met, 30)
        if not self.running():
            raise AssertionError(f"{self.name} ended with code {self.process.wait()}: {self.process.err[-800:]}")
        return self

    def status(self, timeout=1.0):
        """What it says of itself; None when it does not answer."""
        try:
            with netns.inside(self.space):
                with urllib.request.urlopen(f"http://127.0.0.1:{STATUS_PORT}/status", timeout=timeout) as answer:
                    return json.loads(answer.read())
        except (OSError, ValueError, urllib.error.URLError):
            return None

    def strike(self):
        """kill -9, without waiting for its end."""
        self.deed("killed")
        self.process.signal(signal.SIGKILL)

    def kill9(self):
        self.strike()
        self.process.kill()

    def lose_disk(self):
        """After its end."""
        self.deed("disk_lost")
        shutil.rmtree(self.data)

    def stop(self):
        """SIGINT: it ends, and keeps what it has."""
        self.deed("stopped")
        self.process.signal(signal.SIGINT)

    def leave(self):
        """SIGTERM: it hands everything over, and ends."""
        self.process.signal(signal.SIGTERM)

    def cpu_seconds(self):
        """Of its process so far."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def pause(self):
        self.deed("asleep")
        self.asleep = True
        self.process.signal(signal.SIGSTOP)

    def go_on(self):
        self.deed("awake")
        self.process.signal(signal.SIGCONT)
        self.asleep = False

    def command(self, *words, seconds=60):
        """Runs the binary in this peer's namespace: (exit code, what it said)."""
        done = subprocess.run(
            [str(word) for word in netns.command_in(self.space, self.build.path, *words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def ended(self):
        """ended.json: what this process knew when it ended by itself; None when it left none."""
        path = self.data / "ended.json"
        try:
            if path.stat().st_mtime < self.started - 0.1:  # an earlier process's
                return None
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def evidence(self):
        parts = []
        if self.process:
            code = self.process.process.poll()
            state = "runs" if code is None else f"ended with {code}"
            parts.append(f"--- {self.name}, {self.web_address}: {state}; {self.process.err[-600:].strip()}")
        with contextlib.suppress(OSError):
            log = (self.data / "log" / "peer.log").read_text(encoding="utf-8", errors="replace")
            parts += log.splitlines()[-12:]
        return parts


class Monitor:
    """Asks every peer that should answer for the states in which it sees the others; remembers each change."""

    def __init__(self, peers):
        self.peers = peers  # the list may grow
        self.changes = []  # (time, observer's number, address, state)
        self.seen = {}  # (observer's number, address) -> state
        self.last = {}  # observer's number -> its last status
        self.last_at = {}  # observer's number -> when it was asked
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ending.wait(POLL_EVERY):
            for peer in list(self.peers):
                if self.ending.is_set():
                    return
                if peer.running() and not peer.asleep:
                    self._ask(peer)

    def _ask(self, peer):
        asked = time.time()
        status = peer.status()
        if status is None:
            return
        now = time.time()
        self.last[peer.number] = status
        self.last_at[peer.number] = asked
        for member in status.get("members", []):
            key = (peer.number, member["address"])
            if self.seen.get(key) != member["state"]:
                self.seen[key] = member["state"]
                self.changes.append((now, *key, member["state"]))

    def states(self, observer, since):
        """{address: state} as that peer saw them last; None when it was not asked since then, or did not answer."""
        if self.last_at.get(observer.number, 0.0) < since:
            return None
        return {member["address"]: member["state"] for member in self.last[observer.number].get("members", [])}

    def noticed(self, address, since, until=float("inf"), states=("down", "left")):
        """When the peers first saw the one at `address` so, from `since` on: one time for each peer that did."""
        first = {}
        for at, observer, subject, state in list(self.changes):
            if subject == address and since <= at <= until and state in states:
                first.setdefault(observer, at)
        return sorted(first.values())

    def stop(self):
        self.ending.set()
        self.thread.join(5)
