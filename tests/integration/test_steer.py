"""What operators order: pause, resume, block, unblock, delay; of a ring, of a host, of a crawl that does not run."""

import json
import threading
import time

import misbehave
import ring

PAGES = 30


class Steer(ring.Case):
    def setUp(self):
        super().setUp()
        self.lock = threading.Lock()
        self.at = {}  # host: the moments at which a page was asked for
        self.server = misbehave.SmallServer(self, self.answer)
        self.settings = ["--scope", "domain", "--delay", "100ms", "--delay-factor", "0", "--address-delay", "0s",
                         "--suspicion-time", "1s", *ring.QUICK, *self.server.reach]  # fmt: skip

    def answer(self, handler, host, path):
        if path == "/robots.txt":
            return handler.whole(b"", 404)
        with self.lock:
            self.at.setdefault(host, []).append(time.monotonic())
        links = "".join(f"<a href='/{n}'>x</a>" for n in range(PAGES)) if path == "/" else ""
        return handler.whole(f"<!DOCTYPE html><title>{path}</title>{links}".encode())

    def asked(self, host):
        with self.lock:
            return len(self.at.get(host, []))

    def crawl_of_two_peers(self, *hosts):
        first = self.node("a", *self.settings)
        second = self.node("b", "--join", first.address, *self.server.reach)
        self.wait_for_members([first, second], 2)
        self.ok("seed", "--peer", first.address, *[self.server.url(host) for host in hosts])
        for host in hosts:
            ring.wait_until(f"{host} is being asked", lambda: self.asked(host) > 2)
        return [first, second]

    def rests(self, hosts, seconds=1.5):
        """Nothing comes to these hosts; what was on its way has come."""
        time.sleep(0.3)
        before = [self.asked(host) for host in hosts]
        time.sleep(seconds)
        self.assertEqual([self.asked(host) for host in hosts], before)

    def test_a_ring_and_a_host_are_paused_and_resumed(self):
        nodes = self.crawl_of_two_peers("one.test", "two.test")
        where = ("--dir", nodes[0].directory)
        self.assertIn("the crawl is paused; 2 peers know it", self.ok("pause", *where))
        self.rests(["one.test", "two.test"])
        for node in nodes:
            status = self.own_status(node)
            self.assertTrue(status["orders"]["paused"])
            self.assertIn("an operator has paused", status["not_fetching_because"][0])
        # It holds over a restart, and one that joins has it before it fetches.
        nodes[1].signal(9)
        nodes[1].wait()
        nodes[1] = self.node("b", "--join", nodes[0].address, *self.server.reach)
        third = self.node("c", "--join", nodes[0].address, *self.server.reach)
        nodes.append(third)
        self.wait_for_members(nodes, 3)
        self.rests(["one.test", "two.test"])
        self.ok("pause", "--host", "*.TWO.test", *where)
        self.ok("resume", *where)
        before = self.asked("one.test")
        ring.wait_until("one.test goes on", lambda: self.asked("one.test") > before)
        self.rests(["two.test"])
        self.assertIn("pause *.two.test", self.ok("orders", *where))
        self.ok("resume", "--host", "*.two.test", *where)
        self.wait_for_rest(nodes)
        self.assertEqual((self.asked("one.test"), self.asked("two.test")), (PAGES + 1, PAGES + 1))

    def test_a_blocked_host_is_excluded_and_asked_again_when_it_is_lifted(self):
        nodes = self.crawl_of_two_peers("one.test", "two.test")
        where = ("--dir", nodes[0].directory)
        self.ok("block", "two.test", *where)
        self.wait_for_rest(nodes)
        self.rests(["two.test"])
        rows = [json.loads(row) for row in self.ok("report", "excluded", *where, "--format", "jsonl").splitlines()]
        self.assertTrue(rows)
        self.assertEqual({(row["host"], row["reason"]) for row in rows}, {("two.test", "operator")})
        self.assertIn("unblock", self.ok("explain", rows[0]["url"], *where))
        self.assertEqual(self.asked("one.test"), PAGES + 1)
        self.ok("unblock", "TWO.test", *where)
        ring.wait_until("all of two.test is fetched", lambda: self.asked("two.test") == PAGES + 1)
        self.wait_for_rest(nodes)
        self.assertEqual(self.ok("report", "excluded", *where, "--format", "jsonl"), "")

    def test_a_delay_holds_for_its_host_and_can_be_taken_back(self):
        nodes = self.crawl_of_two_peers("one.test", "two.test")
        where = ("--dir", nodes[0].directory)
        self.ok("delay", "two.test", "1500ms", *where)
        time.sleep(0.5)
        with self.lock:
            before = len(self.at["two.test"])
        ring.wait_until("it is asked three times more", lambda: self.asked("two.test") >= before + 3)
        with self.lock:
            moments = self.at["two.test"][before : before + 3]
        self.assertGreaterEqual(moments[1] - moments[0], 1.4)
        self.assertGreaterEqual(moments[2] - moments[1], 1.4)
        self.ok("delay", "two.test", "default", *where)
        self.assertIn("delay two.test: taken back", self.ok("orders", *where))
        self.wait_for_rest(nodes)
        self.assertEqual(self.asked("two.test"), PAGES + 1)

    def test_a_crawl_that_does_not_run_takes_orders_too(self):
        out = self.dir / "crawl"
        urls = [self.server.url("one.test"), self.server.url("two.test")]
        settings = [word for word in self.settings if word not in ("--suspicion-time", "1s")]
        self.ok("crawl", "--out", out, "--peers", "2", *settings, *urls)
        self.assertEqual(self.asked("one.test"), PAGES + 1)
        self.assertIn("2 peers know it, and act by it", self.ok("block", "one.test", "--dir", out))
        self.assertIn("block one.test", self.ok("orders", "--dir", out))
        self.ok("crawl", "--out", out, "--peers", "2", "--recrawl", "0s", *self.server.reach)
        self.assertEqual((self.asked("one.test"), self.asked("two.test")), (PAGES + 1, 2 * (PAGES + 1)))
        self.ok("unblock", "one.test", "--dir", out)
        self.ok("crawl", "--out", out, "--peers", "2", *self.server.reach)
        self.assertEqual(self.asked("one.test"), 2 * (PAGES + 1))

    def test_what_is_no_order_is_refused_with_its_reason(self):
        node = self.node("a", *self.settings)
        where = ("--peer", node.address)
        self.refused(2, ["not the name of a host"], "block", "http://one.test/", *where)
        self.refused(2, ["not the name of a host"], "pause", "--host", "one.test:80", *where)
        self.refused(3, ["the delay"], "delay", "one.test", "soon", *where)
        self.assertEqual(self.ok("orders", *where), "no order was given\n")
