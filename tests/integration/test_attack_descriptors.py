"""Strangers who take connections, and a system that has no descriptor left: nothing ends, and the good pages go on."""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import threading

import ring

FLOOD = 2500  # connections
SOURCES = 8  # addresses of the loopback network that they come from


def raise_own_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Flood:
    """Connections to one address that say nothing, opened again when they are closed, until stop()."""

    def __init__(self, address, count):
        host, port = address.rsplit(":", 1)
        self.to = (host, int(port))
        self.count = count
        self.opened = 0
        self.open = {}
        self.poll = select.epoll()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def stop(self):
        self.ended.set()
        self.thread.join()

    def begin(self):
        sock = socket.socket()
        sock.setblocking(False)
        try:
            sock.bind((f"127.0.0.{2 + self.opened % SOURCES}", 0))
            sock.connect_ex(self.to)
            self.poll.register(sock, select.EPOLLIN | select.EPOLLRDHUP)
        except OSError:
            sock.close()
            return
        self.opened += 1
        self.open[sock.fileno()] = sock

    def run(self):
        while not self.ended.is_set():
            # Some 2,000 a second at most, for the flood and the peer share a machine.
            for _ in range(min(40, self.count - len(self.open))):
                self.begin()
            self.ended.wait(0.02)
            for fd, event in self.poll.poll(0, 500):
                if event & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
                    self.poll.unregister(fd)
                    self.open.pop(fd).close()
                else:
                    with contextlib.suppress(OSError):
                        self.open[fd].recv(4096)
        for sock in self.open.values():
            sock.close()
        self.poll.close()


class Descriptors(ring.Case):
    def limited(self, soft, hard):
        """The binary under limits of open files."""
        path = self.dir / f"limited-{soft}-{hard}"
        path.write_text(f'#!/bin/sh\nulimit -Sn {soft} && ulimit -Hn {hard} && exec "{ring.BINARY}" "$@"\n')
        path.chmod(0o755)
        return path

    def key_file(self):
        path = self.dir / "ring.key"
        path.write_text(self.ok("ring-key"), encoding="utf-8")
        path.chmod(0o600)
        return path

    def limit_of(self, node):
        return resource.prlimit(node.pid, resource.RLIMIT_NOFILE)

    def metric(self, node, name):
        _, text = ring.get(f"http://{node.status_address}/metrics")
        for line in text.splitlines():
            if line.startswith(f"orbweaver_{name} "):
                return float(line.split()[1])
        raise AssertionError(f"no metric {name}")

    def pages_in(self, node, seconds):
        begin = self.own_status(node)
        span = threading.Event()
        span.wait(seconds)
        end = self.own_status(node)
        return end["counts"]["fetched"] - begin["counts"]["fetched"]

    def test_the_limit_is_raised_and_shared_out(self):
        web = self.web(hosts=1, pages=1)
        for soft, hard, words in ((256, 8192, "file descriptors limit=8192"), (256, 600, "made smaller limit=600")):
            node = self.node(
                f"peer-{hard}", "--stop-when-done", "no", *web.reach, *ring.QUICK, *web.seeds, binary=self.limited(soft, hard)
            )
            self.assertEqual(self.limit_of(node), (hard, hard))
            self.assertIn(words, node.log())
            node.kill()
        self.assertIn("max_fetches", node.log())

    @ring.about(30)
    def test_a_flood_of_silent_connections_ends_nothing(self):
        if raise_own_limit() < FLOOD + 200:
            self.skipTest("this system allows too few open files")
        web = self.web(hosts=40, pages=20_000)
        # Of many hosts, each at its own pace: what is fetched in a span does not depend on who else uses the machine.
        pace = ["--delay", "1s", "--retry-delay", "100ms", "--scope", "any"]
        node = self.node(
            "peer",
            "--max-archive-file-bytes",
            "64KiB",  # a new file every few pages: each needs a descriptor
            *web.reach,
            *pace,
            *web.seeds,
            key_file=self.key_file(),
            binary=self.limited(1024, 1024),
        )
        ring.wait_until("it crawls", lambda: self.own_status(node)["counts"]["fetched"] > 200)
        calm = flooded = 0
        for _ in range(2):
            calm += self.pages_in(node, 5)
            flood = Flood(node.address, FLOOD)
            try:
                flooded += self.pages_in(node, 5)
                self.assertLessEqual(self.metric(node, "connections_unknown"), 64)
            finally:
                flood.stop()
        self.assertTrue(node.running(), node.err)
        self.assertGreater(flood.opened, FLOOD / 2)
        self.assertGreater(self.metric(node, "connections_unknown_shut_total"), FLOOD / 2)
        self.assertLess(len(os.listdir(f"/proc/{node.pid}/fd")), 1024)
        self.assertGreaterEqual(flooded, 0.9 * calm, f"pages with the flood, and {calm} without")
        # Who has the key still gets in.
        self.ok("status", "--peer", node.address, *node.key)

    @ring.about(10)
    def test_no_descriptor_free_is_waited_out(self):
        web = self.web(hosts=20, pages=500)
        node = self.node(
            "peer",
            "--max-archive-file-bytes",
            "64KiB",
            "--text",
            "yes",
            "--stop-when-done",
            "yes",
            "--scope",
            "any",
            "--delay",
            "50ms",
            "--retry-delay",
            "100ms",
            *web.reach,
            *web.seeds,
        )
        ring.wait_until("it crawls", lambda: web.total() > 50)
        soft, hard = self.limit_of(node)
        # Below what it has open: whatever it opens from now on fails with EMFILE.
        resource.prlimit(node.pid, resource.RLIMIT_NOFILE, (3, hard))
        ring.wait_until("it says that it waits", lambda: "no file descriptor is free" in node.log())
        self.assertTrue(node.running(), node.err)
        resource.prlimit(node.pid, resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual(node.wait(), 0, node.err)
        self.check_whole(web)


    def lacking(self, name="peer"):
        """A peer that crawls, and then has no descriptor free; with its web."""
        web = self.web(hosts=20, pages=500)
        node = self.node(
            name,
            *("--max-archive-file-bytes", "64KiB", "--text", "yes", "--stop-when-done", "yes", "--scope", "any"),
            *("--delay", "50ms", "--retry-delay", "100ms", *web.reach, *web.seeds),
        )
        ring.wait_until("it crawls", lambda: web.total() > 50)
        return web, node

    def take_all(self, node):
        waits = node.log().count("no file descriptor is free")
        _, hard = self.limit_of(node)
        resource.prlimit(node.pid, resource.RLIMIT_NOFILE, (3, hard))
        ring.wait_until("it says that it waits", lambda: node.log().count("no file descriptor is free") > waits)

    @ring.about(15)
    def test_a_stop_waits_for_no_descriptor(self):
        """It outlasted a stop by ten minutes; what is not archived stays queued."""
        web, node = self.lacking()
        self.take_all(node)
        node.signal(signal.SIGINT)
        self.assertIn(node.wait(), (0, ring.IO), node.err)
        node = self.node("peer", *web.reach, *web.seeds)
        self.assertEqual(node.wait(), 0, node.err)
        self.check_nothing_lost(web)
        self.assertEqual(json.loads((node.directory / "ended.json").read_text())["status"]["counts"]["failed"], 0)

    @ring.about(20)
    def test_a_page_that_waits_for_a_descriptor_is_no_suspect(self):
        """Two kills in that time made it one that crashes the crawler."""
        web, node = self.lacking()
        had, hard = self.limit_of(node)

        def waits():
            states = (node.directory / "at-work").read_bytes()[16::32]
            return 1 in states and 2 not in states

        # One that waits may have a robots.txt in its hands, which is no page's work: then they are taken another time.
        for _ in range(10):
            self.take_all(node)
            with contextlib.suppress(AssertionError):
                ring.wait_until("pages wait, and none is at work", waits, seconds=5)
                break
            had_total = web.total()
            resource.prlimit(node.pid, resource.RLIMIT_NOFILE, (had, hard))
            # Lowered again at once, the limit would meet the same one that waits.
            ring.wait_until("it goes on", lambda more=had_total + 10: web.total() > more)
        node.kill()
        states = (node.directory / "at-work").read_bytes()[16::32]
        self.assertNotIn(2, states)
        self.assertIn(1, states, "pages wait")
        node = self.node("peer", *web.reach, *web.seeds)
        self.assertNotIn("died at work", node.log())
        self.assertEqual(node.wait(), 0, node.err)
        self.check_nothing_lost(web)

    def test_with_too_few_descriptors_for_anything_it_says_so(self):
        for limit in (20, 26, 127):
            code, _, err = self.run_it(
                "node", "--dir", self.dir / "few", "--stop-when-done", "yes", binary=self.limited(limit, limit)
            )
            self.assertEqual(code, ring.INVALID_SETTING, err)
            self.assertIn(f"this process may have {limit} files open, a peer needs 128 or more: raise the limit", err)
            self.assertNotIn("terminate called", err)
        node = self.node("enough", binary=self.limited(128, 128))
        self.assertIn("too few file descriptors even for the minimum", node.log())
        node.signal(signal.SIGINT)
        self.assertEqual(node.wait(), 0, node.err)


class StatusPort(ring.Case):
    """What a process of this machine, or a page in its browser, may do to the status port of a running peer."""

    def ask(self, address, request):
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=30) as sock:
            sock.sendall(request)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := sock.recv(65536):
                    answer += piece
        return answer

    def send_endlessly(self, address, begin, piece, megabytes):
        """Until the peer hangs up: bytes sent."""
        host, port = address.rsplit(":", 1)
        sent = 0
        with socket.create_connection((host, int(port)), timeout=30) as sock, contextlib.suppress(OSError):
            sock.sendall(begin)
            while sent < megabytes << 20:
                sock.sendall(piece)
                sent += len(piece)
        return sent

    def test_requests_without_end_take_no_memory(self):
        node = self.node("peer", "--stop-when-done", "no")
        before = ring.high_water_kib(node.pid)
        line = b"GET /status HTTP/1.1\r\nHost: localhost\r\n"
        chunked = b"POST /status HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        for begin, piece in (
            (line, b"x: y\r\n" * 10_000),
            (b"GET /", b"a" * 60_000),
            (chunked, b"a\r\n0123456789\r\n" * 5000),
        ):
            sent = self.send_endlessly(node.status_address, begin, piece, 60)
            self.assertLess(sent, 60 << 20, f"{begin} and what followed was read")
        self.assertLess(ring.high_water_kib(node.pid) - before, 30 << 10, "KiB of memory")
        self.assertEqual(ring.get(f"http://{node.status_address}/healthz"), (200, "ok\n"))

    def test_drips_do_not_keep_healthz_from_answering(self):
        node = self.node("peer", "--stop-when-done", "no")
        host, port = node.status_address.rsplit(":", 1)
        drips = []
        for _ in range(100):
            drips.append(socket.create_connection((host, int(port)), timeout=30))
            self.addCleanup(drips[-1].close)
            drips[-1].sendall(b"GET /status HTTP/1.1\r\nHo")
        for _ in range(3):
            for drip in drips:
                with contextlib.suppress(OSError):
                    drip.sendall(b"o")
            self.assertEqual(ring.get(f"http://{node.status_address}/healthz"), (200, "ok\n"))

    def test_another_host_and_ranges(self):
        node = self.node("peer", "--stop-when-done", "no", "--status-hosts", "crawler.example")
        for host, code in (("evil.example", b"421"), ("crawler.example", b"200"), (node.status_address, b"200")):
            answer = self.ask(node.status_address, f"GET /status HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            self.assertEqual(answer[9:12], code, host)
        whole = len(answer)
        ranges = "bytes=0-" + ",0-" * 2000
        answer = self.ask(
            node.status_address, f"GET /status HTTP/1.1\r\nHost: localhost\r\nRange: {ranges}\r\n\r\n".encode()
        )
        self.assertEqual(answer[9:12], b"200")
        self.assertLess(len(answer), 2 * whole + 1000)
