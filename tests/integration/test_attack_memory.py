"""Attacks on a peer's memory: max_memory holds, whatever strangers send, and good pages go on meanwhile.

Each peer has max_memory = 512MiB. It must not die, its resident memory must never be above 1.25 times that, and the
pages of good hosts beside the hostile ones must all be fetched.
"""

import gzip
import json
import os
import signal
import socket
import struct
import threading

import misbehave
import ring
import speaker

BUDGET_MIB = 512
GOOD_HOSTS, GOOD_PAGES = 8, 25
MIB = 1 << 20


class HostileWeb(misbehave.SmallServer):
    """What a host is its name tells: good-3, base-2, large-7, rules-41."""

    def __init__(self, case):
        super().__init__(case, self.answer_as)
        self.block = b"<p>" + b"words and words " * 4095 + b"\n"
        self.based = {}

    def url_of(self, kind, number):
        return self.url(f"{kind}-{number}.attack.test")

    def good(self):
        """Which pages of good hosts were asked for."""
        return {key for key in self.requests() if key.startswith("good-") and not key.endswith("robots.txt")}

    def asked(self, kind, path="/"):
        return sum(key.startswith(kind + "-") and key.endswith(".test" + path) for key in self.requests())

    def answer_as(self, handler, host, path):
        kind = host.split("-")[0]
        if path == "/robots.txt":
            if kind == "rules":
                return handler.whole(self.rules(host), type_="text/plain", Content_Encoding="gzip")
            return handler.whole(b"", status=404)
        if kind == "good":
            page = int(path[1:] or 0)
            links = f'<a href="/{page + 1}">on</a>' if page + 1 < GOOD_PAGES else "the end"
            return handler.whole(f"<title>{path}</title>{links}".encode())
        if kind == "base" and path == "/":
            return handler.whole(self.long_base(host), Content_Encoding="gzip")
        if kind == "large" and path == "/":
            return self.large(handler)
        if kind == "rules":
            return handler.whole(b"<p>a page")
        return handler.whole(b"", status=404)

    def rules(self, host):
        """500 KiB, packed to a tenth or less: while they are on their way they count as little."""
        lines = "".join(f"Disallow: /{host[:9]}/{number}\n" for number in range(43_000))
        return gzip.compress(("User-agent: *\n" + lines).encode()[: 500 << 10], 1)

    def long_base(self, host):
        """1.4 MB that say 400 MB of URLs."""
        if host not in self.based:
            links = "".join(f"<a href={number}>x</a>" for number in range(100_000))
            page = f'<base href="http://{host}:{self.port}/{"b" * 3900}/">{links}'
            self.based[host] = gzip.compress(page.encode(), 6)
        return self.based[host]

    def large(self, handler):
        """64 MiB of HTML."""
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(64 * MIB))
        handler.end_headers()
        left = 64 * MIB
        while left > 0:
            handler.wfile.write(self.block[: min(left, len(self.block))])
            left -= len(self.block)


class MaxMemoryHolds(ring.Case):
    def setUp(self):
        super().setUp()
        self.hostile = HostileWeb(self)

    def start(self, *more):
        return self.node(
            "a",
            *("--max-memory", f"{BUDGET_MIB}MiB", "--scope", "host", *ring.QUICK, "--low-speed-time", "10m"),
            *("--fetch-timeout", "10m", *self.hostile.reach, *more),
        )

    def seed(self, node, *urls):
        path = self.dir / "seeds"
        good = [self.hostile.url_of("good", number) for number in range(GOOD_HOSTS)]
        path.write_text("".join(url + "\n" for url in [*urls, *good]), encoding="utf-8")
        self.ok("seed", "--dir", node.directory, "--seeds", path)

    def check_held(self, node, good=True, seconds=600):
        """Until all good pages are fetched; then the bounds."""
        if good:
            ring.wait_until(
                "all good pages are fetched",
                lambda: len(self.hostile.good()) == GOOD_HOSTS * GOOD_PAGES or not node.running(),
                seconds,
            )
        self.assertTrue(node.running(), node.err)
        most = ring.high_water_kib(node.pid) / 1024
        memory = self.own_status(node)["memory"]
        shares = {name: share for name, share in memory["shares"].items() if name != "base"}
        self.assertLessEqual(most, 1.25 * BUDGET_MIB, f"MiB resident at most; {json.dumps(memory)}")
        over = {name: share for name, share in shares.items() if share["peak"] > share["bound"]}
        self.assertEqual(over, {}, "shares that were not kept to")
        return most, shares

    def fetched(self, node):
        return self.own_status(node)["counts"]["fetched"] if node.running() else 0

    @ring.about(60)
    def test_a_long_base_before_many_links(self):
        """Finding 2: 100,000 short links under a long <base> are 400 MB of URLs, from 240 KB."""
        count = 12
        node = self.start()
        self.seed(node, *(self.hostile.url_of("base", number) for number in range(count)))
        ring.wait_until(
            "the hostile pages are fetched",
            lambda: not node.running() or self.own_status(node)["counts"]["links_over_budget"] >= count * 90_000,
            600,
        )
        _, shares = self.check_held(node)
        self.assertGreater(shares["links"]["peak"], 0)
        told = self.explain(node, self.hostile.url_of("base", 0))
        self.assertEqual((told["state"], told["reason"]), ("fetched", "links_over_budget"), told)
        status, text = ring.get(f"http://{node.status_address}/metrics")
        self.assertEqual(status, 200)
        self.assertIn('orbweaver_memory_peak_bytes{share="links"}', text)

    @ring.about(120)
    def test_large_bodies_from_many_hosts(self):
        """Finding 3: bodies that wait for the workers are counted too."""
        count = 40
        node = self.start()
        self.seed(node, *(self.hostile.url_of("large", number) for number in range(count)))
        ring.wait_until(
            "the large pages are fetched",
            lambda: not node.running() or self.fetched(node) >= count + GOOD_HOSTS * GOOD_PAGES,
            900,
        )
        _, shares = self.check_held(node)
        self.assertGreater(shares["bodies"]["peak"], 20 * MIB)
        self.assertEqual(self.own_status(node)["counts"]["failed"], 0)

    @ring.about(60)
    def test_robots_txt_of_many_hosts(self):
        """Finding 4: 500 KiB of rules each, 600 hosts."""
        count = 600
        node = self.start()
        self.seed(node, *(self.hostile.url_of("rules", number) for number in range(count)))
        ring.wait_until(
            "the hosts with rules are crawled",
            lambda: not node.running() or self.fetched(node) >= count + GOOD_HOSTS * GOOD_PAGES,
            600,
        )
        _, shares = self.check_held(node)
        self.assertGreater(shares["links"]["peak"], 500 << 10, "the rules and their text on the way to the core")

    @ring.about(15)
    def test_questions_of_millions_of_values(self):
        """One of 4 MiB was 2 million refused seeds: 1.2 GB, and seconds in which the core did nothing else."""
        node = self.start()
        self.seed(node)
        for items in (["1"] * 2_090_000, ["{}"] * 1_390_000, ["[0]"] * 1_040_000):
            for field in ("urls", "x"):
                with speaker.Speaker(node.address) as asker:
                    answer = asker.ask("seed", '{"%s":[%s]}' % (field, ",".join(items)))
                    self.assertIn("JSON of more than 131072 values", answer["error"])
        with speaker.Speaker(node.address) as asker:
            answer = asker.ask("seed", {"urls": ["no URL"] * 65_537})
            self.assertIn("more than the 65536 that one question may have", answer["error"])
            answer = asker.ask("seed", {"urls": ["no URL"] * 65_536})
            self.assertEqual((len(answer["refused"]), answer["refused_unlisted"]), (100, 65_436))
        most, _ = self.check_held(node)
        self.assertLess(most, 200)

    @ring.about(20)
    def test_more_seeds_than_a_question_may_have(self):
        """The command asks as often as it takes, and tells of them all."""
        node = self.node("a", "--max-memory", f"{BUDGET_MIB}MiB", "--deny-addresses", "127.0.0.0/8")
        count = 70_000
        path = self.dir / "many"
        path.write_text("".join(f"http://h{n % 7}.seeds.test/{n}\n" for n in range(count)), encoding="utf-8")
        told = json.loads(self.ok("seed", "--dir", node.directory, "--seeds", path, "--json"))
        self.assertEqual((len(told["accepted"]), told["refused"]), (count, []))
        self.assertEqual((told["accepted_unlisted"], told["refused_unlisted"]), (0, 0))
        ring.wait_until("they are known", lambda: self.own_status(node)["seeds"] == count)

    @ring.about(25)
    def test_answers_that_nobody_reads(self):
        """Questions of 1 MiB with answers of 3 MiB, by connections that read none of them."""
        node = self.start()
        self.seed(node)
        urls = [f"http://unread.test/{number:05}{' ' * 80}x" for number in range(9000)]
        question = speaker.message(
            speaker.ASK, [1, "seed", json.dumps({"urls": urls}), False], sender=speaker.ZERO
        )
        silent = [self.keep_open(speaker.Speaker(node.address, receive_bytes=4096)) for _ in range(20)]
        for _ in range(10):
            for asker in silent:
                asker.send(question)
        with speaker.Speaker(node.address, timeout=120) as asker:
            self.assertEqual(asker.ask("status", {})["id"], node.id)
        _, shares = self.check_held(node)
        self.assertGreater(shares["messages_out"]["peak"], MIB)
        with speaker.Speaker(node.address, timeout=120) as asker:
            self.assertEqual(asker.ask("status", {})["id"], node.id)

    def keep_open(self, connection):
        self.addCleanup(connection.close)
        return connection

    @ring.about(10)
    def test_a_verb_of_megabytes_is_not_echoed(self):
        node = self.start()
        self.seed(node)
        with speaker.Speaker(node.address) as asker:
            self.assertLess(len(asker.ask("v" * 32, {})["error"]), 200)
            asker.send(speaker.message(speaker.ASK, [1, "v" * 4_000_000, "{}", False], sender=speaker.ZERO))
            ring.wait_until("it is counted", lambda: self.own_status(node)["counts"]["messages_malformed"] == 1)
            self.assertEqual(asker.ask("status", {})["id"], node.id)

    @ring.about(30)
    def test_large_messages_from_a_peer(self):
        """Finding 8: 4,096 messages wait at most; each may have 8 MiB."""
        node = self.start()
        self.seed(node)
        stop = threading.Event()
        floods = [threading.Thread(target=self.flood, args=(node.address, stop)) for _ in range(4)]
        for flood in floods:
            flood.start()
        try:
            self.check_held(node)
        finally:
            stop.set()
            for flood in floods:
                flood.join()
        self.check_held(node)

    def flood(self, address, stop):
        """Questions of 4 MiB, 500 of them, as fast as they are taken."""
        greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\x00" + bytes(31)
        ready = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
        text = b'{"url":"' + b"u" * (4 * MIB - 100) + b'"}'
        envelope = b"\x96\x02\x0f\xc4\x10" + bytes(16) + b"\xc4\x10" + bytes(15) + b"\x07" + b"\x01"
        body = b"\x94\x01" + b"\xa7explain" + b"\xdb" + struct.pack(">I", len(text)) + text + b"\xc3"
        frame = envelope + body
        message = b"\x01\x00" + b"\x02" + struct.pack(">Q", len(frame)) + frame
        host, port = address.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=60) as sock:
                sock.sendall(greeting)
                sock.recv(64, socket.MSG_WAITALL)
                sock.sendall(ready)
                sock.recv(1000)  # its own: what is sent before is not taken
                for _ in range(500):
                    if stop.is_set():
                        return
                    sock.sendall(message)
        except OSError:
            pass  # hung up on: an answer too

    @ring.about(20)
    def test_endless_headers_at_the_status_port(self):
        """Finding 10: header lines without end, 400 MB of them."""
        node = self.start()
        self.seed(node)
        for _ in range(4):
            self.endless_headers(node)
        self.check_held(node)

    def endless_headers(self, node):
        line = b"X-" + b"h" * 60 + b": " + b"v" * 60 + b"\r\n"
        host, port = node.status_address.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=30) as sock:
                sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                for _ in range(100):
                    sock.sendall(line * (MIB // len(line)))
        except OSError:
            pass  # hung up on, as it should be

    @ring.about(180)
    def test_all_attacks_together(self):
        """The kernel ends the peer if it takes more than 1.25 times the budget, where a test may make a cgroup."""
        node = self.start()
        cage = self.keep_within(node.pid, BUDGET_MIB * MIB * 5 // 4)
        hostile = [self.hostile.url_of("base", number) for number in range(8)]
        hostile += [self.hostile.url_of("large", number) for number in range(20)]
        hostile += [self.hostile.url_of("rules", number) for number in range(300)]
        self.seed(node, *hostile)
        stop = threading.Event()

        def headers():
            while not stop.wait(0.2):
                self.endless_headers(node)

        floods = [threading.Thread(target=self.flood, args=(node.address, stop)), threading.Thread(target=headers)]
        for flood in floods:
            flood.start()
        try:
            ring.wait_until(
                "the hostile pages are asked for, and the good ones",
                lambda: not node.running()
                or (self.hostile.asked("large") >= 20 and self.hostile.asked("rules", "/robots.txt") >= 300),
                900,
            )
            self.check_held(node)
            if cage:
                self.assertGreater(cage.most(), 0, "the cgroup counts this peer's memory")
        finally:
            stop.set()
            for flood in floods:
                flood.join()

    def keep_within(self, pid, most):
        """A cgroup of this process alone; None where this user may not make one."""
        cage = ring.MemoryCage.of(pid, most)
        if cage:
            self.addCleanup(cage.remove)
        return cage


class PagesThatKill(ring.Case):
    """What is at work when a peer dies twice in a row is not tried a third time; the rest of the crawl goes on."""

    READER = """#!/usr/bin/env python3
import os, sys, time
sys.stdin.buffer.read()
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.05)
"""

    def answer(self, handler, _host, path):
        if path == "/robots.txt":
            handler.whole(b"", status=404)
        elif path == "/":
            handler.whole(b'<a href="/killer">it</a><a href="/after">that</a>')
        elif path == "/killer":
            handler.whole(b"some bytes", type_="application/x-note")
        else:
            handler.whole(b"<p>a page")

    @ring.about(15)
    def test_a_page_at_work_at_two_deaths_is_given_up(self):
        site = misbehave.SmallServer(self, self.answer)
        reader = self.dir / "reader"
        reader.write_text(self.READER, encoding="utf-8")
        reader.chmod(0o755)
        killer = site.url("a.test", "/killer")
        command = ["--text-commands", f"application/x-note={reader}", "--text-command-timeout", "10m"]
        crawl = self.keep(
            ring.Process(
                [
                    *(ring.BINARY, "crawl", site.url("a.test"), "--out", self.dir / "crawl", "--json", "--scope", "host"),
                    *(*ring.QUICK, *site.reach, *command),
                ],
                self.dir,
                "crawling",
            )
        )
        for death in (1, 2):
            told = ring.wait_until(
                f"the page is at work, for time {death}",
                lambda death=death: site.requests().get("a.test/killer", 0) == death and self.at_work(),
            )
            os.kill(told, signal.SIGKILL)
            ring.wait_until("it is dead", lambda told=told: not ring.alive(told))
        self.assertEqual(crawl.wait(), 0, crawl.err)
        summary = json.loads(crawl.out)
        self.assertTrue(summary["finished"], summary)
        self.assertEqual((summary["pages"], summary["failed"]), (2, 1), summary)
        self.assertEqual(site.requests()["a.test/killer"], 2)
        why = json.loads(self.ok("explain", "--json", "--dir", self.dir / "crawl", killer))
        self.assertEqual(why["reason"], "crashes_crawler")

    def at_work(self):
        """The peer's process, when its worker has a page in its hands."""
        for directory, told in self.peer_files().items():
            path = self.dir / "crawl" / directory / "at-work"
            if path.exists() and any(state == 2 for state in path.read_bytes()[16::32]):
                return told["pid"]
        return None

    @ring.about(10)
    def test_a_clean_stop_leaves_no_suspect(self):
        site = misbehave.SmallServer(self, self.answer)
        node = self.node("a", "--scope", "host", *ring.QUICK, *site.reach)
        self.ok("seed", "--dir", node.directory, site.url("a.test"))
        self.wait_for_rest([node])
        node.signal(signal.SIGINT)
        self.assertEqual(node.wait(), 0, node.err)
        self.assertFalse((node.directory / "at-work").exists())


class LittleMemory(ring.Case):
    """Where the system gives no more, a peer ends with a word and a code of its own, and not by an abort."""

    @ring.about(20)
    def test_a_peer_that_gets_no_memory_says_so(self):
        for mebibytes in (*range(104, 176, 8), 200, 300, 400, 600):
            with self.subTest(mebibytes=mebibytes):
                limit = ["prlimit", f"--as={mebibytes << 20}", ring.BINARY, "node", "--dir", self.dir / f"n{mebibytes}"]
                node = self.keep(ring.Process(limit, self.dir, f"node-{mebibytes}"))
                ring.wait_until(
                    "it is up or has ended",
                    lambda node=node, mebibytes=mebibytes: not node.running()
                    or (self.dir / f"n{mebibytes}" / "peer.json").exists(),
                )
                if node.running():
                    node.signal(signal.SIGINT)
                    self.assertEqual(node.wait(), 0, node.err)
                    continue
                self.assertIn(node.wait(), (ring.INTERNAL, ring.INTERNAL + 1, ring.IO), node.err)
                self.assertRegex(node.err, "(?i)memory|thread")
                self.assertNotIn("terminate called", node.err)
