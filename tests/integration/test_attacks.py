"""What may happen to a peer's ports and its disk: rubbish, floods, no space left."""

import contextlib
import json
import os
import random
import socket
import subprocess
import time

import ring
import speaker
import warcs


class RubbishAtThePorts(ring.Case):
    def throw(self, address, data, keep=None):
        host, port = address.rsplit(":", 1)
        sock = socket.create_connection((host, int(port)), timeout=10)
        try:
            sock.sendall(data)
        except OSError:
            pass  # hung up on, which is an answer too
        if keep is None:
            sock.close()
        else:
            keep.append(sock)
            self.addCleanup(sock.close)

    def rubbish(self):
        source = random.Random(7)
        greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\x00" + bytes(31)
        return [
            b"",
            b"\0",
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            source.randbytes(10),
            source.randbytes(100_000),
            b"\xff" * 4096,
            greeting[:11],
            greeting,
            greeting + source.randbytes(5000),
            greeting.replace(b"NULL", b"PLAIN", 1),
            greeting + b"\x06" + (1 << 62).to_bytes(8, "big") + source.randbytes(1000),
        ]

    def throw_behind_a_handshake(self, address):
        """Frames that are not messages of ours: short, long, nested deep, with huge counts. How many were sent."""
        source = random.Random(8)
        bodies = [
            b"\xc1",
            b"\xdd\xff\xff\xff\xff",
            b"\xdf\xff\xff\xff\xff",
            b"\x91" * 200,
            b"\xc6\xff\xff\xff\xff",
            b"\xdb\xff\xff\xff\xff",
            *(source.randbytes(200) for _ in range(30)),
        ]
        with speaker.Speaker(address) as speaking:
            for body in bodies:
                speaking.send(body)
                speaking.send(b"", more=True)
                speaking.send(body)
            # The answer comes after all before it were taken.
            speaking.ask("status", {})
        return 2 * len(bodies)

    @ring.about(8)
    def test_rubbish_at_the_ring_port_does_no_harm(self):
        web = self.web(hosts=6, pages=150, latency="10ms")
        first = self.node("a", "--scope", "domain", *ring.QUICK, *web.reach)
        second = self.node("b", "--join", first.address, *web.reach)
        self.wait_for_members([first, second], 2)
        self.ok("seed", "--peer", second.address, *web.seeds)
        held = []
        sent = {}
        for node in (first, second):
            for data in self.rubbish():
                self.throw(node.address, data)
                self.throw(node.address, data, held)
            sent[node.name] = self.throw_behind_a_handshake(node.address)
            for _ in range(100):
                self.throw(node.address, b"", held)
        self.wait_for_rest([first, second])
        self.check_whole(web)
        self.assertEqual(len(self.status(first)["peers"]), 2)
        third = self.node("c", "--join", first.address, *web.reach)
        self.wait_for_members([first, second, third], 3)
        for node in (first, second):
            self.assertGreaterEqual(self.own_status(node)["counts"]["messages_malformed"], sent[node.name])
            self.assertLess(ring.high_water_kib(node.pid), 300 * 1024)
            self.assertLess(len(node.log()), 200_000, "bytes of log: the rubbish floods it")

    def test_rubbish_at_the_status_port_does_no_harm(self):
        node = self.node("a")
        held = []
        for data in (
            b"",
            b"\0" * 1000,
            b"GET",
            b"GET / HTTP/9.9\r\n\r\n",
            b"POST /status HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
            b"GET /status HTTP/1.1\r\n" + b"X-A: b\r\n" * 10_000,
            os.urandom(10_000),
        ):
            self.throw(node.status_address, data)
        for _ in range(3):
            self.throw(node.status_address, b"GET /sta", held)
        status, _ = ring.get(f"http://{node.status_address}/healthz", timeout=30)
        self.assertEqual(status, 200)
        for path in ("/index.html", "/etc/passwd", "/../peer.json", "/status/x", "/metricsx"):
            self.assertEqual(ring.get(f"http://{node.status_address}{path}")[0], 404, path)
        self.assertEqual(len(self.status(node)["peers"]), 1)


class FullDisk(ring.Case):
    def small_disk(self, mebibytes):
        place = self.dir / "small"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(place)], capture_output=True, check=False
        )
        if done.returncode != 0:
            self.skipTest("a small file system cannot be mounted here: " + done.stderr.decode().strip())
        self.mounts.append(str(place))
        return place

    def fill(self, place, leave_bytes):
        """Leaves so many bytes free, or fewer: the crawl writes meanwhile."""

        def free():
            return os.statvfs(place).f_bavail * os.statvfs(place).f_frsize

        with contextlib.suppress(OSError), open(place / "ballast", "ab", buffering=0) as ballast:
            while (step := min(1 << 20, free() - leave_bytes)) > 0:
                ballast.write(bytes(step))

    def check_full(self, peers, leave_bytes, *more, mebibytes=48, still_full=False):
        place = self.small_disk(mebibytes)
        web = self.web(hosts=8, pages=500, latency="5ms")
        # With the usual min_free_disk it would wait for room, as the next test shows.
        command = self.crawl_arguments(
            web, "--peers", peers, "--max-fetches", 4, "--min-free-disk", "1B", *more, out="small/crawl"
        )
        crawl = self.keep(ring.Process([ring.BINARY, *command], self.dir, "crawling"))
        ring.wait_until("it crawls", lambda: web.total() >= 40 or not crawl.running())
        self.fill(place, leave_bytes)
        self.assertEqual(crawl.wait(), ring.DISK_FULL, crawl.err)
        self.assertIn(str(place), crawl.err)
        self.assertRegex(crawl.err, "(?i)no space left|disk (is )?full")
        self.assertNotIn("terminate called", crawl.err)
        self.assertEqual(self.peer_files("small/crawl"), {}, "peers that still run")
        self.assertLess(len(web.pages()), len(web.expected()))
        if still_full:
            self.fill(place, 0)
            self.refused(ring.DISK_FULL, [str(place)], *command)
        (place / "ballast").unlink()
        summary = json.loads(self.ok(*command))
        self.assertTrue(summary["finished"], summary)
        twice = self.check_nothing_lost(web)
        self.assertLessEqual(len(twice), 4 * peers, f"more than was being fetched: {twice}")
        if not more:
            self.assertEqual(
                web.expected() - set(warcs.read_all(place / "crawl")), set(), "fetched and not in the archive"
            )

    @ring.about(15)
    def test_a_peer_whose_disk_is_almost_full_waits_for_room(self):
        place = self.small_disk(96)
        web = self.web(hosts=8, pages=500, latency="5ms")
        command = self.crawl_arguments(web, "--max-fetches", 4, "--min-free-disk", "30MiB", out="small/crawl")
        crawl = self.keep(ring.Process([ring.BINARY, *command], self.dir, "crawling"))
        ring.wait_until("it crawls", lambda: web.total() >= 40 or not crawl.running())
        self.fill(place, 15 << 20)
        where = ("--dir", place / "crawl")

        def reasons():
            return json.loads(self.ok("status", "--json", *where))["peers"][0]["not_fetching_because"]

        ring.wait_until("it waits", lambda: any("min_free_disk" in reason for reason in reasons()))
        time.sleep(0.5)  # what was on its way ends
        before = web.total()
        time.sleep(1.5)
        self.assertEqual(web.total(), before)
        self.assertTrue(crawl.running())
        code, out, _ = self.run_it("health", *where)
        self.assertEqual(code, 10)
        self.assertIn("its disk is almost full", out)
        (place / "ballast").unlink()
        self.assertEqual(crawl.wait(), 0, crawl.err)
        self.check_nothing_lost(web)

    @ring.about(15)
    def test_a_peer_ends_with_the_cause_and_goes_on_when_there_is_space(self):
        self.check_full(1, 300_000)

    @ring.about(15)
    def test_a_start_while_it_is_still_full_says_so_and_does_no_harm(self):
        self.check_full(1, 300_000, still_full=True)

    @ring.about(15)
    def test_so_does_a_ring(self):
        self.check_full(3, 600_000, mebibytes=128)  # each of the stores holds some 20 MiB in advance

    @ring.about(15)
    def test_so_does_a_peer_that_writes_no_archive(self):
        """The store is what the disk is too full for; a small disk, so that it holds no space in advance."""
        self.check_full(1, 20_000, "--archive", "off", mebibytes=12)

    @ring.about(15)
    def test_so_does_a_peer_whose_writes_survive_a_power_cut(self):
        """The write that fails is the journal's, or another thread's sync of it."""
        self.check_full(1, 20_000, "--archive", "off", "--durability", "power", mebibytes=12)

    def test_no_space_from_the_start(self):
        place = self.small_disk(1)
        self.fill(place, 0)
        for arguments in (["node", "--dir", place / "peer"], ["crawl", "http://a.test/", "--out", place / "crawl"]):
            self.refused(ring.DISK_FULL, [str(place)], *arguments, seconds=30)
