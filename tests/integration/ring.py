"""What the integration tests share: real processes of the real binary, in a directory of their own, on free ports.

A test is a method of a Case. What it starts is ended by its process id when the test is over, whatever came of it.
Nothing waits a fixed time: wait_until() asks again until a deadline.
"""

import contextlib
import errno
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BINARY = os.environ.get("ORBWEAVER_BINARY", str(ROOT / "build" / "release" / "orbweaver"))
# The same, built one protocol version ahead: the next release, for the tests of an upgrade.
AHEAD = os.environ.get("ORBWEAVER_AHEAD_BINARY", str(ROOT / "build" / "ahead" / "orbweaver"))
SUITES = pathlib.Path(os.environ.get("ORBWEAVER_SUITES", str(ROOT.parent / "shared" / "suites")))

# Exit codes: ErrorCode in node/base.h.
INVALID_INPUT, INVALID_SETTING, MISMATCH, IN_USE, UNREACHABLE, IO, DISK_FULL, UNSUPPORTED, INTERNAL = range(2, 11)

NOTHING_FETCHED = 12  # node/cli/crawl_command.cc

# Waits are for a machine on which much else runs.
PATIENCE = float(os.environ.get("ORBWEAVER_PATIENCE", "120"))  # seconds
QUICK = ["--delay", "0s", "--retry-delay", "100ms"]  # for rings: both are ring-wide

_running = set()  # process ids that a test started; for a runner that is told to end
_running_lock = threading.Lock()


def end_all_started():
    """Ends what tests started and have not ended yet."""
    with _running_lock:
        for pid in _running:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)


def left_behind(directory):
    """{pid: command line} of the processes that work in a directory or below it."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if pathlib.Path(os.readlink(entry / "cwd")).is_relative_to(directory) and alive(int(entry.name)):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return found


def hold_binary(directory):
    """The tests use copies of the programs from here on: a build meanwhile does not disturb them."""
    global BINARY, AHEAD  # pylint: disable=global-statement
    if not os.access(BINARY, os.X_OK):
        raise SystemExit(f"there is no {BINARY}: build it (deploy/build), or name another with ORBWEAVER_BINARY")
    lab = pathlib.Path(BINARY).with_name("orbweaver-lab")  # it is looked for beside the other
    if not os.access(lab, os.X_OK):
        raise SystemExit(f"there is no {lab}: build it (deploy/build)")
    shutil.copy2(lab, directory)
    BINARY = shutil.copy2(BINARY, directory)
    if os.access(AHEAD, os.X_OK):  # without it the tests that need it fail and say so
        AHEAD = shutil.copy2(AHEAD, pathlib.Path(directory) / "orbweaver-ahead")


def get(url, timeout=10.0):
    """(status, text) of an HTTP answer."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def get_json(url):
    status, text = get(url)
    if status != 200:
        raise AssertionError(f"{url} answered {status}: {text[:200]}")
    return json.loads(text)


def alive(pid):
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def high_water_kib(pid):
    """The most memory that a process has held so far, in KiB."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError(f"no VmHWM of process {pid}")


class MemoryCage:
    """A cgroup that holds one process to so many bytes: the kernel ends it when it takes more."""

    V1, V2 = pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup")

    def __init__(self, path, peak):
        self.path = path
        self.peak = peak

    @classmethod
    def of(cls, pid, most):
        """None where this user may not make one."""
        first = (cls.V1, "memory.limit_in_bytes", "memory.max_usage_in_bytes")
        second = (cls.V2, "memory.max", "memory.peak")
        for root, limit, peak in (first, second):
            path = root / f"orbweaver-test-{pid}"
            try:
                path.mkdir()
            except OSError:
                continue
            cage = cls(path, path / peak)
            try:
                (path / limit).write_text(str(most))
                (path / "cgroup.procs").write_text(str(pid))
                return cage
            except OSError:
                path.rmdir()
        return None

    def most(self):
        return int(self.peak.read_text()) if self.peak.exists() else int((self.path / "memory.current").read_text())

    def remove(self):
        """Its process, if it still runs, goes back to where the tests run."""
        for pid in (self.path / "cgroup.procs").read_text().split():
            (self.path.parent / "cgroup.procs").write_text(pid)
        self.path.rmdir()


def wait_until(what, met, seconds=None, every=0.02):
    """Returns the first true answer of met(); fails when there is none by the deadline."""
    end = time.monotonic() + (PATIENCE if seconds is None else seconds)
    pause = threading.Event()
    while True:
        answer = met()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"after {PATIENCE if seconds is None else seconds:.0f} s still not: {what}")
        pause.wait(every)


class Process:
    """A process whose output goes into files."""

    def __init__(self, arguments, directory, name, environment=None):
        self.name = name
        self.out_path = pathlib.Path(directory) / f"{name}.out"
        self.err_path = pathlib.Path(directory) / f"{name}.err"
        env = {k: v for k, v in os.environ.items() if not k.startswith("ORBWEAVER_")}
        # All hosts of a test's web are on this machine's one address.
        env["ORBWEAVER_ADDRESS_DELAY"] = "0s"
        env.update(environment or {})
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            started = []

            def start():
                try:
                    # pylint: disable=consider-using-with
                    started.append(subprocess.Popen(
                        [str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=directory,
                        env=env, start_new_session=True))  # fmt: skip
                except OSError as cause:
                    # A program that was copied a moment ago is still open in a child that another thread has forked.
                    if cause.errno != errno.ETXTBSY:
                        raise
                return started

            wait_until(f"{arguments[0]} can be started", start)
            self.process = started[0]
        self.pid = self.process.pid
        with _running_lock:
            _running.add(self.pid)

    @property
    def out(self):
        return self.out_path.read_text(encoding="utf-8", errors="replace")

    @property
    def err(self):
        return self.err_path.read_text(encoding="utf-8", errors="replace")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=None):
        """The exit code."""
        try:
            code = self.process.wait(PATIENCE if seconds is None else seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.name} did not end within {seconds or PATIENCE:.0f} s; it wrote: "
                f"{self.out[-500:]} {self.err[-1500:]}"
            ) from None
        with _running_lock:
            _running.discard(self.pid)
        return code

    def running(self):
        return self.process.poll() is None

    def kill(self):
        """Ends it, and what it started in its session: a server's workers outlive a server that is killed."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait(20)


class SampleWeb(Process):
    """orbweaver sampleweb, and what it counted."""

    def __init__(self, directory, name="web", seed=1, hosts=8, pages=200, calm=True, latency="0s", trees=(), open_trap=False):
        ready = pathlib.Path(directory) / f"{name}.ready"
        arguments = [
            BINARY,
            "sampleweb",
            "--listen",
            "127.0.0.1:0",
            "--seed",
            seed,
            "--hosts",
            hosts,
            "--pages",
            pages,
            "--latency",
            latency,
            "--ready-file",
            ready,
        ]
        for host, tree in trees:
            arguments += ["--tree", f"{host}={tree}"]
        more = (["--calm"] if calm else []) + (["--open-trap"] if open_trap else [])
        super().__init__(arguments + more, directory, name)
        wait_until("the sample web is ready", lambda: ready.exists() or not self.running())
        if not ready.exists():
            raise AssertionError("the sample web ended: " + self.err)
        told = json.loads(ready.read_text(encoding="utf-8"))
        self.port = told["port"]
        self.control = told["control"]
        self.seeds = told["seeds"]
        self.reach = ["--resolve", told["resolve"][0], "--allow-private", "127.0.0.1/32"]

    def url(self, host, path="/"):
        """Of a host by its number, or by its name."""
        name = host if isinstance(host, str) else f"host-{host:03}.sample.test"
        return f"http://{name}:{self.port}{path}"

    def stats(self):
        return get_json(self.control + "/stats")

    def total(self):
        return self.stats()["total"]

    def urls(self):
        return get_json(self.control + "/urls")

    def pages(self):
        """{URL: how often it was asked for}, robots.txt files aside."""
        return {url: count for url, count in self.urls().items() if not url.endswith("/robots.txt")}

    def expected(self):
        return set(get_json(self.control + "/expected"))

    def expected_twice(self):
        return set(get_json(self.control + "/expected_twice"))

    def reset(self):
        urllib.request.urlopen(urllib.request.Request(self.control + "/reset", method="POST"), timeout=10).close()

    def lost_and_twice(self):
        """(URLs that were never asked for, strays that were, those asked for more often than the web wants it)."""
        pages, again = self.pages(), self.expected_twice()
        lost = self.expected() - set(pages)
        lost |= {url for url in again if pages.get(url, 0) == 1}
        strays = set(pages) - self.expected()
        return lost, strays, {url: n for url, n in pages.items() if n > (2 if url in again else 1)}


class Node(Process):
    """orbweaver node: a peer started by hand."""

    def __init__(self, directory, name, arguments, key_file=None, binary=None, *, data=None, environment=None):
        """data: its data directory, where that is not the one of its name."""
        self.directory = pathlib.Path(data or pathlib.Path(directory) / name)
        self.key = ["--ring-key-file", key_file] if key_file else []
        command = [binary or BINARY, "node", "--dir", self.directory, *self.key, *arguments]
        super().__init__(command, directory, name, environment)

    def file(self):
        """peer.json of this run, once it is written."""
        try:
            told = json.loads((self.directory / "peer.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return told if told["pid"] == self.pid else None

    def up(self):
        told = wait_until(f"{self.name} is up", lambda: self.file() or not self.running())
        if told is True:
            raise AssertionError(f"{self.name} ended with code {self.wait()}: {self.err}")
        self.address = told["address"]
        self.status_address = told["status_address"]
        self.id = told["id"]
        return self

    def log(self):
        try:
            return (self.directory / "log" / "peer.log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


class Case(unittest.TestCase):
    """A test with a directory of its own; ends what it starts."""

    maxDiff = 4000

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="orbweaver-it-"))
        self.started = []
        self.evidence = ""
        self.count = 0
        self.mounts = []
        self.addCleanup(self._clean_up)

    def _clean_up(self):
        for process in reversed(self.started):
            process.kill()
        self.evidence = self._collect()
        deadline = time.monotonic() + 10
        while (left := left_behind(self.dir)) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if left:
            self.fail(f"processes outlived the test: {left}")
        for mount in self.mounts:
            subprocess.run(["umount", "-l", mount], check=False, capture_output=True)
        if not os.environ.get("ORBWEAVER_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)

    def _collect(self):
        parts = [] if not os.environ.get("ORBWEAVER_KEEP") else [f"kept: {self.dir}"]
        for path in sorted([*self.dir.glob("*.err"), *self.dir.rglob("peer.log")]):
            text = path.read_text(encoding="utf-8", errors="replace")[-1500:].strip()
            if text:
                parts.append(f"--- end of {path.relative_to(self.dir)}\n{text}")
        return "\n".join(parts)

    def keep(self, process):
        self.started.append(process)
        return process

    def web(self, **options):
        name = options.pop("name", "web")
        return self.keep(SampleWeb(self.dir, name, **options))

    def node(self, name, *arguments, key_file=None, up=True, binary=None, **options):
        """A peer; started again under the same name, it has the same directory."""
        node = self.keep(Node(self.dir, name, arguments, key_file, binary, **options))
        return node.up() if up else node

    def run_it(self, *arguments, environment=None, seconds=None, binary=None):
        """Runs the binary to its end: (exit code, output, errors)."""
        self.count += 1
        process = self.keep(Process([binary or BINARY, *arguments], self.dir, f"run-{self.count}", environment))
        return process.wait(seconds), process.out, process.err

    def ok(self, *arguments, **options):
        """Runs the binary, which must exit 0: its output."""
        code, out, err = self.run_it(*arguments, **options)
        self.assertEqual(code, 0, f"{arguments} exited {code}: {out[-1500:]} {err[-1500:]}")
        return out

    def refused(self, code, words, *arguments, environment=None, seconds=None):
        """Runs the binary, which must exit with this code and say all the words: what it said."""
        got, out, err = self.run_it(*arguments, environment=environment, seconds=seconds)
        self.assertEqual(got, code, f"exit code of {arguments}; it said: {out[-800:]} {err[-800:]}")
        for word in words:
            self.assertIn(word, err, f"the message of {arguments}")
        for word in ("terminate called", "what():", "Segmentation", "exception"):
            self.assertNotIn(word, err)
        return err

    def crawl_arguments(self, web, *more, out="crawl", seeds=None, scope="domain", quick=True):
        return [
            "crawl",
            *(web.seeds if seeds is None else seeds),
            "--out",
            self.dir / out,
            "--json",
            "--quiet",
            "--scope",
            scope,
            *(QUICK if quick else []),
            *web.reach,
            *more,
        ]

    def crawl(self, web, *more, seconds=None, code=0, **options):
        """A crawl to its end, with this exit code: the summary."""
        got, out, err = self.run_it(*self.crawl_arguments(web, *more, **options), seconds=seconds)
        self.assertEqual(got, code, f"exit code of {more}: {out[-1500:]} {err[-1500:]}")
        return json.loads(out)

    def start_crawl(self, web, *more, name="crawling", environment=None, **options):
        arguments = self.crawl_arguments(web, *more, **options)
        return self.keep(Process([BINARY, *arguments], self.dir, name, environment))

    def peer_files(self, out="crawl"):
        """{peer's directory: its peer.json}, of the peers of `crawl` that are up."""
        found = {}
        for path in sorted((self.dir / out).glob("peer-*/peer.json")):
            with contextlib.suppress(OSError, ValueError):
                told = json.loads(path.read_text(encoding="utf-8"))
                if alive(told["pid"]):
                    found[path.parent.name] = told
        return found

    def status(self, node):
        return json.loads(self.ok("status", "--json", "--peer", node.address, *node.key))

    def explain(self, node, url):
        return json.loads(self.ok("explain", "--json", "--peer", node.address, *node.key, url))

    def own_status(self, node):
        """By HTTP, of this peer alone: cheap enough to ask again and again."""
        return get_json(f"http://{node.status_address}/status")

    def wait_for_members(self, nodes, count, seconds=None):
        """Until each of them sees so many active members."""

        def met():
            return all(sum(m["state"] == "active" for m in self.own_status(n)["members"]) == count for n in nodes)

        wait_until(f"{[n.name for n in nodes]} see {count} active members", met, seconds)

    def wait_for_rest(self, nodes, seconds=None):
        """Until nothing is queued, under way or on its way to an owner, and no partition is changing hands (the records of
        one that is are in nobody's counts): all that was found has ended. Twice, for the peers are asked one by one and tell
        what was a moment ago: all that they tell the second time is later than all of the first, and nothing has come
        of the time between."""

        def at_rest():
            both = []
            for after in range(2):
                status = [self.own_status(n) for n in nodes]
                while after and min(s["published_us"] for s in status) <= both[0][2]:
                    status = [self.own_status(n) for n in nodes]
                counts = [s["counts"] for s in status]
                found = [sum(c[name] for c in counts) for name in ("discovered", "fetched", "failed", "excluded")]
                latest = max(s["published_us"] for s in status)
                both.append(({s["tenures_fingerprint"] for s in status}, found, latest))
                if not (
                    sum(c["discovered"] for c in counts) > 0
                    and sum(c["partitions_held"] for c in counts) == status[0]["ring_partitions"]
                    and len(both[-1][0]) == 1
                    and all(
                        c[name] == 0
                        for c in counts
                        for name in ("queued", "outbox", "in_flight", "partitions_to_gain", "partitions_to_hand_over")
                    )
                ):
                    return False
            return both[0][:2] == both[1][:2]

        wait_until(f"{[n.name for n in nodes]} have nothing left to fetch", at_rest, seconds, every=0.1)

    def check_nothing_lost(self, web):
        """Each URL that a right crawler fetches was fetched, and nothing else: those that were fetched twice."""
        lost, strays, twice = web.lost_and_twice()
        self.assertEqual(lost, set(), "URLs lost")
        self.assertEqual(strays, set(), "URLs that no crawler should ask for")
        return twice

    def check_whole(self, web):
        """Nothing lost, nothing else, and none fetched twice."""
        twice = self.check_nothing_lost(web)
        self.assertEqual(twice, {}, "URLs asked for twice")

    def tree(self, name, files):
        """A directory of HTML pages: {path: [links]}."""
        root = self.dir / name
        for path, links in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            body = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
            target.write_text(f"<!DOCTYPE html><title>{path}</title><body>{body}", encoding="utf-8")
        return root


def about(seconds):
    """Marks a test that takes long: the runner begins with those."""

    def mark(test):
        test.about_seconds = seconds
        return test

    return mark


def only_waits(test):
    """Marks a test that takes long and does nothing meanwhile: the runner gives it a thread of its own."""
    test.only_waits = True
    return test


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
